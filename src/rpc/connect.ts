// Serves Connect, gRPC and gRPC-Web over the chain of guards: finds the handler of an rpc's path, and rejects
// unsupported requests.
import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { ConnectError, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { writeFailure } from "../http/response.ts";
import type { Failure } from "../call/errors.ts";
import { fail, failureOf } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import type { Dispatch, Inbound, StreamDispatch, OnError } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { reportErrors, servedCall } from "./library-errors.ts";
import type { Protocol } from "./protocol.ts";
import { allowOf, isGrpcCall, protocolOf } from "./protocol.ts";
import { routerOptions } from "./router-options.ts";
import { sendServed } from "./served-response.ts";
import { createStreamSurface } from "./streams.ts";
import { writeGrpcFailure } from "./trailers-only.ts";
import { createUnaryRpc } from "./unary.ts";
import { reportUnencodable } from "./unencodable.ts";
import { arriving, universalRequest } from "./universal-request.ts";
import { isWebText } from "./web-text.ts";

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
        const handler = rpc?.handler ?? streams?.handlerFor(path) ?? (openHandlers.get(path) as UniversalHandler);
        if (request.method === "OPTIONS") {
          await dispatch.throttle(inbound);
          response.writeHead(204, { Allow: allowOf(handler) }).end();
          return;
        }
        if (rpc === undefined) return await serveOther(handler, request, response, inbound);
        const protocol = await enter(inbound, () => protocolOf(handler, request));
        await rpc.handle(protocol, request, response, inbound);
      } catch (error) {
        const failure = failureOf(error);
        // An error of the library means that the client has disconnected, or that the response can no longer be
        // written.
        if (!(error instanceof ConnectError)) onError(failure, inbound);
        writeEarlyFailure(request, response, failure, inbound);
      }
    },
  };

  async function serveOther(
    handler: UniversalHandler,
    request: Request,
    response: Response,
    inbound: Inbound,
  ): Promise<void> {
    const protocol = await enter(inbound, () => binaryProtocolOf(handler, request));
    if (streams?.handlerFor(handler.requestPath) === handler)
      return streams.handle(handler, protocol, request, response, inbound);
    const [call, values] = servedCall(inbound, protocol);
    const served = await handler(universalRequest(handler, request, arriving(request), inbound, values));
    await sendServed(response, await reportUnencodable(served, request, call, onError));
  }
}

/** Returns the protocol of a call. Fails with UNSUPPORTED_MEDIA_TYPE for base64, which only our unary rpcs decode. */
function binaryProtocolOf(handler: UniversalHandler, request: Request): Protocol {
  return isWebText(request) ? fail(Reason.UNSUPPORTED_MEDIA_TYPE) : protocolOf(handler, request);
}

/** Writes a failure before the response of an rpc. A client of gRPC gets it as a status. */
function writeEarlyFailure(request: Request, response: Response, failure: Failure, inbound: Inbound): void {
  if (isGrpcCall(request) && !response.headersSent) return writeGrpcFailure(response, failure, inbound);
  writeFailure(response, failure);
  response.end();
}
