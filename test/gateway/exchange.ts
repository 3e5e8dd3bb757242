// Fakes of a request and its response, which record what is done to them.
import { EventEmitter } from "node:events";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { createGateway } from "../../gateway/handler.ts";
import type { Inbound, RpcResponse } from "../../src/call/dispatch.ts";
import { rejectInput } from "../../src/call/errors.ts";
import type { Version } from "./gateway.ts";

/** Returns a request without a body, and its response. `socket` and `stream` can be changed by the test. */
export function createExchange(version: Version, { method = "GET", url = "/", acceptEncoding = "" } = {}) {
  /** What is done to the response and its stream, in order: `["write", "{}"]`, `["end"]`, `["close"]`. */
  const calls: string[][] = [];
  const headers: Record<string, string | number> = {};
  const socket = { destroyed: false, pause: () => undefined, resume: () => undefined };
  const stream = Object.assign(new EventEmitter(), {
    destroyed: false,
    writableFinished: false,
    close: () => void calls.push(["close"]),
  });
  const request = Object.assign(new EventEmitter(), {
    method,
    url,
    httpVersionMajor: version === "HTTP/2" ? 2 : 1,
    headers: { "accept-encoding": acceptEncoding },
    aborted: false,
    destroyed: false,
    socket,
    resume: () => undefined,
  });
  const response = Object.assign(new EventEmitter(), {
    headersSent: false,
    statusCode: 0,
    getHeader: (name: string) => headers[name],
    setHeader: (name: string, value: string | number) => void (headers[name] = value),
    write(piece: string | Uint8Array) {
      calls.push(["write", Buffer.from(piece).toString()]);
      return true;
    },
    uncork: () => void calls.push(["uncork"]),
    end: (body?: string | Uint8Array) =>
      void calls.push(body === undefined ? ["end"] : ["end", Buffer.from(body).toString()]),
    ...(version === "HTTP/2" && { stream }),
  });
  return { request, response, socket, stream, calls, headers };
}

/** Serves the request of an exchange. `invoke` is the service behind the gateway. */
export function serve(
  { request, response }: Pick<ReturnType<typeof createExchange>, "request" | "response">,
  invoke: (rpc: DescMethodUnary) => RpcResponse,
  known: Partial<Inbound> = {},
): Promise<void> {
  const gateway = createGateway({
    documentProvider: "google",
    onError: () => undefined,
    dispatch: {
      throttle: async () => undefined,
      admit: async (rpc) => ({
        invoke: async () => invoke(rpc),
        reject: async (found) => rejectInput(found),
        prove: async () => undefined,
        headViolations: () => [],
      }),
    },
  });
  const inbound = { header: () => undefined, address: "127.0.0.1", requestId: "r1", arrivedAt: 0 };
  return gateway(request, response, { ...inbound, ...known });
}
