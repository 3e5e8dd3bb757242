// Converts between Node's requests and responses and those of the Fetch standard, which the MCP library uses.
import { isUtf8 } from "node:buffer";
import { acceptsType } from "../call/negotiation.ts";
import { receiveBytes } from "../http/body.ts";
import { maxLevels } from "../http/json.ts";
import { sanitizeForEcho } from "../text/text.ts";
import type { Request as NodeRequest, Response as NodeResponse } from "../call/exchange.ts";

/** The received body of a request. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** The parsed body; undefined if it is not JSON or is too large. */
  readonly json: unknown;
  /**
   * The number of JSON-RPC messages: 1 unless the body is a batch. An empty batch counts as 1, and the library rejects
   * it.
   */
  readonly messages: number;
}

const notJson = Buffer.from("not UTF-8");

/**
 * Receives the body. Returns undefined if the client has disconnected. Replaces a body that is too large by one a byte
 * over the limit, so that the library rejects it.
 */
export async function receiveMessages(request: NodeRequest, limit: number): Promise<ReceivedBody | undefined> {
  const received = await receiveBytes(request, limit);
  if (received === "gone") return undefined;
  if (received === "too large") {
    request.resume();
    return { bytes: Buffer.alloc(limit + 1), json: undefined, messages: 1 };
  }
  const json = withoutCancellations(parsed(received));
  // The library would replace invalid UTF-8 and then parse the result.
  const bytes = json === undefined && !isUtf8(received) ? notJson : received;
  return { bytes, json, messages: Array.isArray(json) ? Math.max(1, json.length) : 1 };
}

/** The most values in a body. The largest call that makes sense has some twenty. */
const maxValues = 1_000;

/**
 * Returns what is wrong with the size of JSON; undefined if nothing is. The library visits the levels by recursion,
 * which would exhaust the stack, and each value several times.
 */
export function excessOf(json: unknown): string | undefined {
  let left = maxValues;
  function visit(value: unknown, levels: number): string | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    if (levels === 0) return `the body must have at most ${maxLevels} levels of arrays and objects`;
    const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    left -= values.length;
    if (left < 0) return `the body must have at most ${maxValues} values`;
    for (const one of values) {
      const excess = visit(one, levels - 1);
      if (excess !== undefined) return excess;
    }
    return undefined;
  }
  return visit(json, maxLevels);
}

/**
 * Removes cancellations from a batch. One can only refer to a request in the same batch. The library would not respond
 * to that request, and would never end the stream. A server may ignore cancellations (MCP, Cancellation).
 */
function withoutCancellations(json: unknown): unknown {
  if (!Array.isArray(json)) return json;
  const kept = json.filter(
    (one) => (one as { readonly method?: unknown } | null)?.method !== "notifications/cancelled",
  );
  // A batch of cancellations alone is accepted unchanged.
  return kept.length === 0 ? json : kept;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses JSON as the library does, without a byte order mark. Otherwise the mark would hide a batch from us, but not
 * from the library.
 */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** The forms of a response that a client accepts. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly stream: boolean;
}

/** Returns the forms that an `Accept` header names or covers. */
export function acceptedForms(accept: string | undefined): AcceptedForms {
  return { json: acceptsType(accept, jsonType), stream: acceptsType(accept, streamType) };
}

/**
 * Returns the headers with the `Accept` that the library requires: both types by name. A client that accepts only one
 * of them is served in that form.
 */
export function withNamedTypes(
  headers: NodeRequest["headers"],
  { json, stream }: AcceptedForms,
): NodeRequest["headers"] {
  return json || stream ? { ...headers, accept: `${jsonType}, ${streamType}` } : headers;
}

const jsonType = "application/json";
const streamType = "text/event-stream";

/** Returns a stream of responses as JSON: one message, or an array of those of a batch. */
export async function streamAsJson(from: Response, isBatch: boolean): Promise<Response> {
  if (!(from.headers.get("content-type") ?? "").startsWith(streamType)) return from;
  const messages = [...(await from.text()).matchAll(/^data: ?(.+)$/gm)].map(([, data]) => data);
  const headers = new Headers(from.headers);
  headers.set("content-type", jsonType);
  return new Response(isBatch ? `[${messages.join(",")}]` : messages.join(), { status: from.status, headers });
}

/**
 * Returns the JSON without the null members of params. Null counts as absent, but the library would reject the whole
 * message. The JSON must not have too many levels (`excessOf`).
 */
export function withoutNullParams(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutNullParams);
  if (!isObject(json) || !("params" in json)) return json;
  const { params, ...others } = json;
  return params === null ? others : { ...others, params: withoutNulls(params) };
}

function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

/**
 * Returns the rejection of a batch in which two requests have one id; undefined for other JSON. The client could not
 * match the responses, and the library would send only one of them.
 */
export function rejectDuplicateIds(json: unknown): Response | undefined {
  if (!Array.isArray(json)) return undefined;
  const ids = json.flatMap((one) => (isObject(one) && "method" in one && "id" in one ? [one["id"]] : []));
  const id = ids.find((one, at) => ids.indexOf(one) !== at);
  if (id === undefined) return undefined;
  const message = `Two requests of the batch have the id ${sanitizeForEcho(JSON.stringify(id), 100)}. Give each request its own id.`;
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: invalidRequest, message } }, { status: 400 });
}

/** The code of an invalid request (JSON-RPC 2.0 §5.1). */
const invalidRequest = -32_600;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Converts the request. It has a body only if that is not parsed yet: given parsed JSON, the library reads no stream.
 */
export function toWebRequest(
  method: string | undefined,
  sent: NodeRequest["headers"],
  url: string,
  { bytes, json }: ReceivedBody,
): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) {
    if (value !== undefined && !name.startsWith(":"))
      headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const body = json === undefined ? { body: bytes } : {};
  return new Request(url, { method: method ?? "POST", headers, ...body });
}

/** Writes a response, chunk by chunk if it is a stream, and ends it after `maxMs` milliseconds at the latest. */
export async function toResponse(from: Response, to: NodeResponse, maxMs: number): Promise<void> {
  const headers: Record<string, string> = Object.fromEntries(from.headers);
  // Node manages the connection, and HTTP/2 forbids the header (RFC 9113 §8.2.2).
  delete headers["connection"];
  to.writeHead(from.status, { "Cache-Control": "no-store", ...headers });
  if (from.body === null) return void to.end();
  const reader = from.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, maxMs);
  to.once("close", () => {
    clearTimeout(timer);
    cancel();
  });
  for (let part = await reader.read(); !part.done; part = await reader.read()) to.write(part.value as Uint8Array);
  to.end();
}
