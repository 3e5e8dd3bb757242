// The frame of every dashboard page, and the elements that several pages share.
import { type Html, html } from "../text/html.ts";

/** The signed-in user, as the identity provider reports it. */
export interface User {
  /** The page's requests name the user by this id, because another one may have signed in since. */
  readonly id: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly issuer: string;
  readonly subject: string;
}

/** The parts of a page that differ from other pages. */
export interface Page {
  readonly title: string;
  /** The signed-in user. Without one, the page has no header. */
  readonly user?: User;
  readonly content: Html;
  /** Whether the page needs the script. */
  readonly script: boolean;
  /** Whether the page shows a record, and not the API access. */
  readonly isRecord?: boolean;
}

/** Returns the whole document, with all values escaped. `interfaceOff` adds a banner at the top. */
export function layOut({ title, user, content, script, isRecord = false }: Page, interfaceOff: boolean): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Records</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/dashboard.css">
${script ? html`<script type="module" src="/dashboard.js"></script>` : undefined}
</head>
<body>
${interfaceOff ? offBanner : undefined}
${user === undefined ? undefined : header(user, isRecord)}
${content}
</body>
</html>
`;
}

const offBanner = html`<p class="banner" role="status"><strong>The operator has switched the API off.</strong> Requests from scripts and assistants fail with 503. You can still manage the key here.</p>`;

function header({ id, email, name, subject }: User, isRecord: boolean): Html {
  return html`<header class="top">
<div class="top-row">
<a class="brand" href="/"><img src="/icon.svg" alt="" width="28" height="28">Records</a>
<nav class="places" aria-label="Records">
${isRecord ? html`<a href="/">API access</a>` : html`<a href="/" aria-current="page">API access</a>`}
<a href="/guide">Guide</a>
<a href="/docs">API reference</a>
<a href="/status">Status</a>
</nav>
<form class="account" method="post" action="/sign-out">
<input type="hidden" id="user" name="user" value="${id}">
<p class="who"><span id="person" dir="auto">${email ?? name ?? subject}</span><span class="small" id="sign-out-ends">Signing out also signs out your assistants</span></p>
<button type="submit" class="button plain" aria-describedby="sign-out-ends">Sign out</button>
</form>
</div>
</header>`;
}

/** Returns the content of a page with one message: a card in the middle. */
export function card(title: string, content: Html): Html {
  return html`<main class="alone">
<div class="card">
<img src="/icon.svg" alt="" width="44" height="44">
<h1>${title}</h1>
${content}
</div>
</main>`;
}

/** The value of a copyable field, and its labels. */
export interface CopyField {
  /** The id of the element with the value. */
  readonly id: string;
  readonly name: string;
  readonly value: string;
  /** The label of the button. */
  readonly copy: string;
}

/** Returns a field with a value to copy. The script shows its button. Without the script, users can select the text. */
export function copyField({ id, name, value, copy }: CopyField): Html {
  return html`<div class="field">
<div class="field-head"><span>${name}</span><span class="said" role="status"></span></div>
<div class="field-body"><code class="value" id="${id}" tabindex="0" role="group" aria-label="${name}">${value}</code><button type="button" class="button second" data-copies="${id}" hidden>${copy}</button></div>
</div>`;
}
