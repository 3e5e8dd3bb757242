// Finds violations in JSON messages: what the library accepts (invalid UTF-8, dates that do not exist), and where it
// cannot decode a message.
import { isUtf8 } from "node:buffer";
import type { DescMessage } from "@bufbuild/protobuf";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { undecodedFields } from "../http/json-undecoded.ts";
import { timesThatDoNotExist } from "../http/timestamps.ts";
import type { Violation } from "../call/errors.ts";
import { rejectInput } from "../call/errors.ts";
import type { Request } from "../call/exchange.ts";
import { contentCodingOf, gzip } from "./gzip.ts";
import type { Protocol } from "./protocol.ts";
import { contentTypeOf, envelopeHead } from "./protocol.ts";

/** A received message, without its envelope. */
export interface ReceivedMessage {
  readonly data: Buffer;
  readonly isJson: boolean;
  readonly isCompressed: boolean;
}

/** Decodes the text of JSON messages. */
export interface TextOf {
  decode(bytes: Uint8Array): string;
}

/** Finds violations in a message that the library has decoded. */
export type JsonFlaws = (message: ReceivedMessage) => Promise<readonly Violation[]>;

const none: readonly Violation[] = [];
const notUtf8: readonly Violation[] = [{ field: "", rule: "utf8", message: "the message must be UTF-8" }];
/** Skips a byte order mark, as the library does. */
const utf8 = new TextDecoder();

/**
 * Creates the check of an rpc's messages. The library replaces invalid UTF-8 by U+FFFD, and reads 30 February as 2
 * March.
 */
export function createJsonFlaws(input: DescMessage, maxBytes: number): JsonFlaws {
  const flawsIn = flawFinder(input);
  return async ({ data, isJson, isCompressed }) => {
    if (data.length === 0 || !isJson) return none;
    return flawsIn(isCompressed ? Buffer.from(await gzip.decompress(data, maxBytes)) : data);
  };
}

/** Returns the violations of the fields for which the library cannot decode a message. */
export async function undecodedIn(
  input: DescMessage,
  maxBytes: number,
  { data, isJson, isCompressed }: ReceivedMessage,
): Promise<readonly Violation[]> {
  if (!isJson) return none;
  const bytes = isCompressed ? await gzip.decompress(data, maxBytes) : data;
  return isUtf8(bytes) ? undecodedFields(input, utf8.decode(bytes)) : notUtf8;
}

/**
 * Creates a decoder for the JSON messages of a stream, which the library reads one by one. Decoding fails with
 * INVALID_REQUEST if a message has violations.
 */
export function createStrictDecoder(input: DescMessage): TextOf {
  const flawsIn = flawFinder(input);
  return {
    decode(bytes: Uint8Array) {
      const flaws = flawsIn(bytes);
      if (flaws.length > 0) rejectInput(flaws);
      const text = utf8.decode(bytes);
      const undecoded = undecodedFields(input, text);
      if (undecoded.length > 0) rejectInput(undecoded);
      return text;
    },
  };
}

/** Returns the message in the body of a request. */
export function messageOfBody(protocol: Protocol, request: Request, body: Buffer): ReceivedMessage {
  const isJson = contentTypeOf(request).toLowerCase().includes("json");
  const isCompressed = contentCodingOf(request) === gzip.name;
  if (protocol === "connect") return { data: body, isJson, isCompressed };
  return { data: body.subarray(envelopeHead), isJson, isCompressed: ((body[0] ?? 0) & compressedFlag) !== 0 };
}

function flawFinder(input: DescMessage): (bytes: Uint8Array) => readonly Violation[] {
  const hasTimes = holdsTimes(input, new Set());
  return (bytes) => {
    if (!isUtf8(bytes)) return notUtf8;
    if (!hasTimes) return none;
    const message = "must be a date-time that exists, such as 2026-01-31T09:30:00Z";
    return timesThatDoNotExist(input, utf8.decode(bytes)).map((field) => ({ field, rule: "timestamp", message }));
  };
}

function holdsTimes(message: DescMessage, seen: Set<DescMessage>): boolean {
  if (message.typeName === "google.protobuf.Timestamp") return true;
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => field.message !== undefined && holdsTimes(field.message, seen));
}
