// Connect, gRPC and gRPC-Web over the one chain: the guards run before a message is read, the rest when it is decoded.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { createConnectRouter, createContextKey, createContextValues } from "@connectrpc/connect";
import { compressionGzip, universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { Failure } from "../errors.ts";
import { failureOf, isForTheLog } from "../errors.ts";
import type { Request, Response } from "../http/listener.ts";
import { connectError } from "./connect-error.ts";
import type { Admitted, Dispatch, Inbound } from "./dispatch.ts";

/** Serves rpcs by their paths. */
export interface RpcSurface {
  /** Whether the path is that of an rpc. */
  serves(path: string): boolean;
  /** Answers a request for such a path. Never rejects. */
  handle(path: string, request: Request, response: Response, inbound: Inbound): Promise<void>;
}

/** Hears of failures that are ours, for the log. */
export type OnError = (failure: Failure, inbound: Inbound) => void;

/** How a request came through the guards; read where its message has been decoded. */
const entryKey = createContextKey<Entry | undefined>(undefined);
type Entry = { readonly admitted: Admitted; readonly inbound: Inbound } | { readonly refused: Failure };

/** Ingest carries batches; a record itself is far smaller than either. */
const maxMessageBytes = { public: 1024 * 1024, internal: 32 * 1024 * 1024 };

/**
 * A surface of the rpcs. `unguarded` adds services that need no guard (health, reflection).
 * A refused call is answered in its own protocol, without a look at its message.
 */
export function createRpcSurface(
  listener: "public" | "internal",
  rpcs: Iterable<DescMethodUnary>,
  dispatch: Dispatch,
  onError: OnError,
  unguarded: (router: ConnectRouter) => void = () => undefined,
): RpcSurface {
  const guarded = createConnectRouter({ acceptCompression: [compressionGzip], readMaxBytes: maxMessageBytes[listener] });
  for (const rpc of rpcs) guarded.rpc(rpc, (message: Message, context: HandlerContext) => serve(message, context, onError));
  const open = createConnectRouter({ acceptCompression: [compressionGzip] });
  unguarded(open);
  const guardedPaths = new Map(guarded.handlers.map((handler) => [handler.requestPath, handler]));
  const openPaths = new Map(open.handlers.map((handler) => [handler.requestPath, handler]));

  async function enter(handler: UniversalHandler, inbound: Inbound): Promise<Entry> {
    try {
      return { admitted: await dispatch.admit(handler.method as DescMethodUnary, inbound), inbound };
    } catch (error) {
      const refused = failureOf(error);
      if (isForTheLog(refused)) onError(refused, inbound);
      return { refused };
    }
  }

  return {
    serves: (path) => guardedPaths.has(path) || openPaths.has(path),
    async handle(path, request, response, inbound) {
      try {
        const handler = guardedPaths.get(path);
        if (handler === undefined) return await answer(openPaths.get(path) as UniversalHandler, request, response);
        if (request.method === "OPTIONS") {
          await dispatch.throttle(inbound);
          response.writeHead(204, { Allow: [...handler.allowedMethods, "OPTIONS"].join(", ") }).end();
          return;
        }
        return await answer(handler, request, response, await enter(handler, inbound));
      } catch (error) {
        // The client is gone, or the response cannot be written any more.
        if (!response.headersSent) response.writeHead(failureOf(error).kind.http);
        response.end();
      }
    },
  };
}

async function serve(message: Message, context: HandlerContext, onError: OnError): Promise<Message> {
  const entry = context.values.get(entryKey);
  if (entry === undefined) throw new Error("an rpc was reached around its guards");
  try {
    if ("refused" in entry) throw entry.refused;
    const answer = await entry.admitted.invoke(message);
    if (answer.replayed) context.responseHeader.set("idempotent-replayed", "true");
    return answer.message;
  } catch (error) {
    const failure = failureOf(error);
    if ("inbound" in entry && isForTheLog(failure)) onError(failure, entry.inbound);
    throw connectError(failure, context.protocolName);
  }
}

async function answer(handler: UniversalHandler, request: Request, response: Response, entry?: Entry): Promise<void> {
  const values = createContextValues().set(entryKey, entry);
  const received = universalRequestFromNodeRequest(request, response, undefined, values);
  const refused = entry !== undefined && "refused" in entry;
  if (refused) request.resume();
  const answered = await handler(refused ? withoutMessage(received) : received);
  await universalResponseToNodeResponse(answered, response);
}

/** The request with an empty message in place of its own, so that nothing is decoded before the refusal is told. */
function withoutMessage(request: UniversalServerRequest): UniversalServerRequest {
  const header = new Headers(request.header);
  const type = header.get("content-type") ?? "";
  for (const name of ["content-encoding", "content-length", "grpc-encoding"]) header.delete(name);
  const url = new URL(request.url);
  if (request.method === "GET") {
    url.searchParams.set("message", url.searchParams.get("encoding") === "proto" ? "" : "{}");
    for (const name of ["base64", "compression"]) url.searchParams.delete(name);
  }
  const message = /json/.test(type) ? Buffer.from("{}") : Buffer.alloc(0);
  const enveloped = /^application\/grpc/.test(type) ? Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]) : message;
  return { ...request, header, url: url.toString(), body: once(enveloped) };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes);
}
