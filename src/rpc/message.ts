// Receives the message of a call and decodes it; what cannot be decoded becomes violations, as over REST (contract §2.3).
import type { DescMessage, JsonValue, Message } from "@bufbuild/protobuf";
import { fromBinary, fromJson, fromJsonString } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { receiveBytes } from "../../gateway/body.ts";
import { withEnumNames } from "../../gateway/enum-names.ts";
import { timesThatDoNotExist } from "../../gateway/timestamps.ts";
import type { Violation } from "../errors.ts";
import type { Request } from "../http/listener.ts";
import { readFlawedJson } from "./flawed-json.ts";
import type { Foreign, Spoken } from "./spoken.ts";
import { compressionOf, timeoutViolation } from "./spoken.ts";

/** What came of a call's message. */
export type Reading =
  /** The message as far as it could be read, and what stood against the rest. */
  | { readonly kind: "read"; readonly message: Message; readonly violations: readonly Violation[] }
  | { readonly kind: "unreadable"; readonly violations: readonly Violation[] }
  | { readonly kind: "foreign"; readonly foreign: Foreign }
  /** The client went away before it had sent everything: there is nobody to answer. */
  | { readonly kind: "gone" };

/** A message as it came, and whether it is compressed. */
interface Packed {
  readonly bytes: Uint8Array;
  readonly compressed: boolean;
}

const envelopeLength = 5;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Receives and decodes the one message of a unary call, of at most so many bytes; never fails. */
export async function readMessage(input: DescMessage, spoken: Spoken, request: Request, maxBytes: number): Promise<Reading> {
  const compression = compressionOf(spoken, request);
  if (compression !== undefined && compression !== compressionGzip.name) return { kind: "foreign", foreign: { encoding: compression } };
  const wrongTimeout = timeoutViolation(spoken, request);
  if (wrongTimeout !== undefined) return unreadable(wrongTimeout);
  const tooLarge = unreadable(violation("size", `the message must be at most ${maxBytes} bytes`));

  const packed = spoken.parameters === undefined ? await receive(spoken, request, maxBytes, compression !== undefined) : fromParameter(spoken.parameters, compression !== undefined);
  if (packed === "gone") return { kind: "gone" };
  if (packed === "too large") return tooLarge;
  if ("rule" in packed) return unreadable(packed);
  const [first, ...others] = packed;
  if (first === undefined) return { kind: "foreign", foreign: { messages: 0 } };
  if (others.length > 0) return { kind: "foreign", foreign: { messages: 2 } };
  if (first.compressed && compression === undefined) return unreadable(violation("compression", "the message is marked as compressed, and grpc-encoding does not say how"));
  try {
    const bytes = first.compressed ? await compressionGzip.decompress(first.bytes, maxBytes) : first.bytes;
    return decode(input, spoken.binary, bytes);
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.ResourceExhausted) return tooLarge;
    return unreadable(violation("compression", "the message cannot be decompressed: it is no valid gzip"));
  }
}

async function receive({ protocol }: Spoken, request: Request, maxBytes: number, compressed: boolean): Promise<readonly Packed[] | Violation | "too large" | "gone"> {
  const body = await receiveBytes(request, protocol === "connect" ? maxBytes : maxBytes + envelopeLength);
  if (typeof body === "string") return body;
  return protocol === "connect" ? [{ bytes: body, compressed }] : unwrap(body, maxBytes, protocol === "grpc-web");
}

/** The messages in a body of gRPC or gRPC-Web. */
function unwrap(body: Buffer, maxBytes: number, web: boolean): readonly Packed[] | Violation | "too large" {
  const messages: Packed[] = [];
  for (let at = 0; at < body.length; ) {
    const start = at + envelopeLength;
    const length = start <= body.length ? body.readUInt32BE(at + 1) : 0;
    if (length > maxBytes) return "too large";
    if (start + length > body.length) return violation("envelope", "the message is cut off: its envelope promises more bytes than came");
    const flags = body.readUInt8(at);
    at = start + length;
    // In gRPC-Web trailers may follow the message, in an envelope of their own.
    if (web && (flags & trailerFlag) !== 0) continue;
    messages.push({ bytes: body.subarray(start, at), compressed: (flags & compressedFlag) !== 0 });
  }
  return messages;
}

/** The message that stands in the URL. */
function fromParameter(parameters: URLSearchParams, compressed: boolean): readonly Packed[] | Violation {
  const message = parameters.get("message");
  if (message === null) return { field: "message", rule: "required", message: "is required" };
  if (parameters.get("base64") !== "1") return [{ bytes: Buffer.from(message), compressed }];
  try {
    return [{ bytes: base64Decode(message), compressed }];
  } catch {
    return { field: "message", rule: "base64", message: "must be base64" };
  }
}

function decode(input: DescMessage, binary: boolean, bytes: Uint8Array): Reading {
  if (binary) return decodeBinary(input, bytes);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return unreadable(violation("utf8", "the message must be UTF-8"));
  }
  try {
    return { kind: "read", message: fromJsonString(input, text), violations: missingTimes(input, text) };
  } catch (error) {
    const named = isOfEnum(error) ? readWithEnumNames(input, text) : undefined;
    if (named !== undefined) return { kind: "read", message: named, violations: missingTimes(input, text) };
    const { message, violations } = readFlawedJson(input, text, error);
    return message === undefined ? { kind: "unreadable", violations } : { kind: "read", message, violations };
  }
}

function missingTimes(input: DescMessage, text: string): Violation[] {
  return timesThatDoNotExist(input, text).map((field) => ({ field, rule: "timestamp", message: "must be a date-time that exists, such as 2026-01-31T09:30:00Z" }));
}

/** Whether the library ran into the name of an enum's value: then the text is JSON, and no property stands in it twice. */
function isOfEnum(error: unknown): boolean {
  return error instanceof Error && /\benum\b/.test(error.message);
}

function readWithEnumNames(input: DescMessage, text: string): Message | undefined {
  try {
    return fromJson(input, withEnumNames(input, JSON.parse(text) as JsonValue));
  } catch {
    return undefined;
  }
}

function decodeBinary(input: DescMessage, bytes: Uint8Array): Reading {
  try {
    return { kind: "read", message: fromBinary(input, bytes), violations: [] };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return unreadable(violation("utf8", "the message must hold no text that is not UTF-8"));
    return unreadable(violation("protobuf", `the message must be a ${input.typeName} in protobuf's binary form: ${message}`));
  }
}

function unreadable(found: Violation): Reading {
  return { kind: "unreadable", violations: [found] };
}

/** The message as a whole has no name: the text says what it is about. */
function violation(rule: string, message: string): Violation {
  return { field: "", rule, message };
}
