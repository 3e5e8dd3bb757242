// The guide on the public listener: its pages under /guide, and the files that they request.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { writeFailure } from "../../gateway/response.ts";
import { fail, failureOf } from "../errors.ts";
import type { Request, Response } from "../call/exchange.ts";
import type { Surface } from "../http/public.ts";
import { isToServe, sendHashed, sendText } from "../http/static-files.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import type { Guide } from "./guide.ts";

/** Its dependencies. */
export interface GuideDependencies {
  readonly baseUrl: () => string;
  /** Throttles a request; fails with RATE_LIMITED. */
  readonly throttle: (inbound: Inbound) => Promise<void>;
  /** Sends a large body when few enough are being sent; fails where too many wait, or the client left meanwhile. */
  readonly sendLarge: (send: () => Promise<void>, limits: Inbound["limits"]) => Promise<void>;
  readonly onError: OnError;
}

const root = "/guide";

/** The surface. Its sources are read when the first page is requested. */
export function createGuide({ baseUrl, throttle, sendLarge, onError }: GuideDependencies): Surface {
  let opening: Promise<Guide> | undefined;

  function guide(): Promise<Guide> {
    opening ??= import("./guide.ts")
      .then(({ openGuide }) => openGuide(baseUrl()))
      .catch((error: unknown) => {
        // The next request tries again.
        opening = undefined;
        throw error;
      });
    return opening;
  }

  async function serve(path: string, request: Request, response: Response, inbound: Inbound): Promise<void> {
    await throttle(inbound);
    const { page, file } = await guide();
    const text = page(path);
    const asset = text === undefined ? file(path) : undefined;
    if (text === undefined && asset === undefined) fail(Reason.UNKNOWN_PATH);
    if (!isToServe(request, response)) return;
    if (asset !== undefined) return sendHashed(request, response, asset, (send) => sendLarge(send, inbound.limits));
    sendText(request, response, pageHeaders, text ?? "");
  }

  return {
    serves: (path) => path === root || path.startsWith(`${root}/`),
    routeOf: (path) => (path === root ? path : /^\/guide\/[a-z-]+$/.test(path) ? `${root}/{page}` : `${root}/{asset}`),
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

const policies = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
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
