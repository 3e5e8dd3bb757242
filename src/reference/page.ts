// HTML of the API reference page: a frame in which the renderer shows our own OpenAPI document.
import { html } from "../text/html.ts";
import type { Assets } from "./assets.ts";

/** Returns the whole document. Its own links are relative, so that it works under every host name. */
export function referencePage({ renderer, start, style }: Assets, baseUrl: string): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference – Records</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${relative(style.path)}">
<script defer src="${relative(start.path)}"></script>
<script defer src="${relative(renderer.path)}"></script>
</head>
<body>
<nav class="records-top" aria-label="Records">
<a class="records-brand" href="./"><img src="icon.svg" alt="" width="24" height="24">Records</a>
<span class="records-links">
<a href="./">Dashboard</a>
<a href="guide">Guide</a>
<a href="openapi.json">OpenAPI<span class="records-wide"> (JSON)</span></a>
<a class="records-wide" href="openapi.yaml">YAML</a>
<a class="records-wide" href="llms.txt">llms.txt</a>
</span>
</nav>
<noscript>
<main class="records-notice">
<h1>Records API reference</h1>
<p>This page needs JavaScript. You can read the same in these files, with any tool for OpenAPI 3.1:</p>
<ul>
<li><a href="openapi.json">openapi.json</a> and <a href="openapi.yaml">openapi.yaml</a>: every operation, parameter, response and error</li>
<li><a href="llms.txt">llms.txt</a>: a short form in plain text, with a curl command for each operation</li>
</ul>
<p>Requests go to <code>${baseUrl}</code> with <code>Authorization: Bearer</code> and an API key, which you get on <a href="./">the dashboard</a>.</p>
</main>
</noscript>
<div id="reference" data-base-url="${baseUrl}"></div>
<p id="not-started" class="records-notice" role="alert" hidden>The reference could not be shown, because the browser did not receive all of its files. Load the page again, or read <a href="openapi.json">openapi.json</a> or <a href="llms.txt">llms.txt</a>.</p>
</body>
</html>
`.toString();
}

function relative(path: string): string {
  return path.slice(1);
}
