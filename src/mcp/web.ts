// Between node's requests and responses and those of the Fetch standard, which the MCP library speaks.
import { receiveBytes } from "../../gateway/body.ts";
import type { Request as NodeRequest, Response as NodeResponse } from "../http/exchange.ts";

/** A request, and how many messages of JSON-RPC are in it. */
export interface WebRequest {
  readonly request: Request;
  readonly messages: number;
}

/**
 * The request with its body; one that is too large is a byte over the limit, so that who reads it sees that. Undefined
 * when the client has gone.
 */
export async function toWebRequest(request: NodeRequest, url: string, limit: number): Promise<WebRequest | undefined> {
  const received = await receiveBytes(request, limit);
  if (received === "gone") return undefined;
  if (received === "too large") request.resume();
  const body = received === "too large" ? Buffer.alloc(limit + 1) : received;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !name.startsWith(":"))
      headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return { request: new Request(url, { method: request.method ?? "POST", headers, body }), messages: messagesIn(body) };
}

/** The number of messages: one, except for a batch. The library rejects malformed JSON and an empty batch. */
function messagesIn(body: Buffer): number {
  const text = body.toString().trimStart();
  if (!text.startsWith("[")) return 1;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? Math.max(1, parsed.length) : 1;
  } catch {
    return 1;
  }
}

/** Writes a response, piece by piece where it is a stream. */
export async function toResponse(from: Response, to: NodeResponse): Promise<void> {
  const headers: Record<string, string> = Object.fromEntries(from.headers);
  // How the connection continues is node's to say, and nobody's over HTTP/2 (RFC 9113 §8.2.2).
  delete headers["connection"];
  to.writeHead(from.status, { "Cache-Control": "no-store", ...headers });
  if (from.body === null) return void to.end();
  const reader = from.body.getReader();
  to.once("close", () => void reader.cancel().catch(() => undefined));
  for (let part = await reader.read(); !part.done; part = await reader.read()) to.write(part.value);
  to.end();
}
