// The pages for failures and sign-out, in place of the OpenID Connect library's own.
import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { DASHBOARD_ID } from "./clients.ts";
import { html, trusted } from "../../text/html.ts";
import { showPage, type PageContext } from "./page.ts";

const SUBMIT = "document.forms[0].submit()";

const GONE =
  "This sign-in is no longer open. It took too long, or it was completed in another tab. Go back to the application and sign in again.";

/** Shows the user a failure that cannot be reported to a client. */
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
 * Shows the confirmation of a sign-out. If the dashboard sends an ID token of this user, the sign-out is already
 * confirmed. The page then submits itself if scripts run; without scripts, the user presses the button.
 */
export function showLogout(ctx: KoaContextWithOIDC, form: string): void {
  const { entities, session, client, params } = ctx.oidc;
  const confirmed = client?.clientId === DASHBOARD_ID && entities.IdTokenHint?.payload["sub"] === session?.accountId;
  // `logout` is a field, because a form that a script submits does not include the button's value.
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

/**
 * Replaces the library's unstyled page with a self-submitting form by one in our layout. Leaves any other page
 * unchanged.
 */
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
