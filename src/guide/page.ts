// The frame of a guide page: the navigation, the search, and the previous and next page.
import type { Html } from "../text/html.ts";
import { html, trusted } from "../text/html.ts";
import type { Source } from "./source.ts";

/** The data that a page needs in addition to its content. */
export interface Frame {
  readonly pages: readonly Source[];
  readonly files: { readonly style: string; readonly script: string; readonly index: string };
}

/** Returns the path of a page. */
export function pathOfPage({ name }: Pick<Source, "name">): string {
  return name === "" ? "/guide" : `/guide/${name}`;
}

/** Returns the whole HTML document. */
export function guidePage(page: Source, content: string, { pages, files }: Frame): string {
  const at = pages.indexOf(page);
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} – Records guide</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/dashboard.css">
<link rel="stylesheet" href="${files.style}">
<script defer src="${files.script}"></script>
</head>
<body class="guide">
<a class="skip" href="#content">Skip to the content</a>
<header class="guide-top">
<a class="brand" href="/"><img src="/icon.svg" alt="" width="24" height="24">Records</a>
<nav class="guide-links" aria-label="Records">
<a href="/guide" aria-current="true">Guide</a>
<a href="/docs">API reference</a>
<a href="/">Dashboard</a>
</nav>
</header>
<div class="guide-body">
<div class="guide-side">
<search class="guide-search" hidden>
<label class="unseen" for="find">Search the guide</label>
<input id="find" type="search" placeholder="Search the guide ( / )" aria-keyshortcuts="/ Control+K" autocomplete="off" data-index="${files.index}" aria-controls="found">
<div id="found" role="status" hidden></div>
</search>
<details class="guide-menu" open>
<summary>Pages</summary>
${navigation(pages, page)}
</details>
</div>
<main id="content" class="guide-content">
${trusted(content)}
<nav class="guide-turn" aria-label="Previous and next page">
${turn("Previous", "prev", pages[at - 1])}
${turn("Next", "next", pages[at + 1])}
</nav>
</main>
</div>
</body>
</html>
`.toString();
}

function navigation(pages: readonly Source[], current: Source): Html {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const entry = (page: Source): string =>
    page === current
      ? html`<li><a href="${pathOfPage(page)}" aria-current="page">${page.title}</a></li>`.toString()
      : html`<li><a href="${pathOfPage(page)}">${page.title}</a></li>`.toString();
  return trusted(
    groups
      .map((group) => {
        const entries = pages.filter((page) => page.group === group).map(entry);
        return html`<nav aria-label="${group}"><p class="guide-group">${group}</p><ul>${trusted(entries.join(""))}</ul></nav>`.toString();
      })
      .join("\n"),
  );
}

function turn(word: string, relation: string, page: Source | undefined): Html | undefined {
  if (page === undefined) return undefined;
  return html`<a class="${relation}" rel="${relation}" href="${pathOfPage(page)}"><span>${word}</span>${page.title}</a>`;
}
