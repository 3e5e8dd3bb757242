// The API reference on the public listener: its page at /docs, and the files that the page asks for.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { writeFailure } from "../../gateway/response.ts";
import { fail, failureOf } from "../errors.ts";
import type { Request, Response } from "../http/exchange.ts";
import { chooseCoding, matchesTag } from "../http/negotiation.ts";
import type { Surface } from "../http/public.ts";
import type { OnError } from "../rpc/dispatch.ts";
import type { Inbound } from "../rpc/dispatch.ts";
import type { Asset, Assets } from "./assets.ts";
import { assetFolder, readAssets, smallerEncodings } from "./assets.ts";
import { referencePage } from "./page.ts";

/** What the surface is made of. */
export interface ReferenceParts {
  readonly baseUrl: () => string;
  /** Throttles a request; fails with RATE_LIMITED. */
  readonly throttle: (inbound: Inbound) => Promise<void>;
  /** Sends a large body when few enough are being sent; fails where too many wait, or the client left meanwhile. */
  readonly sendLarge: (send: () => Promise<void>, limits: Inbound["limits"]) => Promise<void>;
  readonly onError: OnError;
}

const pagePath = "/docs";
/** The size from which a body counts as large. */
const largeBytes = 262_144;
const slowMs = 5_000;
const allow = "GET, HEAD, OPTIONS";

/** The surface. Its files are read when the first of them is asked for. */
export function createReference({ baseUrl, throttle, sendLarge, onError }: ReferenceParts): Surface {
  let reading: Promise<Assets> | undefined;

  function assets(): Promise<Assets> {
    reading ??= readAssets().catch((error: unknown) => {
      // The next request tries again.
      reading = undefined;
      throw error;
    });
    return reading;
  }

  async function serve(path: string, request: Request, response: Response, inbound: Inbound): Promise<void> {
    await throttle(inbound);
    const files = await assets();
    const asset = Object.values(files).find((one: Asset) => one.path === path);
    if (asset === undefined && path !== pagePath) fail(Reason.UNKNOWN_PATH);
    if (request.method === "OPTIONS") return void response.writeHead(204, { Allow: allow }).end();
    if (request.method !== "GET" && request.method !== "HEAD") fail(Reason.METHOD_NOT_ALLOWED, { allow });
    if (asset !== undefined) return sendAsset(request, response, asset, (send) => sendLarge(send, inbound.limits));
    const page = Buffer.from(referencePage(files, baseUrl()));
    send(request, response, { ...pageHeaders, "Content-Length": page.length }, page);
  }

  return {
    serves: (path) => path === pagePath || path.startsWith(assetFolder),
    routeOf: (path) => (path === pagePath ? path : `${assetFolder}{asset}`),
    async handle(path, request, response, inbound) {
      request.resume();
      try {
        await serve(path, request, response, inbound);
      } catch (error) {
        const failure = failureOf(error);
        onError(failure, inbound);
        if (!response.headersSent) writeFailure(response, failure);
      }
    },
  };
}

/** The renderer sets styles from its script, and shows what it fetched as pictures and downloads. */
const policies = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": policies.join("; "),
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
};

async function sendAsset(
  request: Request,
  response: Response,
  asset: Asset,
  sendLarge: (send: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const encoding = chooseCoding(request.headers["accept-encoding"]?.toString(), smallerEncodings);
  const headers = {
    "Cache-Control": "public, max-age=31536000, immutable",
    ETag: `"${asset.hash}-${encoding}"`,
    Vary: [response.getHeader("Vary"), "Accept-Encoding"].filter(Boolean).join(", "),
  };
  if (matchesTag(request.headers["if-none-match"], headers.ETag)) return void response.writeHead(304, headers).end();
  const body = await asset.encoded(encoding);
  const coded = encoding === "identity" ? {} : { "Content-Encoding": encoding };
  const all = { ...headers, ...coded, "Content-Type": asset.type, "Content-Length": body.length };
  const sendIt = (): void => send(request, response, all, body);
  if (body.length < largeBytes || request.method === "HEAD") return sendIt();
  await sendLarge(() => {
    sendIt();
    return untilSent(response);
  });
}

/** Resolves when the response closes, or after 5 seconds where the client is slow. */
function untilSent(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, slowMs);
    response.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function send(request: Request, response: Response, headers: Record<string, string | number>, body: Buffer): void {
  response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : body);
}
