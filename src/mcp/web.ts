// Between node's requests and responses and those of the Fetch standard, which the MCP library speaks.
import { isUtf8 } from "node:buffer";
import { acceptsType } from "../call/negotiation.ts";
import { receiveBytes } from "../../gateway/body.ts";
import type { Request as NodeRequest, Response as NodeResponse } from "../call/exchange.ts";

/** The body of a request. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** What it says; undefined where it is no JSON, or too large. */
  readonly json: unknown;
  /** How many messages of JSON-RPC are in it: one, except for a batch. The library rejects an empty batch. */
  readonly messages: number;
}

const notJson = Buffer.from("not UTF-8");

/**
 * Receives the body; one that is too large is a byte over the limit, so that who reads it sees that. Undefined when the
 * client has gone.
 */
export async function receiveMessages(request: NodeRequest, limit: number): Promise<ReceivedBody | undefined> {
  const received = await receiveBytes(request, limit);
  if (received === "gone") return undefined;
  if (received === "too large") {
    request.resume();
    return { bytes: Buffer.alloc(limit + 1), json: undefined, messages: 1 };
  }
  const json = withoutCancellations(parsed(received));
  // The library would replace bytes that are not UTF-8, and read what is no JSON then.
  const bytes = json === undefined && !isUtf8(received) ? notJson : received;
  return { bytes, json, messages: Array.isArray(json) ? Math.max(1, json.length) : 1 };
}

/**
 * A batch without cancellations: one can only mean a request beside it, which the library would leave without its
 * response, and the stream of the batch without an end. A server may ignore them (MCP, Cancellation).
 */
function withoutCancellations(json: unknown): unknown {
  if (!Array.isArray(json)) return json;
  const kept = json.filter(
    (one) => (one as { readonly method?: unknown } | null)?.method !== "notifications/cancelled",
  );
  // One of cancellations alone is accepted as it is.
  return kept.length === 0 ? json : kept;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** As the library reads it: without a byte order mark, which would hide a batch from us and not from the library. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** The headers with an `Accept` that the library understands: it looks for the names of two types, and no ranges. */
export function withNamedTypes(headers: NodeRequest["headers"]): NodeRequest["headers"] {
  const acceptsBoth = responseTypes.every((type) => acceptsType(headers.accept, type));
  return acceptsBoth ? { ...headers, accept: responseTypes.join(", ") } : headers;
}

const responseTypes = ["application/json", "text/event-stream"];

/** The request, with a body only where that is not parsed yet: given a parsed one, the library reads no stream. */
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

/** Writes a response, piece by piece where it is a stream, and ends it after `longestMs` where that has not ended. */
export async function toResponse(from: Response, to: NodeResponse, longestMs: number): Promise<void> {
  const headers: Record<string, string> = Object.fromEntries(from.headers);
  // How the connection continues is node's to say, and nobody's over HTTP/2 (RFC 9113 §8.2.2).
  delete headers["connection"];
  to.writeHead(from.status, { "Cache-Control": "no-store", ...headers });
  if (from.body === null) return void to.end();
  const reader = from.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, longestMs);
  to.once("close", () => {
    clearTimeout(timer);
    cancel();
  });
  for (let part = await reader.read(); !part.done; part = await reader.read()) to.write(part.value as Uint8Array);
  to.end();
}
