// Rpcs that stream, over the one chain: the guards run before the first message, the library reads and writes the
// others.
import type { DescMethod, DescMethodBiDiStreaming, DescMethodServerStreaming, Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { ConnectError, createConnectRouter, createContextKey, createContextValues } from "@connectrpc/connect";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { acceptShortEnumNames } from "../../gateway/enum-names.ts";
import { Failure, failureOf } from "../errors.ts";
import type { Request, Response } from "../call/exchange.ts";
import { reportedError } from "./connect-error.ts";
import type { Inbound, OnError, Stream, StreamDispatch } from "../call/dispatch.ts";
import { createStrictDecoder } from "./json-flaws.ts";
import { maxMessageBytes } from "./limits.ts";
import { expiryOf } from "./protocol.ts";
import { routerOptions } from "./router-options.ts";
import { arriving, universalRequest } from "./universal-request.ts";
import { untilAborted } from "./until-aborted.ts";

/** Serves rpcs that stream, by their paths. */
export interface StreamSurface {
  handlerFor(path: string): UniversalHandler | undefined;
  /** Serves a request for such a handler. Rejects only when the response cannot be written. */
  handle(handler: UniversalHandler, request: Request, response: Response, inbound: Inbound): Promise<void>;
}

/** The responses to a stream; the library, which writes the responses, requests it. */
type Entry = { readonly inbound: Inbound } & ({ readonly stream: Stream } | { readonly rejected: Failure });
const entryKey = createContextKey<Entry | undefined>(undefined);

/** A surface of rpcs that stream. */
export function createStreamSurface(
  rpcs: Iterable<DescMethod>,
  dispatch: StreamDispatch,
  onError: OnError,
): StreamSurface {
  const routers = [...rpcs].map((rpc) => {
    acceptShortEnumNames(rpc.input);
    const router = createConnectRouter(routerOptions(maxMessageBytes(rpc), createStrictDecoder(rpc.input)));
    register(router, rpc, (messages, context) => responses(messages, context, onError));
    return router;
  });
  const handlers = new Map(
    routers.flatMap(({ handlers }) => handlers.map((handler) => [handler.requestPath, handler])),
  );
  return {
    handlerFor: (path) => handlers.get(path),
    async handle(handler, request, response, received) {
      const expiresAt = expiryOf(request, received.arrivedAt);
      const inbound = { ...received, limits: { ...received.limits, expiresAt } };
      const entry = await dispatch.admit(handler.method, inbound).then(
        (stream): Entry => ({ inbound, stream }),
        (error: unknown): Entry => ({ inbound, rejected: failureOf(error) }),
      );
      const values = createContextValues().set(entryKey, entry);
      const served = await handler(universalRequest(handler, request, arriving(request), inbound, values));
      await universalResponseToNodeResponse(served, response);
    },
  };
}

type Responses = (messages: AsyncIterable<Message>, context: HandlerContext) => AsyncIterable<Message>;

function register(router: ConnectRouter, rpc: DescMethod, implementation: Responses): void {
  if (rpc.methodKind === "bidi_streaming") router.rpc(rpc as DescMethodBiDiStreaming, implementation);
  else
    router.rpc(rpc as DescMethodServerStreaming, (message: Message, context: HandlerContext) =>
      implementation(alone(message), context),
    );
}

async function* alone(message: Message): AsyncIterable<Message> {
  yield await Promise.resolve(message);
}

async function* responses(
  messages: AsyncIterable<Message>,
  { values, protocolName, signal }: HandlerContext,
  onError: OnError,
): AsyncIterable<Message> {
  const entry = values.get(entryKey);
  if (entry === undefined) throw new Error("an rpc was called without its guards");
  try {
    if ("rejected" in entry) throw entry.rejected;
    yield* untilAborted(signal, entry.stream(messages));
  } catch (error) {
    if (error instanceof ConnectError && error.cause instanceof Failure)
      throw reportedError(error.cause, entry.inbound, protocolName, onError);
    // What the library rejects is in its own words; a client that left gets nothing any more.
    if (error instanceof ConnectError || signal.aborted) throw error;
    throw reportedError(error, entry.inbound, protocolName, onError);
  }
}
