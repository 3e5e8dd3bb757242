// The API reference on the public listener: its page at /docs, and the files that the page requests.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { writeFailure } from "../../gateway/response.ts";
import { fail, failureOf } from "../errors.ts";
import type { Request, Response } from "../call/exchange.ts";
import type { Surface } from "../http/public.ts";
import { isToServe, sendHashed, sendText } from "../http/static-files.ts";
import type { OnError } from "../call/dispatch.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Assets } from "./assets.ts";
import { assetFolder, readAssets } from "./assets.ts";
import { referencePage } from "./page.ts";

/** Its dependencies. */
export interface ReferenceDependencies {
  readonly baseUrl: () => string;
  /** Throttles a request; fails with RATE_LIMITED. */
  readonly throttle: (inbound: Inbound) => Promise<void>;
  /** Sends a large body when few enough are being sent; fails where too many wait, or the client left meanwhile. */
  readonly sendLarge: (send: () => Promise<void>, limits: Inbound["limits"]) => Promise<void>;
  readonly onError: OnError;
}

const pagePath = "/docs";

/** The surface. Its files are read when the first of them is requested. */
export function createReference({ baseUrl, throttle, sendLarge, onError }: ReferenceDependencies): Surface {
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
    const asset = Object.values(files).find((one) => one.path === path);
    if (asset === undefined && path !== pagePath) fail(Reason.UNKNOWN_PATH);
    if (!isToServe(request, response)) return;
    if (asset !== undefined) return sendHashed(request, response, asset, (send) => sendLarge(send, inbound.limits));
    sendText(request, response, pageHeaders, referencePage(files, baseUrl()));
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
  "Content-Security-Policy": policies.join("; "),
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
};
