// The provider's two prompts: sign-in, and consent to a client's access.
import { isLoopback } from "../../config/loopback.ts";
import { html, trusted, type Html } from "../../text/html.ts";
import { showPage, type PageContext } from "./page.ts";

/** The content of the sign-in page. */
export interface SignInPage {
  readonly client: string;
  readonly email: string;
  /** The users who can sign in. Each has a button that fills in the email. */
  readonly users: readonly { readonly email: string; readonly name: string }[];
  readonly failed: boolean;
  readonly leadsTo: string;
}

export function showSignIn(ctx: PageContext, { client, email, users, failed, leadsTo }: SignInPage): void {
  const wrong = html`<p class="wrong" id="wrong" role="alert">The email or the password is wrong.</p>`;
  const invalid: Html | undefined = failed ? html` aria-invalid="true" aria-describedby="wrong"` : undefined;
  const [first, second] = email === "" ? [html` autofocus`, undefined] : [undefined, html` autofocus`];
  showPage(ctx, {
    title: "Sign in",
    content: html`<h1>Sign in</h1>
<p>to continue to <strong><bdi>${shortened(client)}</bdi></strong></p>
<form method="post">
${failed ? wrong : undefined}
<label for="login">Email</label>
<input id="login" name="login" type="email" autocomplete="username" required value="${email}"${invalid}${first}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${invalid}${second}>
<button type="submit">Sign in</button>
</form>
<form method="post" class="people">
<p class="small">Demo users. Their passwords are in <code>demo.json</code> in the data folder.</p>
${trusted(users.map(userButton).join("\n"))}
</form>`,
    leadsTo,
  });
}

function userButton({ email, name }: { readonly email: string; readonly name: string }): Html {
  return html`<button type="submit" name="person" value="${email}" class="second">${name} <span class="small">${email}</span></button>`;
}

/** The content of the consent page. */
export interface ConsentPage {
  readonly client: string;
  readonly redirectUri: string;
  readonly email: string;
}

export function showConsent(ctx: PageContext, { client, redirectUri, email }: ConsentPage): void {
  showPage(ctx, {
    title: "Allow access",
    content: html`<h1>Allow access?</h1>
<p><strong><bdi>${shortened(client)}</bdi></strong> asks for access to Records.</p>
<dl>
<dt>It may</dt>
<dd>Read your contacts, sessions, transcripts and notes. It cannot change anything.</dd>
<dt>You are signed in as</dt>
<dd>${email}</dd>
<dt>You will be redirected to</dt>
<dd>${destination(redirectUri)}</dd>
</dl>
<form method="post" class="choice">
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="second">Deny</button>
</form>
<p class="small">The program chose its own name. Allow access only if you have just started this sign-in there.</p>`,
    leadsTo: redirectUri,
  });
}

function destination(redirectUri: string): string {
  if (!URL.canParse(redirectUri)) return redirectUri;
  const { protocol, host, hostname } = new URL(redirectUri);
  if (isLoopback(hostname)) return `${host}, on this computer`;
  return protocol === "https:" || protocol === "http:" ? host : `${protocol}//${host}, on this computer`;
}

/** Truncates a name that a client chose, so that it cannot push the rest of the page out of view. */
function shortened(name: string): string {
  const characters = [...name];
  return characters.length > 80 ? `${characters.slice(0, 79).join("")}…` : name;
}
