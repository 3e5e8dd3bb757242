// Long texts that stay compressed from the database to the client, and are inflated only if necessary.
import { Readable } from "node:stream";
import type { ZlibOptions } from "node:zlib";
import { constants, crc32, createInflateRaw, deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import { promisify } from "node:util";
import { pieceBytes, yieldToEventLoop } from "./slots.ts";
import { textOfUtf8 } from "../text/text.ts";

/**
 * A JSON string with its quotes, deflated (RFC 1951) into blocks. The blocks end on a byte boundary, and none is marked
 * as the last.
 */
export interface DeflatedText {
  readonly blocks: Uint8Array;
  /** The length in bytes and the CRC-32 of the JSON before it was deflated, as gzip needs them (RFC 1952). */
  readonly size: number;
  readonly crc: number;
}

const held = new WeakMap<object, { readonly field: string; readonly text: DeflatedText }>();
/** The first character of an escape in JSON, and the second one of `\u0000`. */
const backslash = 0x5c;
const unicodeEscape = 0x75;
const [quote, exclamation] = [0x22, 0x21];
/** More than the JSON of any text: a message has at most 32 MiB, and JSON escapes a byte by up to six. */
const maxJsonBytes = 6 * 32 * 2 ** 20;
const inflateOptions = { finishFlush: constants.Z_SYNC_FLUSH };
const inflate = promisify<Uint8Array, ZlibOptions, Buffer>(inflateRaw);
const deflate = promisify<Buffer, { finishFlush: number }, Buffer>(deflateRaw);

/** Compresses a text off the main thread. */
export async function deflateText(text: string): Promise<DeflatedText> {
  const json = Buffer.from(JSON.stringify(text));
  return { blocks: await deflate(json, { finishFlush: constants.Z_SYNC_FLUSH }), size: json.length, crc: crc32(json) };
}

/** Returns the text as a JSON string. Inflates it off the main thread. */
export function inflateJson({ blocks }: Pick<DeflatedText, "blocks">): Promise<Buffer> {
  return inflate(blocks, inflateOptions);
}

/**
 * Inflates the deflated text of a response, if any, off the main thread, so that reading it takes no time. Inflates one
 * text at a time, because a large one temporarily takes several times its size.
 */
export async function inflateResponseText(response: object): Promise<void> {
  const found = findDeflated(response);
  if (found === undefined) return;
  const value = lastInflation.then(() => inflateText(found.text, Infinity));
  lastInflation = value.catch(() => undefined);
  Object.defineProperty(found.holder, found.field, { enumerable: true, value: await value });
}

let lastInflation: Promise<unknown> = Promise.resolve();

/**
 * Returns the text, or its beginning if its JSON exceeds `maxBytes`. Inflates it off the main thread, and decodes it
 * in turn with other work.
 */
export async function inflateText(text: DeflatedText, maxBytes: number): Promise<string> {
  const json = text.size <= maxBytes ? await inflateJson(text) : await inflateBeginning(text, maxBytes);
  // A text that was cut has no closing quote.
  return decodeString(json, text.size <= maxBytes ? json.length - 1 : json.length);
}

/** Decodes the part of a JSON string between the opening quote and `end`. */
async function decodeString(json: Buffer, end: number): Promise<string> {
  let whole = "";
  for (let at = 1; at < end; ) {
    const next = at + pieceBytes < end ? placeToCut(json, at, at + pieceBytes) : end;
    whole += JSON.parse(`"${textOfUtf8(json.subarray(at, next))}"`) as string;
    at = next;
    if (at < end) await yieldToEventLoop();
  }
  return whole;
}

/**
 * Fails unless the text can be read: the blocks end as described, and have the JSON string of this size and checksum.
 * Never inflates more than that size.
 */
export async function requireWhole({ blocks, size, crc }: DeflatedText): Promise<void> {
  if (size > maxJsonBytes) throw new RangeError("the text is too long");
  // The text of a block that follows appears only if no block is marked as the last.
  const sound = Buffer.concat([blocks, deflateRawSync("!")]);
  const json = await inflate(sound, { ...inflateOptions, maxOutputLength: size + 1 });
  const text = json.subarray(0, size);
  if (json.length !== size + 1 || json[size] !== exclamation || crc32(text) !== crc)
    throw new Error("the text is damaged");
  if (text[0] !== quote || text[size - 1] !== quote || size < 2) throw new Error("the text is not a JSON string");
  await decodeString(text, size - 1);
}

async function inflateBeginning({ blocks }: DeflatedText, maxBytes: number): Promise<Buffer> {
  const beginning: Buffer[] = [];
  let length = 0;
  for await (const piece of Readable.from([blocks]).pipe(createInflateRaw(inflateOptions))) {
    beginning.push(piece as Buffer);
    length += (piece as Buffer).length;
    // One more byte shows whether a character ends at the limit.
    if (length > maxBytes) break;
  }
  const json = Buffer.concat(beginning);
  return json.subarray(0, placeToCut(json, 1, Math.min(maxBytes, json.length)));
}

/**
 * Returns the last position from `from` to `near` that splits neither an escape nor a character. `from` splits neither.
 */
function placeToCut(json: Buffer, from: number, near: number): number {
  let place = from;
  while (place < near) {
    const found = json.subarray(place, near).indexOf(backslash);
    if (found === -1) {
      place = near;
      while (place > from && ((json[place] ?? 0) & 0xc0) === 0x80) place--;
      return place;
    }
    const end = place + found + (json[place + found + 1] === unicodeEscape ? 6 : 2);
    if (end > near) return place + found;
    place = end;
  }
  return place;
}

/** Sets a field of a message to a text. The first read inflates it, which takes about 5 ms for each MB. */
export function defineDeflatedField<T extends object>(message: T, field: keyof T & string, text: DeflatedText): T {
  held.set(message, { field, text });
  return Object.defineProperty(message, field, {
    enumerable: true,
    configurable: true,
    get() {
      const json = inflateRawSync(text.blocks, inflateOptions).toString();
      const value = JSON.parse(json) as string;
      Object.defineProperty(message, field, { enumerable: true, value });
      return value;
    },
  });
}

/**
 * A deflated text in a message of a response. `name` is the message's field in the response, and `field` the text's
 * field in the message.
 */
export interface FoundText {
  readonly name: string;
  readonly holder: object;
  readonly field: string;
  readonly text: DeflatedText;
}

/** Returns the deflated text of a message that is itself a field of the response; undefined if there is none. */
export function findDeflated(response: object): FoundText | undefined {
  for (const [name, holder] of Object.entries(response) as [string, unknown][]) {
    const found = typeof holder === "object" && holder !== null ? held.get(holder) : undefined;
    if (found !== undefined) return { name, holder: holder as object, ...found };
  }
  return undefined;
}
