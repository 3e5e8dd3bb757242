// Receives the body of a request: counts the bytes as they arrive, then parses a JSON object (contract §2.3).
import type { Violation } from "../src/errors.ts";
import { readMediaType } from "../src/call/negotiation.ts";
import { createFairQueue } from "../src/fair-queue.ts";
import { collect } from "./collect.ts";
import type { Request } from "./http.ts";
import { isRejected } from "./linger.ts";
import type { Flaw, Json } from "./json.ts";
import { readJson } from "./json.ts";

/** The maximum size of a body, in bytes. */
export const bodyLimit = 262_144;

/**
 * The properties of a body, or the reason why it has none. `properties` is empty if no body was sent and none is
 * required.
 */
export type Body =
  | {
      readonly kind: "object";
      readonly properties: ReadonlyMap<string, Json>;
      readonly flaws: readonly Flaw[];
      /** The number of further flaws, which are left out. */
      readonly flawsLeft?: number;
    }
  | { readonly kind: "rejected"; readonly violation: Violation }
  /** Rejected for its size. The client may still be sending. */
  | { readonly kind: "too large"; readonly violation: Violation }
  /** The client left before it sent the whole body, so no response is expected. */
  | { readonly kind: "gone" };

const wrongType = "Content-Type must be application/json";
const noProperties: ReadonlyMap<string, Json> = new Map();
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Receives and parses the body. Never rejects. Unless `required` is set, a missing body counts as an empty object. */
export async function receiveBody(request: Request, required: boolean): Promise<Body> {
  const bytes = await receiveBytes(request, bodyLimit);
  if (bytes === "gone") return { kind: "gone" };
  if (bytes === "too large")
    return { kind: "too large", violation: violation("size", `the body must be at most ${bodyLimit} bytes`) };
  const type = request.headers["content-type"];
  if (bytes.length === 0) {
    if (required) return rejected("required", "the request must have a body: a JSON object");
    // An empty form is still a form.
    return type === undefined || isJson(type)
      ? { kind: "object", properties: noProperties, flaws: [] }
      : rejected("content_type", wrongType);
  }
  const encoding = request.headers["content-encoding"];
  if (!isJson(type)) return rejected("content_type", wrongType);
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    return rejected("content_encoding", "Content-Encoding is not supported: send the body uncompressed");
  return parse(bytes);
}

/** Whether the media type is JSON. It has no parameters (RFC 8259 §11), but `charset=utf-8` is accepted. */
function isJson(contentType: string | undefined): boolean {
  const media = readMediaType(contentType);
  if (media?.type !== "application/json") return false;
  return [...media.parameters].every(([name, value]) => name === "charset" && value.toLowerCase() === "utf-8");
}

function parse(bytes: Buffer): Body {
  const text = decode(bytes);
  if (text === undefined) return rejected("utf8", "the body must be UTF-8");
  const reading = readJson(text);
  if ("problem" in reading) return rejected("json", `the body must be JSON: ${reading.problem}`);
  if (!(reading.value instanceof Map)) return rejected("object", "the body must be a JSON object");
  return { kind: "object", properties: reading.value, flaws: reading.flaws, flawsLeft: reading.flawsLeft };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The bytes of a body, or the reason why it was not received completely. */
export type ReceivedBytes = Buffer | "too large" | "gone";

/**
 * Receives a whole body of at most `limit` bytes. Returns "too large" for a larger one. Its rest may still be arriving,
 * and the caller must consume it. Returns "too slow" for a body that takes longer than `maxMs`, whose rest is
 * discarded. Returns "gone" if the client left or the request was rejected. Never rejects.
 */
export function receiveBytes(request: Request, limit: number): Promise<ReceivedBytes>;
export function receiveBytes(request: Request, limit: number, maxMs: number): Promise<ReceivedBytes | "too slow">;
export function receiveBytes(request: Request, limit: number, maxMs?: number): Promise<ReceivedBytes | "too slow"> {
  // If the client left while the guards ran, no further event reports it.
  if (request.destroyed || request.aborted) return Promise.resolve("gone");
  if (Number(request.headers["content-length"]) > limit) return Promise.resolve("too large");
  return new Promise((resolve) => {
    let collected = collect();
    let size = 0;
    let ended = false;
    const timer = maxMs === undefined ? undefined : setTimeout(() => stop("too slow"), maxMs);
    // The request may last, and refers to the listeners: what has arrived is released now.
    const stop = (outcome: "too large" | "too slow" | "gone"): void => {
      clearTimeout(timer);
      request.removeAllListeners("data");
      collected = collect();
      resolve(outcome);
    };
    request.on("data", (chunk) => {
      if (isRejected(request)) return stop("gone");
      collected.add(chunk);
      size += chunk.length;
      if (size > limit) stop("too large");
    });
    request.on("end", () => {
      clearTimeout(timer);
      if (isRejected(request)) return resolve("gone");
      ended = true;
      if (size <= largeBytes) resolve(collected.bytes());
      else void waitForDecodeTurn(size).then(() => resolve(collected.bytes()));
    });
    // Before `end`, this means that the client left. After it, the event has no effect.
    request.on("close", () => ended || stop("gone"));
  });
}

/** The size in bytes above which decoding a body may take tens of milliseconds. */
const largeBytes = 32_768;
const parseQueue = createFairQueue(0);

/** Resolves when a body of this size may be decoded. In each turn of the event loop, only one large body is decoded. */
export function waitForDecodeTurn(size: number): Promise<void> {
  return size <= largeBytes ? Promise.resolve() : new Promise((resolve) => parseQueue(resolve));
}

function rejected(rule: string, message: string): Body {
  return { kind: "rejected", violation: violation(rule, message) };
}

/** Returns a violation of the body as a whole, which has no field name. */
export function violation(rule: string, message: string): Violation {
  return { field: "", rule, message };
}
