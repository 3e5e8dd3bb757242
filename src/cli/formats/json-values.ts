// Splits JSON that is written over several lines into its records: the elements of an array, or objects in sequence.
import type { Line } from "./lines.ts";

/** The text of a record, or why it cannot be read. */
export interface JsonText {
  /** The line where it begins, counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly problem?: string;
}

/** Splits lines into records. */
export interface JsonSplitter {
  /** Returns the records that end in a line. */
  read(line: Line): JsonText[];
  /** Returns what the file leaves unfinished. */
  end(): JsonText[];
}

/** The maximum length of a record. One is sent in one message, of at most 32 MiB. */
const maxLength = 30 * 1024 * 1024;

/** Returns a splitter if the file begins with an array, or with an object that continues on the next line. */
export function createJsonSplitter({ text }: Line): JsonSplitter | undefined {
  const first = text.trim();
  if (first.startsWith("[")) return splitter(1);
  return first === "{" ? splitter(0) : undefined;
}

interface Current {
  readonly line: number;
  readonly pieces: string[];
  length: number;
  problem?: string;
}

/** `outer` is how many brackets are open around a record. */
function splitter(outer: 0 | 1): JsonSplitter {
  let depth = 0;
  let isString = false;
  let isEnded = false;
  let hasRest = false;
  let current: Current | undefined;

  function keep(piece: string): void {
    if (current === undefined) return;
    current.length += piece.length;
    if (current.length <= maxLength) current.pieces.push(piece);
    else current.problem ??= "the record is longer than 30 MiB";
  }

  function close(): JsonText[] {
    if (current === undefined) return [];
    const { line, pieces, problem } = current;
    current = undefined;
    return [{ line, text: pieces.join(""), ...(problem === undefined ? {} : { problem }) }];
  }

  function rest(number: number, text: string): JsonText[] {
    if (text.trim() === "" || hasRest) return [];
    hasRest = true;
    return [{ line: number, text, problem: "follows the end of the array" }];
  }

  /** Returns whether a sign outside of texts ends the record: at it, or after it. */
  function endAt(sign: string): "at" | "after" | undefined {
    if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") {
      depth--;
      if (depth === outer) return "after";
      if (depth < outer) isEnded = outer === 1;
      if (depth < outer) return "at";
    } else if (sign === "," && depth === outer) return "at";
    return undefined;
  }

  function read({ number, text, problem }: Line): JsonText[] {
    if (isEnded) return rest(number, text);
    const done: JsonText[] = [];
    let from = 0;
    if (problem !== undefined && current === undefined) return [{ line: number, text, problem }];
    if (problem !== undefined && current !== undefined) current.problem ??= problem;
    for (let at = 0; at < text.length; at++) {
      const sign = text[at] ?? "";
      if (isString) {
        if (sign === "\\") at++;
        else if (sign === '"') isString = false;
        continue;
      }
      const isOuter = depth === 0 && outer === 1;
      if (current === undefined && !isOuter && /[^\s,\]}]/.test(sign)) {
        current = { line: number, pieces: [], length: 0 };
        from = at;
      }
      if (sign === '"') isString = true;
      const end = endAt(sign);
      if (end === undefined) continue;
      keep(text.slice(from, end === "at" ? at : at + 1));
      done.push(...close());
      from = at + 1;
      if (isEnded) return [...done, ...rest(number, text.slice(at + 1))];
      depth = Math.max(depth, 0);
    }
    keep(`${text.slice(from)}\n`);
    return done;
  }

  return {
    read,
    end() {
      const isCut = current !== undefined || (outer === 1 && !isEnded);
      const line = current?.line ?? 1;
      const text = current?.pieces.join("") ?? "";
      return isCut ? [{ line, text, problem: "has no end: the file is incomplete" }] : [];
    },
  };
}
