// The account's settings page: its API key, the address for assistants, and its activity.
import type { Html } from "../text/html.ts";
import { html } from "../text/html.ts";
import type { Page, User } from "./layout.ts";
import { copyField } from "./layout.ts";
import type { UsageView } from "./usage.ts";
import { usage } from "./usage.ts";

const needsScripts = html`<noscript><p class="quiet">This part needs JavaScript.</p></noscript>`;

/** What the page shows. */
export interface AccountView {
  readonly user: User;
  readonly account: { readonly id: string; readonly email: string; readonly betaEnrolled: boolean };
  readonly baseUrl: string;
  readonly mcpUrl: string;
  readonly usage: UsageView;
}

export function accountPage({ user, account, baseUrl, mcpUrl, usage: used }: AccountView): Page {
  const content = html`<main class="settings">
<h1>API access</h1>
<p class="lead">An API key for your scripts and tools, and an address for assistants.${user.email === account.email ? undefined : ofAccount(account.email)}</p>
<noscript><p class="notice">JavaScript is off. You need it to manage the API key and to see the activity. Without it, you can still connect an assistant and sign out.</p></noscript>

<section class="setting" aria-labelledby="key-title">
<div class="setting-head">
<h2 id="key-title" tabindex="-1">API key</h2>
<p>For your scripts and tools. An account has one key at a time.</p>
</div>
<div class="setting-body">
${account.betaEnrolled ? undefined : notEnrolled(account.id)}
<div id="key-panel" data-loading data-enrolled="${String(account.betaEnrolled)}" data-base-url="${baseUrl}">${needsScripts}</div>
</div>
</section>

<section class="setting" aria-labelledby="assistant-title">
<div class="setting-head">
<h2 id="assistant-title">Connect an assistant</h2>
<p>An assistant can read your records. It cannot change them.</p>
</div>
<div class="setting-body">
<p>In the assistant’s settings, add this address as a connector, also called a custom or remote MCP server. Sign in when your browser asks you to.</p>
${copyField({ id: "mcp-url", name: "MCP address", value: mcpUrl, copy: "Copy address" })}
${assistants(mcpUrl)}
</div>
</section>

<section class="setting" aria-labelledby="usage-title">
<div class="setting-head">
<h2 id="usage-title">Usage</h2>
<p>Requests with the API key and by assistants. The numbers are approximate, and days are in UTC.</p>
</div>
<div class="setting-body">
${usage(used)}
</div>
</section>

<section class="setting" aria-labelledby="activity-title">
<div class="setting-head">
<h2 id="activity-title" tabindex="-1">Activity</h2>
<p>Sign-ins, changes to the API key, and reads by assistants, newest first.</p>
</div>
<div class="setting-body" id="audit-log">${needsScripts}</div>
</section>
</main>`;
  return { title: "API access", user, content, script: true };
}

/** The signed-in user and the account may have different emails. */
function ofAccount(email: string): Html {
  return html` Account <span id="account-email">${email}</span>.`;
}

function notEnrolled(accountId: string): Html {
  return html`<div class="notice" id="not-enrolled">
<h3>Not enrolled in the beta</h3>
<p>You can create a key once this account is enrolled. Send its id to the operator of this service:</p>
${copyField({ id: "account-id", name: "Account id", value: accountId, copy: "Copy account id" })}
</div>`;
}

function assistants(url: string): Html {
  const server = JSON.stringify({ name: "records", type: "http", url });
  const cursor = new URLSearchParams({
    name: "records",
    config: Buffer.from(JSON.stringify({ url })).toString("base64"),
  });
  return html`<div class="clients">
${client("Claude", html`<p>Settings → Connectors → Add custom connector. Paste the address.</p>`)}
${client("Claude Code", copyField({ id: "claude-code", name: "In a terminal", value: `claude mcp add --transport http records ${url}`, copy: "Copy command" }))}
${client("ChatGPT", html`<p>Settings → Connectors, with developer mode on → Create. Paste the address, and choose OAuth.</p>`)}
${client("Cursor", html`<p><a class="button second" href="cursor://anysphere.cursor-deeplink/mcp/install?${cursor.toString()}">Add to Cursor</a></p>`)}
${client("VS Code", copyField({ id: "vs-code", name: "In a terminal", value: `code --add-mcp '${server}'`, copy: "Copy command" }))}
</div>`;
}

function client(name: string, content: Html): Html {
  return html`<details name="client"><summary>${name}</summary>${content}</details>`;
}
