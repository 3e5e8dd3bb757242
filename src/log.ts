// The log: one line of JSON for every request, by an allow-list of fields; no query, no body, no secret.
import type { Logger } from "pino";
import { pino } from "pino";
import type { LogLevel } from "./config.ts";
import { routes } from "./gen/rest.ts";
import type { RefusedStatus, Request, Response } from "./http/listener.ts";
import { pathOf } from "./http/inbound.ts";
import type { Inbound } from "./rpc/dispatch.ts";

/** A log that writes to standard output. */
export function createLog(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}

/** Writes the line of a request when it is over. */
export function logRequest(log: Logger, listener: "public" | "internal"): (request: Request, response: Response, inbound: Inbound) => void {
  return (request, response, inbound) => {
    if (!log.isLevelEnabled("info")) return;
    response.once("close", () => {
      const ms = Math.round((performance.now() - inbound.arrivedAt) * 10) / 10;
      // 499: the client left before its answer was ready.
      const status = response.writableFinished ? response.statusCode : 499;
      log.info({ id: inbound.requestId, listener, method: request.method, route: routeOf(request, status), status, ms }, "request");
    });
  };
}

/** Writes the line of a message that the HTTP parser refused: there is no request to tell of. */
export function logRefused(log: Logger, listener: "public" | "internal"): (status: RefusedStatus, requestId: string) => void {
  return (status, id) => log.info({ id, listener, status }, "refused");
}

/** The path without anything that a caller may choose; of an unknown one nothing, for it may hold anything. */
function routeOf(request: Request, status: number): string {
  const path = pathOf(request);
  if (path === "/v1" || path.startsWith("/v1/")) return path.slice(0, 200).split("/").map((part) => (part === "" || words.has(part) ? part : "{id}")).join("/");
  return status === 404 || !known.test(path) ? "-" : path;
}

const words = new Set(routes.flatMap(({ template }) => template.split("/").filter((part) => !part.startsWith("{"))));
/** Rpcs, documents, probes, and the dashboard's pages and assets. */
const known = /^\/((records|grpc)\.[\w.]{1,60}\/\w{1,40}|([a-z-]{1,20}(\/[a-z-]{1,20})?(\.[a-z]{2,4})?)?)$/;
