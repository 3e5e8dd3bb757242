// Connect, gRPC and gRPC-Web over the one chain: the guards run on method and headers, then the library gets the
// request.
import type { ServerHttp2Stream } from "node:http2";
import type { DescMethod, DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { Code, ConnectError, createConnectRouter, createContextKey, createContextValues } from "@connectrpc/connect";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { receiveBytes, violation } from "../../gateway/body.ts";
import { acceptShortEnumNames } from "../../gateway/enum-names.ts";
import { lingerMs } from "../../gateway/linger.ts";
import { writeFailure } from "../../gateway/response.ts";
import { deadlineIn, within } from "../deadline.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Failure, Violation } from "../errors.ts";
import { fail, failureOf } from "../errors.ts";
import type { Request, Response } from "../http/exchange.ts";
import { sanitizeForEcho } from "../text.ts";
import { connectError } from "./connect-error.ts";
import type { Admitted, Dispatch, Inbound, StreamDispatch, OnError } from "./dispatch.ts";
import { observe } from "./dispatch.ts";
import type { JsonFlaws } from "./json-flaws.ts";
import { createJsonFlaws } from "./json-flaws.ts";
import { maxMessageBytes } from "./limits.ts";
import type { Protocol } from "./protocol.ts";
import { allowOf, envelopeHead, expiryOf, protocolOf, requireServed } from "./protocol.ts";
import { refusal, refusedWith } from "./refusal.ts";
import { routerOptions } from "./router-options.ts";
import { createStreamSurface } from "./streams.ts";
import { arriving, universalRequest, whole } from "./universal-request.ts";

/** Serves rpcs by their paths. */
export interface RpcSurface {
  /** Whether the path is that of an rpc. */
  serves(path: string): boolean;
  /** Answers a request for such a path. Never rejects. */
  handle(path: string, request: Request, response: Response, inbound: Inbound): Promise<void>;
}

/** A unary rpc behind the guards. */
interface GuardedRpc {
  readonly rpc: DescMethodUnary;
  readonly handler: UniversalHandler;
  readonly maxBytes: number;
  readonly jsonFlaws: JsonFlaws;
}

/** A call that has passed the guards. */
interface Call {
  readonly inbound: Inbound;
  readonly admitted: Admitted;
  /** Finds the violations of a message that the library accepts. */
  readonly flaws: () => Promise<readonly Violation[]>;
  /** True once the library has decoded the message. */
  decoded: boolean;
}
const callKey = createContextKey<Call | undefined>(undefined);

/** For gRPC health and reflection, whose protos cannot have our options. */
const openMaxBytes = 64 * 1024;
/** Of the library's error text, which may repeat the input. */
const longestText = 300;

/**
 * A surface of the rpcs. `unguarded` adds services that need no guard (health, reflection), `streaming` rpcs that
 * stream.
 * A refused call is answered in its own protocol, without a look at its message.
 */
export function createRpcSurface(
  rpcs: Iterable<DescMethodUnary>,
  dispatch: Dispatch,
  onError: OnError,
  unguarded: (router: ConnectRouter) => void = () => undefined,
  streaming?: { readonly rpcs: Iterable<DescMethod>; readonly dispatch: StreamDispatch },
): RpcSurface {
  const guarded = new Map([...rpcs].map((rpc) => guardedRpc(rpc, report)).map((one) => [one.handler.requestPath, one]));
  const open = createConnectRouter(routerOptions(openMaxBytes));
  unguarded(open);
  const streams = streaming && createStreamSurface(streaming.rpcs, streaming.dispatch, onError);
  const openHandlers = new Map(open.handlers.map((handler) => [handler.requestPath, handler]));

  /**
   * What the request speaks; what it cannot be is throttled first, like any path and method that is not served (429,
   * 405, 415).
   */
  async function enter<T>(inbound: Inbound, read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      await dispatch.throttle(inbound);
      throw error;
    }
  }

  /** Records a call's failure for the log. */
  function report(error: unknown, inbound: Inbound): Failure {
    const failure = failureOf(error);
    observe(inbound, { failed: failure.kind });
    onError(failure, inbound);
    return failure;
  }

  async function answerGuarded(
    one: GuardedRpc,
    request: Request,
    response: Response,
    received: Inbound,
  ): Promise<void> {
    const protocol = await enter(received, () => protocolOf(one.handler, request));
    const expiresAt = expiryOf(request, received.arrivedAt);
    const inbound = expiresAt === undefined ? received : { ...received, limits: { ...received.limits, expiresAt } };
    const served = serveCall(one, protocol, request, inbound);
    const inTime =
      expiresAt === undefined ? served : within(deadlineIn(Infinity, inbound.limits, inbound.tally), served);
    const answer = await inTime.catch((error: unknown) =>
      refusal(protocol, request.headers["content-type"] ?? "", connectError(report(error, inbound), protocol)),
    );
    if (answer === "gone") return;
    if (!request.complete) discard(request, response);
    await universalResponseToNodeResponse(answer, response);
  }

  return {
    serves: (path) => guarded.has(path) || openHandlers.has(path) || streams?.handlerFor(path) !== undefined,
    async handle(path, request, response, inbound) {
      observe(inbound, { rpc: path.slice(1) });
      try {
        const streamed = streams?.handlerFor(path);
        if (streams !== undefined && streamed !== undefined) {
          await enter(inbound, () => requireServed(streamed, request));
          if (streamed.method.methodKind === "bidi_streaming" && request.httpVersionMajor === 1) {
            fail(Reason.MALFORMED_HTTP, {
              message: `${streamed.method.name} answers while it is sent, which needs HTTP/2.`,
            });
          }
          return await streams.handle(streamed, request, response, inbound);
        }
        const one = guarded.get(path);
        if (one === undefined) return await answerOpen(path, request, response, inbound);
        if (request.method !== "OPTIONS") return await answerGuarded(one, request, response, inbound);
        await dispatch.throttle(inbound);
        request.resume();
        response.writeHead(204, { Allow: allowOf(one.handler) }).end();
      } catch (error) {
        const failure = failureOf(error);
        // The library's own mean that the client is gone, or that the response cannot be written any more.
        if (!(error instanceof ConnectError)) onError(failure, inbound);
        request.resume();
        writeFailure(response, failure);
        response.end();
      }
    },
  };

  /**
   * Runs the guards, receives the body and calls the library. Rejects with a Failure where a guard or the body's check
   * fails.
   */
  async function serveCall(
    one: GuardedRpc,
    protocol: Protocol,
    request: Request,
    inbound: Inbound,
  ): Promise<UniversalServerResponse | "gone"> {
    const admitted = await dispatch.admit(one.rpc, inbound);
    const body =
      request.method === "GET"
        ? Buffer.alloc(0)
        : await receiveBytes(request, one.maxBytes + (protocol === "connect" ? 0 : envelopeHead));
    if (body === "gone") return body;
    if (body === "too large") return admitted.reject([tooLarge(one.maxBytes)]);
    const call: Call = { inbound, admitted, flaws: () => one.jsonFlaws(protocol, request, body), decoded: false };
    const values = createContextValues().set(callKey, call);
    const answer = await one
      .handler(universalRequest(one.handler, request, whole(body), inbound, values))
      .catch((error: unknown) => {
        if (call.decoded) throw error;
        // The library throws where its error message would repeat text that is not well-formed.
        return undefined;
      });
    if (answer === undefined) return admitted.reject([violation("message", unreadable)]);
    if (call.decoded) return answer;
    const bytes = await allBytes(answer.body);
    const error = await refusedWith(protocol, answer, bytes);
    // Only the library's response lists what it supports.
    if (error.code === Code.Unimplemented) return { ...answer, body: whole(bytes) };
    if (error.code === Code.ResourceExhausted) return admitted.reject([tooLarge(one.maxBytes)]);
    return admitted.reject([violation("message", `${unreadable}: ${sanitizeForEcho(error.rawMessage, longestText)}`)]);
  }

  async function answerOpen(path: string, request: Request, response: Response, inbound: Inbound): Promise<void> {
    const handler = openHandlers.get(path) as UniversalHandler;
    await enter(inbound, () => requireServed(handler, request));
    const received = universalRequest(handler, request, arriving(request), inbound, createContextValues());
    await universalResponseToNodeResponse(await handler(received), response);
  }
}

