// Receives the body of a request: counts the bytes as they arrive, then parses a JSON object (contract §2.3).
import type { Violation } from "../call/errors.ts";
import { foreignParameter, readMediaType } from "../call/negotiation.ts";
import { networkOf } from "../config/address.ts";
import type { Inbound } from "../call/dispatch.ts";
import { createFairQueue } from "../call/fair-queue.ts";
import { collect } from "./collect.ts";
import { requestBody, isBodyHeld } from "./continue.ts";
import { echoedName } from "./echoed-name.ts";
import type { Request } from "./node-http.ts";
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
  /** Not requested from a client that waits with it, because the request is rejected anyway. */
  | { readonly kind: "held" }
  /** Rejected for its size. The client may still be sending. */
  | { readonly kind: "too large"; readonly violation: Violation }
  /** The client left before it sent the whole body, so no response is expected. */
  | { readonly kind: "gone" };

const noProperties: ReadonlyMap<string, Json> = new Map();
/** Skips a byte order mark, as RFC 8259 §8.1 allows. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Receives and parses the body. Never rejects. Unless `required` is set, a missing body counts as an empty object. Does
 * not request the body of a client that waits with it, if its headers are wrong or the request is rejected anyway.
 */
export async function receiveBody(
  request: Request,
  required: boolean,
  isRejectedAnyway = false,
  client?: Client,
): Promise<Body> {
  const flaw = flawOfHeaders(request);
  if (isBodyHeld(request)) {
    if (flaw !== undefined) return { kind: "rejected", violation: flaw };
    if (isRejectedAnyway) return { kind: "held" };
  }
  const bytes = await receiveBytes(request, bodyLimit, client);
  if (bytes === "gone") return { kind: "gone" };
  if (bytes === "too large")
    return { kind: "too large", violation: violation("size", `the body must be at most ${bodyLimit} bytes`) };
  if (bytes.length === 0) {
    if (required) return rejected("required", "the request must have a body: a JSON object");
    // An empty form is still a form.
    return request.headers["content-type"] === undefined || flaw?.rule !== "content_type"
      ? { kind: "object", properties: noProperties, flaws: [] }
      : { kind: "rejected", violation: flaw };
  }
  return flaw === undefined ? parse(bytes) : { kind: "rejected", violation: flaw };
}

/** Returns what the headers say that is wrong with the body; undefined if nothing is. */
function flawOfHeaders({ headers }: Request): Violation | undefined {
  const type = headers["content-type"];
  const media = readMediaType(type);
  if (media === undefined && /^application\/json[ \t]*;/i.test(type ?? ""))
    return violation("content_type", "Content-Type has a malformed or repeated parameter: send application/json alone");
  if (media?.type !== "application/json") return violation("content_type", "Content-Type must be application/json");
  const parameter = foreignParameter(media);
  if (parameter !== undefined)
    return violation("content_type", `Content-Type must not have the parameter ${echoedName(parameter)}`);
  const encoding = headers["content-encoding"];
  return encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity"
    ? undefined
    : violation("content_encoding", "Content-Encoding is not supported: send the body uncompressed");
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
export function receiveBytes(request: Request, limit: number, client?: Client): Promise<ReceivedBytes>;
export function receiveBytes(
  request: Request,
  limit: number,
  client: Client | undefined,
  maxMs: number,
): Promise<ReceivedBytes | "too slow">;
export function receiveBytes(
  request: Request,
  limit: number,
  client?: Client,
  maxMs?: number,
): Promise<ReceivedBytes | "too slow"> {
  // If the client left while the guards ran, no further event reports it.
  if (request.destroyed || request.aborted) return Promise.resolve("gone");
  if (Number(request.headers["content-length"]) > limit) return Promise.resolve("too large");
  requestBody(request);
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
      else void waitForDecodeTurn(size, client).then(() => resolve(collected.bytes()));
    });
    // Before `end`, this means that the client left. After it, the event has no effect.
    request.on("close", () => ended || stop("gone"));
  });
}

/** The size in bytes above which decoding a body may take tens of milliseconds. */
const largeBytes = 32_768;
const parseQueue = createFairQueue(0);

/** What is known of the client of a body. */
export type Client = Pick<Inbound, "address" | "tally">;

/**
 * Resolves when a body of this size may be decoded. In each turn of the event loop, only one large body is decoded.
 * Accounts take turns, and so do the networks of clients whose account is not known.
 */
export function waitForDecodeTurn(size: number, client?: Client): Promise<void> {
  if (size <= largeBytes) return Promise.resolve();
  const lane = client && (client.tally?.account ?? networkOf(client.address));
  return new Promise((resolve) => parseQueue(resolve, lane));
}

function rejected(rule: string, message: string): Body {
  return { kind: "rejected", violation: violation(rule, message) };
}

/** Returns a violation of the body as a whole, which has no field name. */
export function violation(rule: string, message: string): Violation {
  return { field: "", rule, message };
}
