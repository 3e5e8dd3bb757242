// HTML templates that escape every value.
import { endOfCodePoint } from "./text.ts";

/** A piece of HTML that is safe to show. Only the functions of this file create one. */
export class Html {
  readonly #literals: readonly string[];
  readonly #values: readonly (string | Html | undefined)[];

  constructor(literals: readonly string[], values: readonly (string | Html | undefined)[]) {
    this.#literals = literals;
    this.#values = values;
  }

  /** Yields the text in parts. Escapes a long value part by part, which takes 20 ms at most for each. */
  *parts(): Iterable<string> {
    for (const [at, literal] of this.#literals.entries()) {
      yield literal;
      const value = this.#values[at];
      if (value instanceof Html) yield* value.parts();
      else if (value !== undefined) yield* escapedParts(value);
    }
  }

  toString(): string {
    return Array.from(this.parts()).join("");
  }
}

/** Returns the HTML of a template. Escapes strings, inserts pieces of HTML unchanged, and leaves out undefined. */
export function html(literals: TemplateStringsArray, ...values: readonly (string | Html | undefined)[]): Html {
  return new Html(literals, values);
}

/** Returns pieces of HTML, one a line. Leaves out undefined. */
export function lines(pieces: readonly (Html | undefined)[]): Html {
  return new Html(["", ...pieces.map(() => "\n")], pieces);
}

/** Marks a text as safe HTML. It must contain only our own markup and escaped values. */
export function trusted(text: string): Html {
  return new Html([text], []);
}

/** The length of a part of a value in UTF-16 code units. */
const partLength = 65_536;

function* escapedParts(text: string): Iterable<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + partLength < text.length ? endOfCodePoint(text, at + partLength - 1) : text.length;
    yield text.slice(at, end).replace(escaped, (character) => entities[character] ?? "");
    at = end;
  }
}

/**
 * Matches the characters with a meaning in HTML, and the controls that change the order of the characters around them.
 * Those are left out: they could make a name or an address look like another one.
 */
const escaped = /[&<>"'\u202a-\u202e\u2066-\u2069]/g;
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
