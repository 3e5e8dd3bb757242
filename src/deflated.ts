// A long text that stays compressed from the database to the client: inflated only for those who need it.
import { Readable } from "node:stream";
import { constants, crc32, createInflateRaw, deflateRaw, inflateRaw, inflateRawSync } from "node:zlib";
import { promisify } from "node:util";

/**
 * A text as JSON writes it, quotes included, deflated (RFC 1951) into blocks that end on a byte and are not the last.
 */
export interface DeflatedText {
  readonly blocks: Uint8Array;
  /** Of the JSON before it was deflated: its length in bytes and its CRC-32, as gzip needs them (RFC 1952). */
  readonly size: number;
  readonly crc: number;
}

const held = new WeakMap<object, { readonly field: string; readonly text: DeflatedText }>();
const inflateOptions = { finishFlush: constants.Z_SYNC_FLUSH };
const inflate = promisify<Uint8Array, typeof inflateOptions, Buffer>(inflateRaw);
const deflate = promisify<Buffer, { finishFlush: number }, Buffer>(deflateRaw);

/** Compresses a text, off the main thread. */
export async function deflateText(text: string): Promise<DeflatedText> {
  const json = Buffer.from(JSON.stringify(text));
  return { blocks: await deflate(json, { finishFlush: constants.Z_SYNC_FLUSH }), size: json.length, crc: crc32(json) };
}

/** The text, or its beginning, up to a blank, where its JSON is longer than `mostBytes`. Off the main thread. */
export async function inflateText({ blocks, size }: DeflatedText, mostBytes: number): Promise<string> {
  if (size <= mostBytes) return JSON.parse((await inflate(blocks, inflateOptions)).toString()) as string;
  const beginning: Buffer[] = [];
  let length = 0;
  // One block after the other: what is not needed is not inflated.
  for await (const piece of Readable.from([blocks]).pipe(createInflateRaw(inflateOptions))) {
    beginning.push(piece as Buffer);
    length += (piece as Buffer).length;
    if (length >= mostBytes) break;
  }
  const json = Buffer.concat(beginning);
  // No escape holds a blank.
  const end = json.lastIndexOf(" ", mostBytes - 1);
  return end === -1 ? "" : (JSON.parse(`${json.toString("utf8", 0, end)}"`) as string);
}

/** Gives a message a text that is inflated when it is read for the first time: about 5 ms for each MB. */
export function holdDeflated<T extends object>(message: T, field: keyof T & string, text: DeflatedText): T {
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

/** The compressed text that a message holds, and in which field; undefined for what holds none, or is no message. */
export function deflatedIn(message: object): { readonly field: string; readonly text: DeflatedText } | undefined {
  return held.get(message);
}
