// Strict JSON parser (RFC 8259), in one pass without recursion. Unlike JSON.parse, it detects duplicate names and lone
// surrogates.
import { escapeInvisible, loneSurrogate } from "../text/text.ts";

/** A JSON value. An object is a Map, so that no name is special and the order is preserved. */
export type Json = null | boolean | number | string | Json[] | Map<string, Json>;

/**
 * A reason to reject a text although it is valid JSON. `path` joins the names that lead to the flaw with dots. It
 * leaves out the indexes of arrays.
 */
export interface Flaw {
  readonly path: string;
  readonly kind: "duplicate" | "surrogate";
}

/**
 * The result of parsing: a value and its flaws, or the reason why the text is rejected. Contains all flaws of the
 * outermost names, and the first flaws of deeper names. `flawsLeft` counts the others.
 */
export type JsonReading =
  | { readonly value: Json; readonly flaws: readonly Flaw[]; readonly flawsLeft: number }
  | { readonly problem: string };

interface Cursor {
  readonly text: string;
  at: number;
}

/** The state of the parser: its position in the text, the open containers, and the flaws so far. */
interface Reader extends Cursor {
  readonly frames: Frame[];
  readonly flaws: Flaw[];
  deepFlaws: number;
}

/** An open object or array. `name` is the property whose value is being read. */
interface Frame {
  readonly container: Json[] | Map<string, Json>;
  name: string;
}

const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escapeForm = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/**
 * The maximum number of open arrays and objects (RFC 8259 §9 allows a limit). No message of ours comes near it. The
 * garbage collector takes disproportionately long for a structure of many levels.
 */
export const maxLevels = 100;
/** The maximum number of flaws that are kept below the outermost names. It bounds the work for further ones. */
const maxDeepFlaws = 50;
/** Every empty object, because a body can have 87,000 of them. Nothing adds to it. */
const emptyObject: Map<string, Json> = new Map();
/** The maximum number of digits of an integer that is read without the regular expression. It is exact as a number. */
const maxDigits = 15;
const [quote, comma, colon, minus, point, zero, nine] = [0x22, 0x2c, 0x3a, 0x2d, 0x2e, 0x30, 0x39];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const [letterE, letterF, letterN, letterT] = [0x65, 0x66, 0x6e, 0x74];
const capitalE = 0x45;

/** Parses a JSON text of at most 100 levels. Positions in problems count UTF-16 units from 0. */
export function readJson(text: string): JsonReading {
  const frames: Frame[] = [];
  const flaws: Flaw[] = [];
  const reader: Reader = { text, at: 0, frames, flaws, deepFlaws: 0 };

  for (;;) {
    let value = readStart(reader);
    if (value === undefined) return { problem: problemAt(reader) };
    if (typeof value === "string" && loneSurrogate.test(value)) note(reader, "surrogate");
    if (typeof value === "object" && value !== null) {
      if (frames.length === maxLevels)
        return { problem: `it must have at most ${maxLevels} levels of arrays and objects` };
      const isArray = Array.isArray(value);
      if (skipBlanks(reader) !== (isArray ? closeBracket : closeBrace)) {
        frames.push({ container: isArray ? value : new Map<string, Json>(), name: "" });
        if (!isArray && !readName(reader)) return { problem: problemAt(reader) };
        continue;
      }
      reader.at += 1;
    }
    // Adds the complete value to the innermost open container, which may complete that container too.
    for (;;) {
      const frame = frames[frames.length - 1];
      const next = skipBlanks(reader);
      if (frame === undefined) {
        if (reader.at < text.length) return { problem: problemAt(reader) };
        return { value, flaws, flawsLeft: Math.max(0, reader.deepFlaws - maxDeepFlaws) };
      }
      const { container } = frame;
      const isArray = Array.isArray(container);
      if (isArray) container.push(value);
      else container.set(frame.name, value);
      if (next !== comma && next !== (isArray ? closeBracket : closeBrace)) return { problem: problemAt(reader) };
      reader.at += 1;
      if (next === comma) {
        if (!isArray && !readName(reader)) return { problem: problemAt(reader) };
        break;
      }
      value = container;
      frames.pop();
    }
  }
}

