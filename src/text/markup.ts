// Returns the text of HTML, which programs write where a plain text belongs.
import { loneSurrogate } from "./text.ts";

/** What every HTML has, and no plain text, unlike `<ann@example.com>` or `a <b> c`. */
const markup = /<\/(?:html|html-blob|body|head|p|div|span|font|a|b|i|u|em|strong|ul|ol|li|table|h[1-6])>|<br ?\/?>/i;
const inline = /<\/?(?:span|font|b|i|u|em|strong)(?:\s[^<>]*)?>/gi;
const link = /<a\s([^<>]*)>([^<>]*)<\/a>/gi;
const address = /href="([^"]*)"/i;
const item = /<li(?:\s[^<>]*)?>/gi;
const ends = /<br(?:\s[^<>]*|\/)?>|<\/(?:p|div|ul|ol|tr|h[1-6])>/gi;
const anyTag = /<\/?[a-z][a-z0-9-]*(?:\s[^<>]*|\/)?>|<!(?:[^<>]*)>/gi;

const entities: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", lrm: "", rlm: "" },
};

/** Returns a text with its entities replaced. Half of a surrogate pair is none. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:#(\d{2,6}|x[\da-f]{2,5})|([a-z]{2,4}));/gi, (match, code?: string, name = "") => {
    const letter =
      code === undefined
        ? entities[String(name).toLowerCase()]
        : String.fromCodePoint(Number(code.toLowerCase().replace("x", "0x")));
    return letter === undefined || loneSurrogate.test(letter) ? match : letter;
  });
}

/** Returns a text as it is, and of HTML the text with its lines and the addresses of its links. */
export function plainText(text: string): string {
  if (!markup.test(text)) return text;
  const marked = text
    .replace(inline, "")
    .replace(link, (_, attributes: string, words: string) => {
      const url = address.exec(attributes)?.[1] ?? "";
      if (words.trim() === "" || url.includes(words.trim())) return url;
      return url === "" ? words : `${words} (${url})`;
    })
    .replace(item, "\n- ")
    .replace(ends, "\n")
    .replace(anyTag, "");
  const lines = withoutEntities(marked)
    .split("\n")
    .map((line) => line.trim());
  return lines
    .filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "")
    .join("\n")
    .trim();
}
