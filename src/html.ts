// HTML templates that escape every value.

/** A piece of HTML that is safe to show. Only the template and `trusted` make one. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A template of HTML: strings in it are escaped, pieces of HTML are not, undefined is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | undefined)[]): Html {
  return new Html(parts.reduce((text, part, at) => `${text}${shown(values[at - 1])}${part}`));
}

/** HTML that holds nothing from elsewhere, or only what was escaped. */
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
