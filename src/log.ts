// The log: one line of JSON for every request, by an allow-list of fields; no query, no body, no secret.
import type { Logger } from "pino";
import { pino } from "pino";
import type { LogLevel } from "./config.ts";
import type { Request, Response } from "./http/listener.ts";
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

/** The path with ids taken out; of an unknown one nothing, for it may hold anything. */
function routeOf(request: Request, status: number): string {
  const path = pathOf(request);
  if (status === 404 && !ids.test(path)) return "-";
  return path.replace(ids, "{id}").slice(0, 100);
}

const ids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
