// Returns the text of HTML, which programs write where a plain text belongs.

/** A tag that no plain text has, unlike `<ann@example.com>` or `a < b`. */
const tag =
  /<\/?(?:html|html-blob|body|head|p|div|br|hr|span|font|a|b|i|u|em|strong|ul|ol|li|table|h[1-6])(?:\s[^<>]*|\/)?>/i;
const link = /<a\s([^<>]*)>([^<>]*)<\/a>/gi;
const address = /href="([^"]*)"/i;
const item = /<li(?:\s[^<>]*)?>/gi;
const ends = /<br(?:\s[^<>]*|\/)?>|<\/(?:p|div|ul|ol|tr|h[1-6])>/gi;
const anyTag = /<[/!]?[a-z-][^<>]*>/gi;

const entities: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", lrm: "", rlm: "" },
};

/** Returns a text with its entities replaced. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:#(\d{2,6})|([a-z]{2,4}));/gi, (match, code?: string, name = "") =>
    code === undefined ? (entities[String(name).toLowerCase()] ?? match) : String.fromCodePoint(Number(code)),
  );
}

/** Returns a text as it is, and of HTML the text with its lines and the addresses of its links. */
export function plainText(text: string): string {
  if (!tag.test(text)) return text;
  const marked = text
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
