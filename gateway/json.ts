// A strict JSON reader (RFC 8259) in one pass without recursion: unlike JSON.parse it sees duplicate names and lone
// surrogates.
import { loneSurrogate } from "../src/text.ts";

/** A JSON value; an object is a Map, so that no name is special and the order is kept. */
export type Json = null | boolean | number | string | Json[] | Map<string, Json>;

/**
 * Something that is JSON by its grammar and still rejected; `path` joins the names that lead to it with dots, those of
 * the outermost levels alone.
 */
export interface Flaw {
  readonly path: string;
  readonly kind: "duplicate" | "surrogate";
}

/**
 * What a text holds: a value and its flaws, or why it is no JSON. All flaws of the outermost names are there, of deeper
 * ones the first, and `flawsLeft` counts the others.
 */
export type JsonReading =
  | { readonly value: Json; readonly flaws: readonly Flaw[]; readonly flawsLeft: number }
  | { readonly problem: string };

interface Cursor {
  readonly text: string;
  at: number;
}

/** A text that is being read, with what is open in it and its flaws so far. */
interface Reader extends Cursor {
  readonly frames: Frame[];
  readonly flaws: Flaw[];
  deepFlaws: number;
}

/** An object or array that is open; `name` is the one whose value is being read. */
interface Frame {
  readonly container: Json[] | Map<string, Json>;
  name: string;
}

const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escapeForm = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** Far more than a caller is shown of a path: deeper ones make no more work. */
const mostLevels = 100;
/** How many flaws below the outermost names are kept: more of them make no more work. */
const mostDeepFlaws = 50;
const words: Readonly<Record<string, Json>> = { true: true, false: false, null: null };

/** Reads a JSON text of any depth. Positions in problems count UTF-16 units from 0. */
export function readJson(text: string): JsonReading {
  const frames: Frame[] = [];
  const flaws: Flaw[] = [];
  const reader: Reader = { text, at: 0, frames, flaws, deepFlaws: 0 };

  for (;;) {
    let value = readStart(reader);
    if (value === undefined) return { problem: problemAt(reader) };
    if (typeof value === "string") noteSurrogate(reader, value);
    else if (typeof value === "object" && value !== null) {
      if (!skipIf(reader, Array.isArray(value) ? "]" : "}")) {
        frames.push({ container: value, name: "" });
        if (!Array.isArray(value) && !readName(reader)) return { problem: problemAt(reader) };
        continue;
      }
    }
    // The value is whole: it goes into what is open, which may be whole by that as well.
    for (;;) {
      const frame = frames.at(-1);
      if (frame === undefined) {
        skipBlanks(reader);
        if (reader.at < text.length) return { problem: problemAt(reader) };
        return { value, flaws, flawsLeft: Math.max(0, reader.deepFlaws - mostDeepFlaws) };
      }
      const { container } = frame;
      if (Array.isArray(container)) container.push(value);
      else container.set(frame.name, value);
      if (skipIf(reader, ",")) {
        if (!Array.isArray(container) && !readName(reader)) return { problem: problemAt(reader) };
        break;
      }
      if (!skipIf(reader, Array.isArray(container) ? "]" : "}")) return { problem: problemAt(reader) };
      value = container;
      frames.pop();
    }
  }
}

/** Reads `"name":` into the open object; false where there is none. */
function readName(reader: Reader): boolean {
  skipBlanks(reader);
  const name = readString(reader);
  if (name === undefined || !skipIf(reader, ":")) return false;
  const frame = reader.frames.at(-1);
  if (frame === undefined || Array.isArray(frame.container)) return false;
  frame.name = name;
  if (frame.container.has(name)) note(reader, "duplicate");
  noteSurrogate(reader, name);
  return true;
}

function noteSurrogate(reader: Reader, string: string): void {
  if (loneSurrogate.test(string)) note(reader, "surrogate");
}

function note(reader: Reader, kind: Flaw["kind"]): void {
  const { frames, flaws } = reader;
  const [outermost] = frames;
  if (outermost !== undefined && frames.length === 1 && !Array.isArray(outermost.container)) {
    flaws.push({ kind, path: outermost.name });
    return;
  }
  reader.deepFlaws += 1;
  if (reader.deepFlaws > mostDeepFlaws) return;
  const names = frames.slice(0, mostLevels).filter(({ container }) => !Array.isArray(container));
  flaws.push({ kind, path: names.map(({ name }) => name).join(".") });
}

/** Reads a scalar, or the opening of an object or array as an empty one; undefined where there is neither. */
function readStart(cursor: Cursor): Json | undefined {
  skipBlanks(cursor);
  const { text, at } = cursor;
  const first = text[at];
  if (first === '"') return readString(cursor);
  if (first === "{" || first === "[") {
    cursor.at = at + 1;
    return first === "{" ? new Map<string, Json>() : [];
  }
  for (const word in words) {
    if (!text.startsWith(word, at)) continue;
    cursor.at = at + word.length;
    return words[word];
  }
  numberForm.lastIndex = at;
  const number = numberForm.exec(text)?.[0];
  if (number === undefined) return undefined;
  cursor.at = at + number.length;
  return Number(number);
}

/** Reads a string; where there is none, the cursor is at what is wrong. */
function readString(cursor: Cursor): string | undefined {
  const { text } = cursor;
  const start = cursor.at;
  if (text[start] !== '"') return undefined;
  let escaped = false;
  for (let at = start + 1; ; ) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      cursor.at = at + 1;
      // The built-in reader knows the escapes; that they are well formed has been seen.
      return escaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at);
    }
    if (code === 0x5c) {
      escapeForm.lastIndex = at;
      if (!escapeForm.test(text)) return stop(at);
      at = escapeForm.lastIndex;
      escaped = true;
    } else if (code < 0x20 || Number.isNaN(code)) {
      return stop(at);
    } else {
      at += 1;
    }
  }

  function stop(at: number): undefined {
    cursor.at = at;
  }
}

function skipBlanks(cursor: Cursor): void {
  for (; cursor.at < cursor.text.length; cursor.at += 1) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
  }
}

/** Passes over blanks, and over the character where it comes next. */
function skipIf(cursor: Cursor, character: string): boolean {
  skipBlanks(cursor);
  if (cursor.text[cursor.at] !== character) return false;
  cursor.at += 1;
  return true;
}

function problemAt({ text, at }: Cursor): string {
  if (at >= text.length) return "it ends too early";
  return `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))} at position ${at}`;
}
