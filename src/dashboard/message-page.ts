// The pages with one message: signed out, sign-in off, no account, a suspended account, a problem.
import { HealthStatus } from "../gen/records/v1/health_pb.ts";
import { html } from "../text/html.ts";
import type { Page, User } from "./layout.ts";
import { card, copyField } from "./layout.ts";

const whatItIs = html`<p>Records keeps the contacts, sessions, transcripts and notes of your account, for your own tools and assistants. Sign in to create, rotate or revoke the account’s API key.</p>`;
const description = html`<p class="aside">For developers: <a href="/guide">the guide</a> and <a href="/docs">the API reference</a></p>`;

const sessionEndedNotice = html`<p class="notice" role="status">Your session had already ended. To disconnect assistants that are still connected, sign in again and then sign out.</p>
`;

/**
 * `sessionEnded`: after a sign-out that found no session, and so ended nothing. `to` is the path of the page to return
 * to after the sign-in; undefined for the start page.
 */
export function signedOutPage(sessionEnded: boolean, to: string | undefined): Page {
  const content = html`${sessionEnded ? sessionEndedNotice : undefined}${whatItIs}
<p><a class="button first wide" href="/sign-in${to && html`?to=${to}`}">Sign in</a></p>
${description}`;
  return { title: "Sign in", content: card("Records", content), script: false };
}

export function signInOffPage(): Page {
  const content = html`<p>You cannot sign in here, because this service has no identity provider.</p>
<p>The operator can set <code>OIDC_ISSUER</code> to turn sign-in on. Existing API keys still work.</p>
${description}`;
  return { title: "Sign-in is off", content: card("Sign-in is off", content), script: false };
}

const stillNone = html`<p class="notice" role="status">We just checked: no account is linked yet.</p>
`;

/** `again`: the user has just requested another check. */
export function noAccountPage(user: User, again: boolean): Page {
  const content = html`${again ? stillNone : undefined}<p>You are signed in, but no account is linked to you.</p>
<p>Ask the operator of this service to link your account, and send these two values:</p>
${copyField({ id: "issuer", name: "Issuer", value: user.issuer, copy: "Copy issuer" })}
${copyField({ id: "subject", name: "Subject", value: user.subject, copy: "Copy subject" })}
<p class="after"><a class="button first wide" href="/?again">Check again</a></p>`;
  return { title: "No account", user, content: card("No account yet", content), script: true };
}

export function suspendedPage(user: User, accountId: string, message: string): Page {
  const content = html`<p>${message}</p>
<p>Send the operator the id of the account:</p>
${copyField({ id: "account-id", name: "Account id", value: accountId, copy: "Copy account id" })}
<p class="after"><a class="button first wide" href="/">Check again</a></p>`;
  return { title: "Account suspended", user, content: card("Account suspended", content), script: true };
}

/** Whether the service works, for everyone. */
export function statusPage(status: HealthStatus): Page {
  const { title, text } = states[status] ?? working;
  const content = html`<p role="status">${text}</p>
<p><a class="button second wide" href="/status">Check again</a></p>
<p class="aside">For programs: <a href="/v1/health"><code>GET /v1/health</code></a></p>
<p class="aside"><a href="/">Go to the start page</a></p>`;
  return { title: "Status", content: card(title, content), script: false };
}

const working = { title: "Everything works", text: "The API and assistants are available." };
const states: Readonly<Record<number, { readonly title: string; readonly text: string }>> = {
  [HealthStatus.DEGRADED]: {
    title: "Some requests fail",
    text: "A database of the service is unavailable. The service keeps trying to reach it, so requests can succeed again at any time.",
  },
  [HealthStatus.DISABLED]: {
    title: "The API is switched off",
    text: "The operator has switched the API off. Requests from scripts and assistants fail with 503 until it is switched on again.",
  },
};

/** A failed request of the browser itself. */
export interface BrowserFailure {
  readonly status: number;
  readonly message: string;
  readonly requestId: string;
  /** Whether another attempt is useful. */
  readonly retry: boolean;
}

export function problemPage({ status, message, requestId, retry }: BrowserFailure): Page {
  const { title, advice } = problems[status] ?? other;
  // A failed sign-in starts again. Any other problem leads to the start page, which shows the current state.
  if (status === 404) return notFoundPage(requestId);
  const link = retry
    ? html`<a class="button first wide" href="${status === 400 ? "/sign-in" : "/"}">Try again</a>`
    : html`<a class="button second wide" href="/">Go to the start page</a>`;
  const content = html`<p>${message}</p>
${retry ? html`<p>${advice}</p>` : undefined}
<p>${link}</p>
<p class="aside">Status ${String(status)}, request id: <code id="request-id">${requestId}</code></p>`;
  return { title, content: card(title, content), script: false };
}

function notFoundPage(requestId: string): Page {
  const content = html`<p>There is no page at this address.</p>
<p><a class="button first wide" href="/">Go to the start page</a></p>
<p class="aside">For developers: <a href="/docs">the API reference</a></p>
<p class="aside">Request id: <code id="request-id">${requestId}</code></p>`;
  return { title: "Page not found", content: card("Page not found", content), script: false };
}

interface Problem {
  readonly title: string;
  /** Instructions in addition to the message. */
  readonly advice: string;
}

const advice = "If it happens again, send the request id below to the operator of this service.";
const other: Problem = { title: "Something went wrong", advice };

const problems: Readonly<Record<number, Problem>> = {
  400: { title: "Not signed in", advice },
  403: { title: "Not allowed", advice: "Open the start page and try again from there." },
  429: { title: "Too many requests", advice: "Wait a moment, then try again." },
  503: { title: "Not available right now", advice },
};
