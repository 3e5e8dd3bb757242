// Renders the guide's Markdown as HTML, and splits it into sections for the search.
import type { MarkedExtension, Token, Tokens } from "marked";
import { Marked } from "marked";
import type { Html } from "../text/html.ts";
import { html, trusted } from "../text/html.ts";

/** Resolves the links and images of a page. */
export interface Targets {
  /** Returns the path of the guide's page to which a relative link leads, or undefined if the file is not served. */
  page(href: string): string | undefined;
  /** Returns the path of a diagram by its file name, or undefined if there is none. */
  diagram(name: string): string | undefined;
}

/** A heading with the text under it, as plain text. */
export interface Section {
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

/** A rendered page. */
export interface Rendered {
  readonly content: string;
  readonly sections: readonly Section[];
}

/**
 * Renders a page. Omits the last line of the source, which names the next page: the page's frame links to it instead.
 */
export function renderMarkdown(markdown: string, targets: Targets): Rendered {
  const anchors = createAnchors();
  const marked = new Marked<string, string>({ gfm: true, renderer: rendererOf(targets) });
  const tokens = marked.lexer(markdown.replace(/\n\nNext: .*\n*$/, "\n"));
  const sections: { heading: string; anchor: string; text: string }[] = [];
  const ids = new Map<Token, string>();
  for (const token of tokens) {
    if (token.type === "heading") {
      const heading = plain((token as Tokens.Heading).text);
      const anchor = anchors((token as Tokens.Heading).text);
      ids.set(token, anchor);
      sections.push({ heading, anchor, text: "" });
    } else {
      const last = sections.at(-1);
      if (last !== undefined && token.type !== "html") last.text = `${last.text} ${plain(token.raw)}`.trim();
    }
  }
  const write = (some: readonly Token[]): string =>
    some
      .map((token) => {
        const id = ids.get(token);
        if (id === undefined) return marked.parser([token]);
        const { depth, tokens: inline = [] } = token as Tokens.Heading;
        return heading(depth, id, trusted(marked.Parser.parseInline(inline, marked.defaults)).toString());
      })
      .join("");
  return { content: writeWithTabs(tokens, write), sections };
}

function heading(depth: number, id: string, inner: string): string {
  const link =
    depth === 1 ? "" : html` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`.toString();
  return `<h${depth} id="${id}">${inner}${link}</h${depth}>\n`;
}

/**
 * Renders everything between `<!-- tabs -->` and `<!-- /tabs -->` as a group of tabs. Each tab begins with a heading.
 */
function writeWithTabs(tokens: readonly Token[], write: (some: readonly Token[]) => string): string {
  const marks = tokens.flatMap((token, at) => (/^<!-- \/?tabs -->/.test(token.raw) ? [at] : []));
  const parts: string[] = [];
  let from = 0;
  for (let pair = 0; pair + 1 < marks.length; pair += 2) {
    const [open = 0, close = 0] = marks.slice(pair, pair + 2);
    parts.push(write(tokens.slice(from, open)), tabs(tokens.slice(open + 1, close), write));
    from = close + 1;
  }
  return parts.join("") + write(tokens.slice(from));
}

function tabs(tokens: readonly Token[], write: (some: readonly Token[]) => string): string {
  const starts = tokens.flatMap((token, at) => (token.type === "heading" ? [at] : []));
  const panels = starts.map(
    (start, at) => `<section class="tab">${write(tokens.slice(start, starts[at + 1]))}</section>`,
  );
  return `<div class="tabs">${panels.join("")}</div>\n`;
}

function rendererOf({ page, diagram }: Targets): NonNullable<MarkedExtension<string, string>["renderer"]> {
  return {
    html: () => "",
    link({ href, tokens }) {
      const inner = trusted(this.parser.parseInline(tokens));
      const [path = "", anchor] = href.split("#");
      const fragment = anchor === undefined ? "" : `#${anchor}`;
      if (/^https?:/.test(href) || path === "") return html`<a href="${href}">${inner}</a>`.toString();
      const target = page(path);
      if (target !== undefined) return html`<a href="${target}${fragment}">${inner}</a>`.toString();
      // A file of the repository that the guide does not serve.
      const file = path.replace(/^(\.\.\/)+/, "");
      return inner.toString().includes(file) ? inner.toString() : html`${inner} (<code>${file}</code>)`.toString();
    },
    image: ({ href, text }) => {
      const source = diagram(href.replace(/^diagrams\//, ""));
      return source === undefined ? "" : html`<img class="diagram" src="${source}" alt="${text}">`.toString();
    },
    code: ({ text, lang = "" }) =>
      html`<div class="code" data-language="${lang}"><pre tabindex="0"><code>${
        lang === "console" ? trusted(text.split("\n").map(consoleLine).join("\n")) : text
      }</code></pre></div>\n`.toString(),
    table({ header, rows }) {
      const inner = ({ tokens }: Tokens.TableCell): Html => trusted(this.parser.parseInline(tokens));
      const head = header.map((cell) => `<th>${inner(cell)}</th>`).join("");
      // In a narrow window, each cell shows the heading of its column.
      const row = (cells: Tokens.TableCell[]): string =>
        cells.map((cell, at) => html`<td data-label="${plain(header[at]?.text ?? "")}">${inner(cell)}</td>`).join("");
      const body = rows.map((cells) => `<tr>${row(cells)}</tr>`).join("");
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>\n`;
    },
  };
}

function consoleLine(line: string): string {
  const [, prompt, command] = /^([$>]) (.*)$/.exec(line) ?? [];
  return (
    command === undefined
      ? html`<span class="output">${line}</span>`
      : html`<span class="prompt">${prompt} </span><span class="command">${command}</span>`
  ).toString();
}

/** Returns a function that makes the anchors of a page's headings, as GitHub does. */
function createAnchors(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const slug = heading
      .replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

/** Returns Markdown as plain text. */
function plain(markdown: string): string {
  return markdown
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/^```\w*$|^#+ |^ *[-*] |^\|[ |-]*$|[`*]/gm, "")
    .replace(/[|\s]+/g, " ")
    .trim();
}
