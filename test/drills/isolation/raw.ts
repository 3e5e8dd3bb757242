// Sends an HTTP request and returns the raw response: status, every header and trailer, every byte of the body.
import type { OutgoingHttpHeaders } from "node:http";
import { Agent, request } from "node:http";
import { http2Call } from "../../fixtures/clients/http2-call.ts";

export interface Sent {
  readonly base: string;
  readonly method: string;
  readonly path: string;
  /** Bytes in latin1. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

export interface RawResponse {
  readonly status: number;
  /** Sorted `name: value` lines including trailers, without those that depend on the time or the connection. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const volatileHeaders = new Set(["date", "connection", "keep-alive"]);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

export function send(
  base: string,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: string | Uint8Array,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(
      base + path,
      {
        method,
        agent,
        headers: {
          "x-request-id": "drill",
          ...headers,
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: lines({ ...response.headers, ...response.trailers }),
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

export async function sendHttp2({ base, method, path, headers, body }: Sent): Promise<RawResponse> {
  const sent = { ":method": method, ":path": path, "x-request-id": "drill", ...headers };
  const { status, headers: received, bytes } = await http2Call(base, sent, body);
  return { status, headers: lines(received), body: bytes };
}

/** Retries the request if the service was too busy to respond. */
export async function patiently(request: () => Promise<RawResponse>): Promise<RawResponse> {
  for (let left = 5; ; left--) {
    const response = await request();
    const busy =
      response.status === 503 ||
      response.headers.includes("grpc-status: 14") ||
      /grpc-status: 14|could not respond in time/.test(response.body.toString("latin1"));
    if (!busy || left === 0) return response;
  }
}

export function closeConnections(): void {
  agent.destroy();
}

function lines(headers: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => !volatileHeaders.has(name))
    .map(([name, value]) => `${name}: ${String(value)}`)
    .sort();
}
