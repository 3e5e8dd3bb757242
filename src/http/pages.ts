// Pages and the files that they request, which are all created on the first request.
import { splitTarget } from "./query.ts";
import type { Failure } from "../call/errors.ts";
import { fail, failureOf } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import { loadOnce } from "../call/load-once.ts";
import type { HashedFile } from "./static-files.ts";
import { acceptMethod, sendHashed, sendText } from "./static-files.ts";

/** Pages and files by path. */
export interface Pages {
  /** Returns the HTML of a page; undefined if there is no page at the path. */
  page(path: string): string | undefined;
  /** Returns a file that the pages request; undefined if there is no file at the path. */
  file(path: string): HashedFile | undefined;
}

/** Dependencies of a surface of pages. */
export interface PageDependencies {
  readonly baseUrl: () => string;
  /** Throttles a request. Fails with RATE_LIMITED. */
  readonly throttle: (inbound: Inbound) => Promise<void>;
  /** Sends a large body once few enough are being sent. Fails if too many wait, or if the client leaves meanwhile. */
  readonly sendLarge: (send: () => Promise<void>, inbound: Inbound) => Promise<void>;
  /** Responds to a failed request, with a page for a browser and the envelope for a program. */
  readonly reject: (request: Request, response: Response, inbound: Inbound, failure: Failure) => void;
}

/** Redirects a request for a page with a slash after its path, which people type. */
function redirect(request: Request, response: Response, path: string): void {
  if (!acceptMethod(request, response)) return;
  const { query } = splitTarget(request.url ?? "");
  const location = query === "" ? path : `${path}?${query}`;
  response.writeHead(308, { Location: location, "Cache-Control": "no-store" }).end();
}

/** Returns the handler of requests for pages and files. `policies` is the Content-Security-Policy of the pages. */
export function handlePages(
  load: () => Promise<Pages>,
  policies: readonly string[],
  { throttle, sendLarge, reject }: PageDependencies,
): Surface["handle"] {
  const pageHeaders = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policies.join("; "),
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
  const pages = loadOnce(load);

  return async (path, request, response, inbound) => {
    request.resume();
    try {
      await throttle(inbound);
      const { page, file } = await pages.get();
      const whole = path.replace(/\/$/, "");
      if (whole !== path && page(whole) !== undefined) return redirect(request, response, whole);
      const text = page(path);
      const asset = text === undefined ? file(path) : undefined;
      if (text === undefined && asset === undefined) fail(Reason.UNKNOWN_PATH);
      if (!acceptMethod(request, response)) return;
      if (asset === undefined) sendText(request, response, pageHeaders, text ?? "");
      else await sendHashed(request, response, asset, (send) => sendLarge(send, inbound));
    } catch (error) {
      reject(request, response, inbound, failureOf(error));
    }
  };
}
