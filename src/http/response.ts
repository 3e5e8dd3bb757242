// Writes REST responses: `data` for a success, `error` for a failure (contract §2.5, §2.6, §2.9).
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { HeadResponse, Response as ServerResponse } from "../call/exchange.ts";
import type { Failure } from "../call/errors.ts";
import type { Request, Response } from "./node-http.ts";
import { table } from "./route.ts";

/** Returns the REST body of a success, byte for byte as the gateway sends it. Throws if the rpc has no REST route. */
export type RenderBody = (rpc: DescMethodUnary, message: Message) => string;

/**
 * Creates the renderer of REST bodies. `documentProvider` is the value of `<provider>` in `<provider>_doc_url`
 * (contract §2.10).
 */
export function createRenderBody(documentProvider: string): RenderBody {
  const rows = new Map(table.map((route) => [route.rpc, route]));
  return (rpc, message) => {
    const route = rows.get(rpc);
    if (route === undefined) throw new Error(`${rpc.parent.typeName}.${rpc.name} has no REST route`);
    return JSON.stringify(route.write(message, documentProvider));
  };
}

/** Sets the status and the headers of a JSON body of `length` bytes. The caller then writes the body. */
export function setJsonHead(response: Response, status: number, length: number): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("Content-Length", length);
}

/** Writes a JSON body. For HEAD, node sends only the headers. */
export function writeJson(response: Response, status: number, body: string): void {
  setJsonHead(response, status, Buffer.byteLength(body));
  endWith(response, body);
}

/**
 * Writes a body whose headers are set. Writes a text at once. Writes pieces one by one, no faster than the client reads
 * them.
 */
export async function writeBody(
  { socket, method }: Request,
  response: Response,
  body: string | readonly Uint8Array[],
): Promise<void> {
  // For HEAD, HTTP/2 ends the stream with the headers, so that nothing would ever read a written body.
  if (method === "HEAD") return void response.end();
  const [only, another] = typeof body === "string" ? [body] : body;
  if (only !== undefined && another === undefined) return endWith(response, only);
  for (const piece of body) {
    const isTaken = response.write(piece);
    if (response.stream?.destroyed ?? socket.destroyed) return;
    if (isTaken === false) await drained(response);
  }
  response.end();
}

/** Writes a response that is known from the head of its request. */
export function writeWhole(response: ServerResponse, { status, headers, body }: HeadResponse): void {
  if (body !== undefined) {
    response.writeHead(status, headers);
    return endWith(response, body);
  }
  // A gRPC status must end the stream with its headers: after `writeHead`, Node would send an empty DATA frame.
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end();
}

/** Writes a whole body and ends the response. */
export function endWith(response: Response, body: string | Uint8Array): void {
  if (response.stream !== undefined) return void response.end(body);
  // In HTTP/1.1, `end(body)` joins the head, the body and an empty piece, which costs more than a single piece.
  response.write(body);
  response.uncork();
  response.end();
}

/** Resolves when the client has read the written data, or has left. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.removeListener("drain", settle);
      response.removeListener("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
  });
}

/** Writes the envelope of a failure with the headers of its status. Does nothing if a response has already begun. */
export function writeFailure(response: Response, failure: Failure): void {
  if (response.headersSent) return;
  setFailureHeaders(response, failure);
  writeJson(response, failure.kind.http, failureEnvelope(failure));
}

/** Returns the headers that a failure has in addition to those of its body. */
export function failureHeaders({ kind, retryAfterSeconds = 1, allow }: Failure): [string, string][] {
  return [
    ...(kind.http === 401 ? [["WWW-Authenticate", "Bearer"] as [string, string]] : []),
    ...(kind.http === 429 ? [["Retry-After", String(retryAfterSeconds)] as [string, string]] : []),
    ...(allow === undefined ? [] : [["Allow", allow] as [string, string]]),
  ];
}

/** Sets the headers that a failure has in addition to those of its body. */
export function setFailureHeaders(response: Response, failure: Failure): void {
  for (const [name, value] of failureHeaders(failure)) response.setHeader(name, value);
}

/**
 * Returns the body of a failure: `{"error":{"code":"422","message":"…","reason":"INVALID_REQUEST","details":[…]}}`.
 * `details` is present only if there are violations (contract §2.5).
 */
export function failureEnvelope({ kind, message, reasonName: reason, violations }: Failure): string {
  const details = violations.map(({ field, rule, message, contactId }) => ({
    field,
    rule,
    message,
    ...(contactId !== undefined && { contact_id: contactId }),
  }));
  const error = { code: String(kind.http), message, reason, ...(details.length > 0 && { details }) };
  return JSON.stringify({ error });
}
