// A long text that stays compressed from the database to the client: inflated only for those who need it.
import { constants, crc32, deflateRaw, inflateRawSync } from "node:zlib";
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
const deflate = promisify<Buffer, { finishFlush: number }, Buffer>(deflateRaw);

/** Compresses a text, off the main thread. */
export async function deflateText(text: string): Promise<DeflatedText> {
  const json = Buffer.from(JSON.stringify(text));
  return { blocks: await deflate(json, { finishFlush: constants.Z_SYNC_FLUSH }), size: json.length, crc: crc32(json) };
}

/** Gives a message a text that is inflated when it is read for the first time: about 5 ms for each MB. */
export function holdDeflated<T extends object>(message: T, field: keyof T & string, text: DeflatedText): T {
  held.set(message, { field, text });
  return Object.defineProperty(message, field, {
    enumerable: true,
    configurable: true,
    get() {
      const json = inflateRawSync(text.blocks, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
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