function guardedRpc(rpc: DescMethodUnary, report: (error: unknown, inbound: Inbound) => Failure): GuardedRpc {
  const maxBytes = maxMessageBytes(rpc);
  acceptShortEnumNames(rpc.input);
  const router = createConnectRouter(routerOptions(maxBytes));
  router.rpc(rpc, (message: Message, context: HandlerContext) => invoke(message, context, report));
  const [handler] = router.handlers;
  if (handler === undefined) throw new Error(`${rpc.name} has no handler`);
  return { rpc, handler, maxBytes, jsonFlaws: createJsonFlaws(rpc.input, maxBytes) };
}

/** Runs the service for a message that the library has decoded. */
async function invoke(
  message: Message,
  { values, responseHeader, protocolName }: HandlerContext,
  report: (error: unknown, inbound: Inbound) => Failure,
): Promise<Message> {
  const call = values.get(callKey);
  if (call === undefined) throw new Error("an rpc was reached around its guards");
  call.decoded = true;
  try {
    const { message: answer, replayed } = await call.admitted.invoke(message, await call.flaws());
    if (replayed) responseHeader.set("idempotent-replayed", "true");
    return answer;
  } catch (error) {
    throw connectError(report(error, call.inbound), protocolName);
  }
}

function tooLarge(maxBytes: number): Violation {
  return violation("size", `the message must be at most ${maxBytes} bytes`);
}

const unreadable = "the message cannot be read";

async function allBytes(body: UniversalServerResponse["body"]): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}

/** Throws away what is still to come, for a moment longer than the answer takes. */
function discard(request: Request & { readonly stream?: ServerHttp2Stream }, response: Response): void {
  const { stream } = request;
  request.resume();
  // HTTP/2 keeps the connection: only the stream is closed. Its response is told to be finished only with it.
  (stream ?? response).once("finish", () => {
    const timer = setTimeout(() => (stream === undefined ? request.destroy() : stream.close()), lingerMs);
    (stream ?? request).once("close", () => clearTimeout(timer));
  });
}
