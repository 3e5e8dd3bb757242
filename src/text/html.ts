// HTML templates that escape every value.

/** A piece of HTML that is safe to show. Only the template and `trusted` create one. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Returns the HTML of a template. Escapes strings, inserts pieces of HTML unchanged, and leaves out undefined. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | undefined)[]): Html {
  return new Html(parts.reduce((text, part, at) => `${text}${shown(values[at - 1])}${part}`));
}

/** Marks a text as safe HTML. It must contain only our own markup and escaped values. */
export function trusted(text: string): Html {
  return new Html(text);
}

function shown(value: string | Html | undefined): string {
  if (value === undefined) return "";
  return value instanceof Html ? value.toString() : escaped(value);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
