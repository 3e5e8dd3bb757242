// Connect, gRPC and gRPC-Web over the one chain: the guards run before a message is read, the rest when it is decoded.
import type { ServerHttp2Stream } from "node:http2";
import type { DescMethod, DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { ConnectRouter, ContextValues, HandlerContext } from "@connectrpc/connect";
import { ConnectError, createConnectRouter, createContextKey, createContextValues } from "@connectrpc/connect";
import { compressionGzip, universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { writeFailure } from "../../gateway/response.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Failure } from "../errors.ts";
import { fail, failureOf, isForTheLog } from "../errors.ts";
import type { Request, Response } from "../http/listener.ts";
import { connectError } from "./connect-error.ts";
import type { Admitted, Answer, Dispatch, Inbound, StreamDispatch } from "./dispatch.ts";
import { observe } from "./dispatch.ts";
import type { Reading } from "./message.ts";
import { readMessage } from "./message.ts";
import type { Spoken } from "./spoken.ts";
import { createStreamSurface } from "./streams.ts";
import { allowOf, bareRequest, requireServed, spokenIn } from "./spoken.ts";

/** Serves rpcs by their paths. */
export interface RpcSurface {
  /** Whether the path is that of an rpc. */
  serves(path: string): boolean;
  /** Answers a request for such a path. Never rejects. */
  handle(path: string, request: Request, response: Response, inbound: Inbound): Promise<void>;
}

/** Hears of failures that are ours, for the log. */
export type OnError = (failure: Failure, inbound: Inbound) => void;

/** What is to be answered to a call; the library, which writes the answer, asks for it. */
const entryKey = createContextKey<Entry | undefined>(undefined);
type Entry = { readonly inbound: Inbound } & ({ readonly admitted: Admitted; readonly reading: Reading } | { readonly refused: Failure });

/** Ingest carries batches; a record itself is far smaller than either. */
const maxMessageBytes = { public: 1024 * 1024, internal: 32 * 1024 * 1024 };
/** How long the rest of a body is read and thrown away after the answer: a client that still sends would not see it otherwise. */
const lingerMs = 1_000;

/**
 * A surface of the rpcs. `unguarded` adds services that need no guard (health, reflection), `streaming` rpcs that stream.
 * A refused call is answered in its own protocol, without a look at its message.
 */
export function createRpcSurface(
  listener: "public" | "internal",
  rpcs: Iterable<DescMethodUnary>,
  dispatch: Dispatch,
  onError: OnError,
  unguarded: (router: ConnectRouter) => void = () => undefined,
  streaming?: { readonly rpcs: Iterable<DescMethod>; readonly dispatch: StreamDispatch },
): RpcSurface {
  const guarded = createConnectRouter({ acceptCompression: [compressionGzip] });
  for (const rpc of rpcs) guarded.rpc(rpc, (_empty: Message, context: HandlerContext) => serve(context, onError));
  const open = createConnectRouter({ acceptCompression: [compressionGzip], readMaxBytes: maxMessageBytes.public, jsonOptions: { ignoreUnknownFields: false } });
  unguarded(open);
  const streams = streaming && createStreamSurface(streaming.rpcs, streaming.dispatch, onError, maxMessageBytes[listener]);
  const guardedPaths = new Map(guarded.handlers.map((handler) => [handler.requestPath, handler]));
  const openPaths = new Map(open.handlers.map((handler) => [handler.requestPath, handler]));

  /** What the request speaks; what it cannot be is charged first, like any path and method that is not served (429, 405, 415). */
  async function enter<T>(inbound: Inbound, read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      await dispatch.throttle(inbound);
      throw error;
    }
  }

  async function answerGuarded(handler: UniversalHandler, request: Request, response: Response, inbound: Inbound): Promise<void> {
    const spoken = await enter(inbound, () => spokenIn(handler, request));
    const rpc = handler.method as DescMethodUnary;
    let entry: Entry;
    try {
      const admitted = await dispatch.admit(rpc, inbound);
      const reading = await readMessage(rpc.input, spoken, request, maxMessageBytes[listener]);
      if (reading.kind === "gone") return;
      entry = { admitted, inbound, reading };
    } catch (error) {
      const refused = failureOf(error);
      if (isForTheLog(refused)) onError(refused, inbound);
      entry = { refused, inbound };
    }
    if (!request.complete) discard(request, response);
    await answer(handler, spoken, request, response, entry);
  }

  return {
    serves: (path) => guardedPaths.has(path) || openPaths.has(path) || streams?.handlerFor(path) !== undefined,
    async handle(path, request, response, inbound) {
      observe(inbound, { rpc: path.slice(1) });
      try {
        const streamed = streams?.handlerFor(path);
        if (streams !== undefined && streamed !== undefined) {
          await enter(inbound, () => requireServed(streamed, request));
          if (streamed.method.methodKind === "bidi_streaming" && request.httpVersionMajor === 1) fail(Reason.MALFORMED_HTTP, { message: `${streamed.method.name} answers while it is sent, which needs HTTP/2.` });
          return await streams.handle(streamed, request, response, inbound);
        }
        const handler = guardedPaths.get(path);
        if (handler === undefined) {
          const unguardedHandler = openPaths.get(path) as UniversalHandler;
          await enter(inbound, () => requireServed(unguardedHandler, request));
          return await answerOpen(unguardedHandler, request, response);
        }
        if (request.method !== "OPTIONS") return await answerGuarded(handler, request, response, inbound);
        await dispatch.throttle(inbound);
        request.resume();
        response.writeHead(204, { Allow: allowOf(handler) }).end();
      } catch (error) {
        const failure = failureOf(error);
        // The library's own mean that the client is gone, or that the response cannot be written any more.
        if (isForTheLog(failure) && !(error instanceof ConnectError)) onError(failure, inbound);
        request.resume();
        writeFailure(response, failure);
        response.end();
      }
    },
  };
}

async function serve({ values, responseHeader, protocolName }: HandlerContext, onError: OnError): Promise<Message> {
  const entry = values.get(entryKey);
  if (entry === undefined) throw new Error("an rpc was reached around its guards");
  try {
    if ("refused" in entry) throw entry.refused;
    const { message, replayed } = await outcome(entry.admitted, entry.reading);
    if (replayed) responseHeader.set("idempotent-replayed", "true");
    return message;
  } catch (error) {
    const failure = failureOf(error);
    observe(entry.inbound, { failed: failure.kind });
    if ("admitted" in entry && isForTheLog(failure)) onError(failure, entry.inbound);
    throw connectError(failure, protocolName);
  }
}

function outcome(admitted: Admitted, reading: Reading): Promise<Answer> {
  if (reading.kind === "read") return admitted.invoke(reading.message, reading.violations);
  if (reading.kind === "unreadable") return admitted.reject(reading.violations);
  throw new Error("a call was reached that has no message");
}

/** Has the library write the answer: to a call with an empty message, which leaves it nothing to refuse. */
async function answer(handler: UniversalHandler, spoken: Spoken, request: Request, response: Response, entry: Entry): Promise<void> {
  const foreign = "reading" in entry && entry.reading.kind === "foreign" ? entry.reading.foreign : undefined;
  const values: ContextValues = createContextValues().set(entryKey, entry);
  await universalResponseToNodeResponse(await handler(bareRequest(handler, spoken, request, values, foreign)), response);
}

async function answerOpen(handler: UniversalHandler, request: Request, response: Response): Promise<void> {
  const received = universalRequestFromNodeRequest(request, response, undefined, createContextValues());
  await universalResponseToNodeResponse(await handler(received), response);
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
