// Serves streaming rpcs over the chain of guards: the guards run before the first message, and the library reads and
// writes the others.
import type { DescMethod, DescMethodBiDiStreaming, DescMethodServerStreaming, Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { createConnectRouter, createContextKey } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { rejectInput } from "../call/errors.ts";
import { acceptShortEnumNames } from "../http/enum-names.ts";
import type { Request, Response } from "../call/exchange.ts";
import { sendCollected } from "./collected.ts";
import { reportedError } from "./connect-error.ts";
import type { Inbound, OnError, Stream, StreamDispatch } from "../call/dispatch.ts";
import { createStrictDecoder } from "./json-flaws.ts";
import { reportErrors, servedCall } from "./library-errors.ts";
import { maxMessageBytes } from "./limits.ts";
import type { Protocol } from "./protocol.ts";
import { contentTypeOf, expiryOf, protocolViolation } from "./protocol.ts";
import { rejection } from "./rejection.ts";
import { routerOptions } from "./router-options.ts";
import { sendServed } from "./served-response.ts";
import { reportUnencodable } from "./unencodable.ts";
import { arriving, universalRequest } from "./universal-request.ts";

/** Serves streaming rpcs, by path. */
export interface StreamSurface {
  handlerFor(path: string): UniversalHandler | undefined;
  /** Serves a request for such a handler. Rejects only if the response cannot be written. */
  handle(
    handler: UniversalHandler,
    protocol: Protocol,
    request: Request,
    response: Response,
    inbound: Inbound,
  ): Promise<void>;
}

/** The key of the function that responds to the messages. The library calls it, and writes the responses. */
const streamKey = createContextKey<Stream | undefined>(undefined);

/** Creates a surface of streaming rpcs. */
export function createStreamSurface(
  rpcs: Iterable<DescMethod>,
  dispatch: StreamDispatch,
  onError: OnError,
): StreamSurface {
  const routers = [...rpcs].map((rpc) => {
    acceptShortEnumNames(rpc.input);
    const maxBytes = maxMessageBytes(rpc);
    const options = routerOptions(maxBytes, createStrictDecoder(rpc.input));
    const router = createConnectRouter({ ...options, interceptors: [reportErrors(maxBytes, onError)] });
    register(router, rpc);
    return router;
  });
  const handlers = new Map(
    routers.flatMap(({ handlers }) => handlers.map((handler) => [handler.requestPath, handler])),
  );
  return {
    handlerFor: (path) => handlers.get(path),
    async handle(handler, protocol, request, response, received) {
      const expiresAt = expiryOf(request, received.arrivedAt);
      const inbound = { ...received, limits: { ...received.limits, expiresAt } };
      let stream: Stream;
      try {
        stream = await dispatch.admit(handler.method, inbound);
        const violation = protocolViolation(request);
        if (violation !== undefined) rejectInput([violation]);
      } catch (error) {
        const reported = reportedError(error, inbound, protocol, onError);
        const rejected = rejection(protocol, contentTypeOf(request), reported);
        return sendCollected(request, response, rejected);
      }
      const [call, values] = servedCall(inbound, protocol);
      values.set(streamKey, stream);
      const served = await handler(universalRequest(handler, request, arriving(request), inbound, values));
      await sendServed(response, await reportUnencodable(served, request, call, onError));
    },
  };
}

function register(router: ConnectRouter, rpc: DescMethod): void {
  if (rpc.methodKind === "bidi_streaming") router.rpc(rpc as DescMethodBiDiStreaming, responses);
  else
    router.rpc(rpc as DescMethodServerStreaming, (message: Message, context: HandlerContext) =>
      responses(alone(message), context),
    );
}

async function* alone(message: Message): AsyncIterable<Message> {
  yield await Promise.resolve(message);
}

async function* responses(
  messages: AsyncIterable<Message>,
  { values, signal }: HandlerContext,
): AsyncIterable<Message> {
  const stream = values.get(streamKey);
  if (stream === undefined) throw new Error("an rpc was called without its guards");
  yield* untilAborted(signal, stream(messages));
}

/**
 * Passes responses on until the signal aborts, without waiting for work in progress. Retains no response: racing each
 * one against a promise for the whole stream would keep them all in memory.
 */
export async function* untilAborted<T>(signal: AbortSignal, responses: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = responses[Symbol.asyncIterator]();
  let stop: (reason: unknown) => void = () => undefined;
  // The caller has left, so a clean-up that fails concerns nobody. Unhandled, its error would end the process.
  const cleanUp = (): void => void iterator.return?.().catch(() => undefined);
  const onAbort = (): void => {
    stop(signal.reason);
    // A consumer that waits to write the last response never requests another one.
    cleanUp();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T, unknown>>((resolve, reject) => {
        stop = reject;
        iterator.next().then(resolve, reject);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    cleanUp();
  }
}