/** Reads `"name":` into the open object. Returns false if there is none. */
function readName(reader: Reader): boolean {
  skipBlanks(reader);
  const name = readString(reader);
  if (name === undefined || skipBlanks(reader) !== colon) return false;
  reader.at += 1;
  const frame = reader.frames.at(-1);
  if (frame === undefined || Array.isArray(frame.container)) return false;
  frame.name = name;
  if (frame.container.has(name)) note(reader, "duplicate");
  if (loneSurrogate.test(name)) note(reader, "surrogate");
  return true;
}

function note(reader: Reader, kind: Flaw["kind"]): void {
  const { frames, flaws } = reader;
  const [outermost] = frames;
  if (outermost !== undefined && frames.length === 1 && !Array.isArray(outermost.container)) {
    flaws.push({ kind, path: outermost.name });
    return;
  }
  reader.deepFlaws += 1;
  if (reader.deepFlaws > maxDeepFlaws) return;
  const names = frames.filter(({ container }) => !Array.isArray(container));
  flaws.push({ kind, path: names.map(({ name }) => name).join(".") });
}

/** Reads a scalar, or the start of an object or array as an empty one. Returns undefined if there is neither. */
function readStart(cursor: Cursor): Json | undefined {
  switch (skipBlanks(cursor)) {
    case quote:
      return readString(cursor);
    case openBrace:
      cursor.at += 1;
      return emptyObject;
    case openBracket:
      cursor.at += 1;
      return [];
    case letterT:
      return skipWord(cursor, "true") ? true : undefined;
    case letterF:
      return skipWord(cursor, "false") ? false : undefined;
    case letterN:
      return skipWord(cursor, "null") ? null : undefined;
    default:
      return readNumber(cursor);
  }
}

function skipWord(cursor: Cursor, word: string): boolean {
  if (!cursor.text.startsWith(word, cursor.at)) return false;
  cursor.at += word.length;
  return true;
}

/** Reads a number. If there is none, returns undefined. A body can have 130,000 of one digit. */
function readNumber(cursor: Cursor): number | undefined {
  const { text, at } = cursor;
  let end = at;
  let value = 0;
  for (let code = text.charCodeAt(end); code >= zero && code <= nine; code = text.charCodeAt(++end))
    value = 10 * value + code - zero;
  const digits = end - at;
  // Only an integer without a sign, leading zeros, a fraction or an exponent.
  const isPlain = digits === 1 || (digits > 1 && digits <= maxDigits && text.charCodeAt(at) !== zero);
  const next = text.charCodeAt(end);
  if (isPlain && next !== point && next !== letterE && next !== capitalE) {
    cursor.at = end;
    return value;
  }
  if (digits === 0 && next !== minus) return undefined;
  numberForm.lastIndex = at;
  const number = numberForm.exec(text)?.[0];
  if (number === undefined) return undefined;
  cursor.at = at + number.length;
  return Number(number);
}

/** Reads a string. If there is none, returns undefined and leaves the cursor at the problem. */
function readString(cursor: Cursor): string | undefined {
  const { text } = cursor;
  const start = cursor.at;
  if (text.charCodeAt(start) !== quote) return undefined;
  let escaped = false;
  for (let at = start + 1; ; ) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      cursor.at = at + 1;
      // JSON.parse decodes the escapes, whose form is already checked.
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

/** Skips blanks. Returns the code of the character after them, or NaN at the end of the text. */
function skipBlanks(cursor: Cursor): number {
  for (;;) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    cursor.at += 1;
  }
}

function problemAt({ text, at }: Cursor): string {
  if (at >= text.length) return "it ends too early";
  const character = JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
  return `unexpected ${escapeInvisible(character)} at position ${at}`;
}
