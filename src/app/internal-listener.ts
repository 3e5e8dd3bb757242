// Request handlers of the internal listener: rpcs, other surfaces, liveness, readiness and metrics.
import { randomUUID } from "node:crypto";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { writeFailure } from "../http/response.ts";
import { Failure, failureOf } from "../call/errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { cancellationOf } from "../http/cancellation.ts";
import { contentHeaders, setHeaders } from "../http/headers.ts";
import { acceptMethod } from "../http/static-files.ts";
import { inboundOf, pathOf, requireValidHead } from "../http/inbound.ts";
import { reject } from "./reject.ts";
import type { ListenerOptions, Request, Response } from "../call/exchange.ts";
import type { Surfaces } from "./public-listener.ts";
import { rejection } from "./public-listener.ts";
import { isForRpc, requireServerOptions, writeUnservedFailure } from "./unserved.ts";

/** The values that the probes report. */
export interface Probes {
  /** Returns whether the start is complete, the instance is not stopping, and MongoDB is reachable. */
  ready(): boolean;
  /** Returns whether each dependency is reachable, for the body of `/readyz`. */
  dependencies(): Readonly<Record<string, boolean>>;
  /** Returns why requests cannot be served; undefined if no reason is known. */
  reason(): string | undefined;
  /** Returns the metrics in Prometheus's text format. */
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
}

/** The surfaces of the internal listener. */
export interface InternalSurfaces extends Surfaces {
  readonly probes: Probes;
}

/** Returns the request handlers of the internal listener. */
export function internalOptions({
  rpc,
  others,
  probes,
  onError,
  log,
  logRejected,
  onLimit,
}: InternalSurfaces): ListenerOptions {
  function begin(request: Request, response: Response) {
    const path = pathOf(request);
    const surface = [rpc, ...others].find((one) => one.serves(path));
    const inbound = inboundOf(request, 0, { cancellation: cancellationOf(response) });
    response.setHeader("X-Request-Id", inbound.requestId);
    setHeaders(response, contentHeaders);
    log(request, response, inbound);
    if (surface !== undefined) observe(inbound, { route: path });
    const isServed = surface !== undefined || probePaths.has(path);
    return { path, surface, inbound, isRpc: isForRpc(request, { path, surface, isServed }, rpc) };
  }

  return {
    peersAreClients: false,
    onLimit,
    handle(request, response) {
      const { path, surface, inbound, isRpc } = begin(request, response);
      try {
        requireValidHead(request);
      } catch (error) {
        return reject(request, response, failureOf(error), { inbound, isRpc });
      }
      if (surface !== undefined) return void surface.handle(path, request, response, inbound);
      // Set only now, because most probes are not logged, and every rejected request is.
      if (probePaths.has(path)) observe(inbound, { route: path });
      request.resume();
      try {
        if (!probePaths.has(path)) return requireServerOptions(path, request, response);
        if (!acceptMethod(request, response)) return;
      } catch (error) {
        return writeUnservedFailure(request, response, failureOf(error), inbound);
      }
      void serveProbe(path, response, probes, inbound).catch((error: unknown) => {
        const failure = failureOf(error);
        onError(failure, inbound);
        writeFailure(response, failure);
      });
    },
    rejectMessage(status, message) {
      const requestId = randomUUID();
      logRejected(status, requestId);
      return rejection(status, requestId, contentHeaders, message);
    },
    rejectExpectation(request, response) {
      reject(request, response, new Failure(Reason.EXPECTATION_FAILED), begin(request, response));
    },
    // No limit, because an import lasts as long as its sender needs.
    rejectSlow: undefined,
  };
}

const probePaths = new Set(["/livez", "/readyz", "/metrics"]);

/** Serves `/livez`, `/readyz` or `/metrics`. */
async function serveProbe(path: string, response: Response, probes: Probes, inbound: Inbound): Promise<void> {
  if (path === "/livez")
    return reply(response, 200, "application/json; charset=utf-8", JSON.stringify({ status: "ok" }));
  if (path === "/readyz") {
    const ready = probes.ready();
    const reason = ready ? undefined : probes.reason();
    if (reason !== undefined) observe(inbound, { cause: reason });
    const body = { status: ready ? "ok" : "unavailable", ...probes.dependencies(), reason };
    return reply(response, ready ? 200 : 503, "application/json; charset=utf-8", JSON.stringify(body));
  }
  const { type, text } = await probes.metrics();
  return reply(response, 200, type, text);
}

function reply(response: Response, status: number, type: string, body: string): void {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body);
}
