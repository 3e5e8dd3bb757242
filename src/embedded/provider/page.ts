// The frame of the provider's pages, and what a browser may do with them.
import { createHash } from "node:crypto";
import type { Provider } from "oidc-provider";
import { isLoopback } from "../../loopback.ts";
import { html, trusted, type Html } from "../../html.ts";
import { STYLE } from "./style.ts";

export type Middleware = Parameters<Provider["use"]>[0];

/** Of a request's context what a page needs: both the library's own and that of our paths have it. */
export interface PageContext {
  status: number;
  type: string;
  body: unknown;
  set(name: string, value: string): void;
}

/** What differs from page to page. */
export interface Page {
  readonly title: string;
  readonly content: Html;
  /** A script of the page. It works without: nothing but a form that sends itself. */
  readonly script?: string;
  /** Where the page's form leads in the end. */
  readonly leadsTo?: string | undefined;
}

const styleHash = hash(STYLE);

/** Responds with a page, of the status that the context has. */
export function showPage(ctx: PageContext, { title, content, script, leadsTo }: Page): void {
  ctx.type = "text/html; charset=utf-8";
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Security-Policy", contentSecurityPolicy(script, leadsTo));
  ctx.body = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Records</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<header><strong>Development sign-in</strong> to try Records on this computer</header>
<main><div class="card">
${content}
</div></main>
${script === undefined ? undefined : trusted(`<script>${script}</script>\n`)}</body>
</html>
`.toString();
}

/**
 * Nothing but the page itself. `form-action` also holds for the redirects that follow a form, over all the client's
 * own steps: so it names what a client can be sent to, not the one address that comes first.
 */
export function contentSecurityPolicy(script?: string, leadsTo?: string): string {
  return [
    "default-src 'none'",
    `style-src ${styleHash}`,
    // Left empty, which allows none, and not left out: the library adds to it on pages of its own.
    script === undefined ? "script-src" : `script-src ${hash(script)}`,
    `form-action 'self' https: http://localhost:* http://127.0.0.1:*${schemeOf(leadsTo)}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Programs have schemes of their own; and there is no way to name a port of any other host than by its scheme. */
function schemeOf(leadsTo: string | undefined): string {
  if (leadsTo === undefined || !URL.canParse(leadsTo)) return "";
  const { protocol, hostname } = new URL(leadsTo);
  const covered = protocol === "https:" || (protocol === "http:" && isLoopback(hostname) && hostname !== "[::1]");
  return covered || !/^[a-z][a-z0-9+.-]*:$/.test(protocol) ? "" : ` ${protocol}`;
}

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
