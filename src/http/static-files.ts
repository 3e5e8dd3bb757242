// Serves static files: their methods, their validators, and their compressed encodings.
import { createHash } from "node:crypto";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { recordSize } from "../large/sending.ts";
import type { Request, Response } from "../call/exchange.ts";
import { chooseCoding, matchesTag } from "../call/negotiation.ts";
import { withTimeout } from "../call/time-limit.ts";

/** The encodings of a file. `identity` is the uncompressed file. */
type Encoding = "br" | "gzip" | "identity";

/** A file to serve. */
export interface StaticFile {
  readonly type: string;
  /** The first 22 characters of the SHA-256 in base64url. */
  readonly hash: string;
  /** Returns the body. Each encoding is created on its first request, and cached. */
  encoded(encoding: Encoding): Promise<Buffer>;
}

/** A file with its hash in its path. Clients cache it permanently, and get it compressed. */
export interface HashedFile extends StaticFile {
  readonly path: string;
}

/** Sends a large body once few enough are being sent. Fails if too many wait, or if the client leaves meanwhile. */
export type SendLarge = (send: () => Promise<void>) => Promise<void>;

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The compressed encodings, the smallest first. */
const smallerEncodings = ["br", "gzip"] as const satisfies readonly Encoding[];
/** The Brotli quality. Above it, a file of 4 MB takes several times as long, and is hardly smaller. */
const quality = 6;
/** The size from which a body counts as large. */
const largeBytes = 262_144;
const slowMs = 5_000;

/** Creates the file of this name and content. */
export function staticFile(
  name: string,
  body: Buffer,
  type = types[extname(name)] ?? "application/octet-stream",
): StaticFile {
  const made = new Map<Encoding, Promise<Buffer>>([["identity", Promise.resolve(body)]]);
  return {
    type,
    hash: createHash("sha256").update(body).digest("base64url").slice(0, 22),
    encoded(encoding) {
      const known = made.get(encoding);
      if (known !== undefined) return known;
      const making = encoding === "br" ? compressBrotli(body) : promisify<Buffer, Buffer>(gzip)(body);
      made.set(encoding, making);
      making.catch(() => made.delete(encoding));
      return making;
    },
  };
}

/**
 * Returns whether to serve a request, by its method. Responds to OPTIONS itself. Fails with METHOD_NOT_ALLOWED for
 * methods other than `method`; GET includes HEAD.
 */
export function acceptMethod(request: Request, response: Response, method: "GET" | "POST" = "GET"): boolean {
  const allow = method === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
  if (request.method === "OPTIONS") response.writeHead(204, { Allow: allow }).end();
  else if (request.method !== method && !(request.method === "HEAD" && method === "GET"))
    fail(Reason.METHOD_NOT_ALLOWED, { allow });
  return request.method !== "OPTIONS";
}

/** Responds to GET with a body that clients must not store, and to HEAD with its headers. */
export function sendText(
  request: Request,
  response: Response,
  headers: Record<string, string>,
  text: string | Buffer,
): void {
  send(request, response, { ...headers, "Content-Length": Buffer.byteLength(text), "Cache-Control": "no-store" }, text);
}

/** Serves the file, which the client must revalidate each time; 304 if the client has it. */
export async function sendFile(request: Request, response: Response, file: StaticFile): Promise<void> {
  await sendWith(request, response, file, "identity", { "Cache-Control": "no-cache", ETag: `"${file.hash}"` });
}

/** Serves the file in the best encoding that the client accepts; 304 if the client has it. */
export async function sendHashed(
  request: Request,
  response: Response,
  file: HashedFile,
  sendLarge: SendLarge,
): Promise<void> {
  await sendEncoded(request, response, file, "public, max-age=31536000, immutable", sendLarge);
}

/** Serves a document as `sendHashed` does, but the client must revalidate it each time. */
export async function sendDocument(request: Request, response: Response, file: StaticFile): Promise<void> {
  await sendEncoded(request, response, file, "no-cache");
}

async function sendEncoded(
  request: Request,
  response: Response,
  file: StaticFile,
  cacheControl: string,
  sendLarge?: SendLarge,
): Promise<void> {
  const encoding = chooseCoding(request.headers["accept-encoding"]?.toString(), smallerEncodings);
  const headers = {
    "Cache-Control": cacheControl,
    ETag: `"${file.hash}-${encoding}"`,
    Vary: [response.getHeader("Vary"), "Accept-Encoding"].filter(Boolean).join(", "),
  };
  await sendWith(request, response, file, encoding, headers, sendLarge);
}

async function sendWith(
  request: Request,
  response: Response,
  { type, encoded }: StaticFile,
  encoding: Encoding,
  headers: Record<string, string> & { readonly ETag: string },
  sendLarge?: SendLarge,
): Promise<void> {
  if (matchesTag(request.headers["if-none-match"], headers.ETag)) return void response.writeHead(304, headers).end();
  const body = await encoded(encoding);
  const coded = encoding === "identity" ? {} : { "Content-Encoding": encoding };
  const all = { ...headers, ...coded, "Content-Type": type, "Content-Length": body.length };
  if (sendLarge === undefined || body.length < largeBytes || request.method === "HEAD")
    return send(request, response, all, body);
  await sendLarge(() => {
    send(request, response, all, body);
    return untilSent(response);
  });
}

function send(
  request: Request,
  response: Response,
  headers: Record<string, string | number>,
  body: Buffer | string,
): void {
  recordSize(response, Buffer.byteLength(body));
  response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : body);
}

/** Resolves when the response closes, or after 5 seconds if the client is slow. */
function untilSent(response: Response): Promise<void> {
  return withTimeout(slowMs, new Promise((resolve) => response.once("close", resolve)));
}

function compressBrotli(body: Buffer): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  return promisify(brotliCompress)(body, { params });
}
