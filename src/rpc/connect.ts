// Serves Connect, gRPC and gRPC-Web over the chain of guards: finds the handler of an rpc's path, and rejects
// unsupported requests.
import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { ConnectError, createConnectRouter } from "@connectrpc/connect";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { writeFailure } from "../../gateway/response.ts";
import { failureOf } from "../errors.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import type { Dispatch, Inbound, StreamDispatch, OnError } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { reportErrors, servedCall } from "./library-errors.ts";
import { allowOf, protocolOf } from "./protocol.ts";
import { routerOptions } from "./router-options.ts";
import { createStreamSurface } from "./streams.ts";
import { createUnaryRpc } from "./unary.ts";
import { reportUnencodable } from "./unencodable.ts";
import { arriving, universalRequest } from "./universal-request.ts";

/** The message limit of gRPC health and reflection, whose protos cannot have our options. */
const openMaxBytes = 64 * 1024;

/**
 * Creates a surface of the rpcs. `unguarded` adds services that need no guard (health, reflection), and `streaming`
 * adds streaming rpcs. A call that the guards reject gets an error of its own protocol, and its message is not read.
 */
export function createRpcSurface(
  rpcs: Iterable<DescMethodUnary>,
  dispatch: Dispatch,
  onError: OnError,
  unguarded: (router: ConnectRouter) => void = () => undefined,
  streaming?: { readonly rpcs: Iterable<DescMethod>; readonly dispatch: StreamDispatch },
): Surface {
  const unary = new Map(
    [...rpcs].map((rpc) => createUnaryRpc(rpc, dispatch, onError)).map((one) => [one.handler.requestPath, one]),
  );
  const interceptors = [reportErrors(openMaxBytes, onError)];
  const open = createConnectRouter({ ...routerOptions(openMaxBytes), interceptors });
  unguarded(open);
  const streams = streaming && createStreamSurface(streaming.rpcs, streaming.dispatch, onError);
  const openHandlers = new Map(open.handlers.map((handler) => [handler.requestPath, handler]));

  /** Returns the result of `read`. If that rejects the request (405, 415), the request is throttled first (429). */
  async function enter<T>(inbound: Inbound, read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      await dispatch.throttle(inbound);
      throw error;
    }
  }

  return {
    serves: (path) => unary.has(path) || openHandlers.has(path) || streams?.handlerFor(path) !== undefined,
    async handle(path, request, response, inbound) {
      observe(inbound, { rpc: path.slice(1) });
      try {
        const rpc = unary.get(path);
        if (rpc === undefined) return await serveOther(path, request, response, inbound);
        if (request.method !== "OPTIONS") {
          const protocol = await enter(inbound, () => protocolOf(rpc.handler, request));
          return await rpc.handle(protocol, request, response, inbound);
        }
        await dispatch.throttle(inbound);
        response.writeHead(204, { Allow: allowOf(rpc.handler) }).end();
      } catch (error) {
        const failure = failureOf(error);
        // An error of the library means that the client has disconnected, or that the response can no longer be
        // written.
        if (!(error instanceof ConnectError)) onError(failure, inbound);
        writeFailure(response, failure);
        response.end();
      }
    },
  };

  async function serveOther(path: string, request: Request, response: Response, inbound: Inbound): Promise<void> {
    const streamed = streams?.handlerFor(path);
    const handler = streamed ?? (openHandlers.get(path) as UniversalHandler);
    const protocol = await enter(inbound, () => protocolOf(handler, request));
    if (streamed !== undefined) return streams?.handle(streamed, protocol, request, response, inbound);
    const [call, values] = servedCall(inbound, protocol);
    const served = await handler(universalRequest(handler, request, arriving(request), inbound, values));
    await universalResponseToNodeResponse(await reportUnencodable(served, request, call, onError), response);
  }
}
