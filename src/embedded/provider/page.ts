// The layout of the provider's pages, and their Content Security Policy.
import { createHash } from "node:crypto";
import type { Provider } from "oidc-provider";
import { isLoopback } from "../../config/loopback.ts";
import { html, trusted, type Html } from "../../text/html.ts";
import { STYLE } from "./style.ts";

export type Middleware = Parameters<Provider["use"]>[0];

/** The part of a request's context that a page needs. Both the library's context and that of our own paths have it. */
export interface PageContext {
  status: number;
  type: string;
  body: unknown;
  set(name: string, value: string): void;
}

/** The content that differs from page to page. */
export interface Page {
  readonly title: string;
  readonly content: Html;
  /** A script that submits the page's form. The page also works without it. */
  readonly script?: string;
  /** The address to which the page's form finally redirects. */
  readonly leadsTo?: string | undefined;
}

const styleHash = hash(STYLE);

/** Responds with a page, with the status that the context has. */
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
 * Returns a policy that allows only the page's own style and script. `form-action` also applies to every redirect after
 * a form, including those of the client. Therefore, it lists all possible destinations, not only the first address.
 */
export function contentSecurityPolicy(script?: string, leadsTo?: string): string {
  return [
    "default-src 'none'",
    `style-src ${styleHash}`,
    // Empty, which allows no script, rather than omitted: the library adds sources to it on its own pages.
    script === undefined ? "script-src" : `script-src ${hash(script)}`,
    `form-action 'self' https: http://localhost:* http://127.0.0.1:*${schemeOf(leadsTo)}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Returns the redirect's scheme as a further source, or an empty text if the policy already covers it. Programs have
 * their own schemes. The scheme also covers HTTP to `[::1]`, which a policy cannot name, and to other hosts.
 */
function schemeOf(leadsTo: string | undefined): string {
  if (leadsTo === undefined || !URL.canParse(leadsTo)) return "";
  const { protocol, hostname } = new URL(leadsTo);
  const covered = protocol === "https:" || (protocol === "http:" && isLoopback(hostname) && hostname !== "[::1]");
  return covered || !/^[a-z][a-z0-9+.-]*:$/.test(protocol) ? "" : ` ${protocol}`;
}

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
