// The pages that the OpenID Connect library shows: failures, signing out, signed out.
import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { DASHBOARD_ID } from "./clients.ts";
import { html, trusted } from "../../html.ts";
import { showPage, type PageContext } from "./page.ts";

const SUBMIT = "document.forms[0].submit()";

const GONE =
  "This sign-in is no longer open. It took too long, or it was completed in another tab. Go back to the application and sign in again.";

/** A failure that belongs to no client, for people. */
export function showError(ctx: PageContext, { error, error_description: description }: ErrorOut, cause: Error): void {
  const gone = cause.name === "SessionNotFound";
  showPage(ctx, {
    title: "Something went wrong",
    content: html`<h1>Something went wrong</h1>
<p>${gone ? GONE : sentence(description ?? "Something went wrong")}</p>
<p class="small">Error: <code>${error}</code></p>`,
  });
}

/**
 * Prompts the user to confirm a sign-out. A client that shows a token of this very user has done so: then the page
 * continues by itself where scripts run, and has the button where they do not.
 */
export function showLogout(ctx: KoaContextWithOIDC, form: string): void {
  const { entities, session, client, params } = ctx.oidc;
  const confirmed = client?.clientId === DASHBOARD_ID && entities.IdTokenHint?.payload["sub"] === session?.accountId;
  // `logout` as a field and not as the button's value, which a script would not send.
  const withButton = form.replace(
    "</form>",
    '<input type="hidden" name="logout" value="yes"><button type="submit">Sign out</button></form>',
  );
  showPage(ctx, {
    title: "Sign out",
    content: html`<h1>Sign out</h1>
<p>${confirmed ? "" : "Do you want to sign out? "}This ends all your sessions here ${client?.clientId === DASHBOARD_ID ? "in every browser and assistant" : "in this browser"}.</p>
${trusted(withButton)}`,
    ...(confirmed ? { script: SUBMIT } : {}),
    leadsTo: typeof params?.["post_logout_redirect_uri"] === "string" ? params["post_logout_redirect_uri"] : undefined,
  });
}

export function showSignedOut(ctx: PageContext): void {
  showPage(ctx, { title: "Signed out", content: html`<h1>You are signed out</h1><p>You can close this page.</p>` });
}

/** Shows the library's own page of a form that sends itself, which has no look, in ours. */
export function frameHandOver(ctx: PageContext): void {
  const page = typeof ctx.body === "string" ? ctx.body : "";
  const found = /<form method="post" action="([^"]*)">/.exec(page);
  const end = found === null ? -1 : page.indexOf("<noscript>", found.index);
  if (found === null || end === -1) return;
  const [opening, action] = found;
  const fields = page.slice(found.index + opening.length, end);
  const button = '<button type="submit">Continue</button>';
  showPage(ctx, {
    title: "One moment",
    content: html`<h1>One moment</h1>
<p>This page continues by itself. If it does not, press the button.</p>
${trusted(`${opening}${fields}${button}</form>`)}`,
    script: SUBMIT,
    leadsTo: action,
  });
}

export function showNotFound(ctx: PageContext): void {
  ctx.status = 404;
  showPage(ctx, { title: "Not found", content: html`<h1>Not found</h1><p>There is no page at this address.</p>` });
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
