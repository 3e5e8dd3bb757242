// Converts between Node's requests and responses and those of the Fetch standard, which the MCP library uses.
import { isUtf8 } from "node:buffer";
import { acceptsType } from "../call/negotiation.ts";
import { receiveBytes } from "../../gateway/body.ts";
import { maxLevels } from "../../gateway/json.ts";
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

/**
 * Returns the headers with an `Accept` that the library understands: it looks for two type names, and for no ranges.
 */
export function withNamedTypes(headers: NodeRequest["headers"]): NodeRequest["headers"] {
  const acceptsBoth = responseTypes.every((type) => acceptsType(headers.accept, type));
  return acceptsBoth ? { ...headers, accept: responseTypes.join(", ") } : headers;
}

const responseTypes = ["application/json", "text/event-stream"];

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
