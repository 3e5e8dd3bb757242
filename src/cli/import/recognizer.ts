// Recognizes the encoding of a whole file before it is imported, and rejects a file that is not in its encoding.
import { isAscii } from "node:buffer";
import { rejectUsage } from "../exit.ts";
import { recognizeCodePage } from "../formats/code-pages.ts";
import { encodingOf } from "../formats/encoding.ts";
import type { Format } from "../formats/entry.ts";

/** How many bytes of lines that are not ASCII are kept to recognize a code page. */
const maxSample = 64 * 1024;
/** The parameters of a property are searched in so many bytes. */
const minPiece = 200;
const lineFeed = 10;

/**
 * Creates a recognizer. `said` is the encoding that the user set. CSV with invalid bytes is rejected as a whole: a
 * wrong encoding concerns all of it. Invalid lines of NDJSON are rejected one by one later. So are properties of
 * vCards and calendars, as long as most lines are valid.
 */
export function createRecognizer(file: string, format: Format, said: string | undefined) {
  const isFolded = format === "vcard" || format === "icalendar";
  let encoding: string | undefined;
  let check: LineCheck | undefined;
  let first: Uint8Array = new Uint8Array();
  const start = (bytes: Uint8Array): void => {
    encoding = encodingOf(bytes, said);
    check = encoding.startsWith("utf-16") ? createWholeCheck(encoding) : createLineCheck(encoding, isFolded);
    check.read(bytes);
  };
  return {
    read(chunk: Uint8Array): void {
      if (check !== undefined) return check.read(chunk);
      first = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
      if (first.length >= 4) start(first);
    },
    /** Returns the encoding. Fails with a usage error if there is none in which the file can be read. */
    end(): string {
      if (check === undefined) start(first);
      const result = check?.end();
      const found = encoding ?? "utf-8";
      if (result?.invalidLine === undefined || (format === "ndjson" && found === "utf-8")) return found;
      if (isFolded && result.valid > result.invalid) return found;
      const isOpen = said === undefined && found === "utf-8" && result.valid <= result.invalid && !result.isCut;
      const page = isOpen ? recognizeCodePage(result.sample) : undefined;
      if (page !== undefined) return page;
      return rejectUsage(
        `${file} is not ${found.toUpperCase()} in line ${result.invalidLine}. Set its encoding, such as --encoding windows-1251. Nothing was written.`,
      );
    },
  };
}

/** What is known of the lines of a file. Lines of ASCII are not counted. */
interface Checked {
  readonly valid: number;
  readonly invalid: number;
  readonly invalidLine: number | undefined;
  readonly sample: Uint8Array;
  /** Whether only the last character is incomplete. */
  readonly isCut: boolean;
}

interface LineCheck {
  read(chunk: Uint8Array): void;
  end(): Checked;
}

/**
 * Checks each line. In a vCard or a calendar, a line that begins with a blank continues the one before, even within a
 * character.
 */
function createLineCheck(encoding: string, isFolded: boolean): LineCheck {
  let decoder = new TextDecoder(encoding, { fatal: true });
  let [number, valid, invalid] = [1, 0, 0];
  let invalidLine: number | undefined;
  const sample: Uint8Array[] = [];
  let sampleSize = 0;
  /** The line that is being read, which can have several pieces and be folded. */
  let line: { readonly begin: number; readonly isChecked: boolean; state: "ascii" | "valid" | "invalid" } | undefined;
  let isWithin = false;
  /** The beginning of a line whose parameters may continue in the next chunk. */
  let held: Uint8Array = new Uint8Array();

  function isDecoded(piece?: Uint8Array): boolean {
    try {
      decoder.decode(piece, { stream: piece !== undefined });
      return true;
    } catch {
      decoder = new TextDecoder(encoding, { fatal: true });
      return false;
    }
  }

  /** Counts the line. Returns whether its end is not the end of a character. */
  function finish(): boolean {
    const isCut = line?.state === "valid" && !isDecoded();
    if (line?.state === "invalid" || isCut) {
      invalid++;
      invalidLine ??= line?.begin;
    } else if (line?.state === "valid") valid++;
    if (line !== undefined && line.state !== "ascii") keep(Uint8Array.of(lineFeed));
    line = undefined;
    return isCut;
  }

  function take(piece: Uint8Array, isWhole: boolean): void {
    const continues = isFolded && !isWithin && (piece[0] === 0x20 || piece[0] === 0x09);
    if (!isWithin && !continues) finish();
    const text = piece.subarray(continues ? 1 : 0, isWhole && piece.at(-1) === 13 ? -1 : piece.length);
    line ??= { begin: number, isChecked: !isFolded || !namesCharset(text), state: "ascii" };
    if (line.isChecked && (line.state !== "ascii" || !isAscii(text))) {
      if (line.state !== "invalid") line.state = isDecoded(text) ? "valid" : "invalid";
      keep(text);
    }
    isWithin = !isWhole;
    if (isWhole) number++;
  }

  function takeHeld(): void {
    take(held, false);
    held = new Uint8Array();
  }

  function keep(text: Uint8Array): void {
    if (sampleSize > maxSample) return;
    sample.push(new Uint8Array(text.subarray(0, maxSample)));
    sampleSize += text.length;
  }

  return {
    read(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      let from = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, from)) {
        take(bytes.subarray(from, end), true);
        from = end + 1;
      }
      held = new Uint8Array(bytes.subarray(from));
      if (held.length >= minPiece) takeHeld();
    },
    end() {
      if (held.length > 0) takeHeld();
      const isCut = finish() && invalid === 1;
      return { valid, invalid, invalidLine, sample: Buffer.concat(sample), isCut };
    },
  };
}

/** Returns whether a property of a vCard names its own encoding. */
function namesCharset(line: Uint8Array): boolean {
  return /^[^:]*;CHARSET=/i.test(Buffer.from(line.subarray(0, minPiece)).toString("latin1"));
}

/** Checks a file in an encoding without single bytes. */
function createWholeCheck(encoding: string): LineCheck {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let [number, isValid] = [1, true];
  const check = (chunk?: Uint8Array): void => {
    if (!isValid) return;
    try {
      for (const sign of decoder.decode(chunk, { stream: chunk !== undefined })) if (sign === "\n") number++;
    } catch {
      isValid = false;
      const before = new TextDecoder(encoding).decode(chunk).split("\ufffd", 1)[0] ?? "";
      number += before.split("\n").length - 1;
    }
  };
  return {
    read: check,
    end() {
      check();
      const invalidLine = isValid ? undefined : number;
      return { valid: 0, invalid: isValid ? 0 : 1, invalidLine, sample: new Uint8Array(), isCut: false };
    },
  };
}
