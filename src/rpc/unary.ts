// Serves unary rpcs behind the guards, which run on the method and the headers before the library gets the request.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import { Code, createConnectRouter, createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { ReceivedBytes } from "../http/body.ts";
import { receiveBytes, violation } from "../http/body.ts";
import { isBodyHeld } from "../http/continue.ts";
import { acceptShortEnumNames } from "../http/enum-names.ts";
import { deadlineIn, withDeadline } from "../call/deadline.ts";
import type { Violation } from "../call/errors.ts";
import type { Request, Response } from "../call/exchange.ts";
import { reservationFor } from "../large/sending.ts";
import type { CollectedResponse } from "./collected.ts";
import { collected, lengthOf, sendCollected } from "./collected.ts";
import { reportedError } from "./connect-error.ts";
import { flagsErrorOf } from "./envelope-flags.ts";
import { isDecoded, gzip } from "./gzip.ts";
import type { AdmittedCall, Dispatch, Inbound, OnError, RpcResponse } from "../call/dispatch.ts";
import type { ReceivedMessage } from "./json-flaws.ts";
import { createJsonFlaws, messageOfBody, undecodedIn } from "./json-flaws.ts";
import { isLargeResponse, withLargeMessage } from "./large-response.ts";
import { observeFlagsError, observeUnsupported, tooLarge, unreadable, violationOf } from "./library-errors.ts";
import { maxMessageBytes } from "./limits.ts";
import { plainMessage, plainResponse } from "./plain-grpc.ts";
import type { Protocol } from "./protocol.ts";
import { contentTypeOf, envelopeHead, expiryOf, protocolViolation } from "./protocol.ts";
import { rejection, rejectedWith } from "./rejection.ts";
import { routerOptions } from "./router-options.ts";
import { requireEncoded } from "./unencodable.ts";
import { universalRequest, whole } from "./universal-request.ts";
import { decodeWebText, isWebText, lengthInBase64 } from "./web-text.ts";
import { readQuery, splitTarget } from "../http/query.ts";

/** A unary rpc behind the guards. */
export interface UnaryRpc {
  readonly handler: UniversalHandler;
  /** Serves a request for the rpc. Rejects only if the response cannot be written. */
  handle(protocol: Protocol, request: Request, response: Response, inbound: Inbound): Promise<void>;
}

/** A call that has passed the guards. */
interface Call {
  readonly inbound: Inbound;
  readonly admitted: AdmittedCall;
  /** Finds the violations of a message that the library accepts. */
  readonly flaws: () => Promise<readonly Violation[]>;
  /** True once the library has decoded the message. */
  decoded: boolean;
  /** The error for the client, once the service has failed. */
  error?: ConnectError;
  /** A response that is too large for the library to encode. */
  large?: Message;
}
const callKey = createContextKey<Call | undefined>(undefined);

/**
 * Puts an rpc behind the guards. A call that they reject gets an error of its own protocol, and its message is not
 * read.
 */
export function createUnaryRpc(rpc: DescMethodUnary, dispatch: Dispatch, onError: OnError): UnaryRpc {
  const maxBytes = maxMessageBytes(rpc);
  acceptShortEnumNames(rpc.input);
  const jsonFlaws = createJsonFlaws(rpc.input, maxBytes);
  const router = createConnectRouter(routerOptions(maxBytes));
  router.rpc(rpc, (message: Message, context: HandlerContext) => invoke(message, context, onError));
  const reserveBytes = reservationFor(rpc);
  const [handler] = router.handlers;
  if (handler === undefined) throw new Error(`${rpc.name} has no handler`);

  /** Runs the guards, receives the body and calls the library. Rejects if a guard or the check of the body fails. */
  const serve = async (protocol: Protocol, request: Request, inbound: Inbound): Promise<Served> => {
    const admitted = await dispatch.admit(rpc, inbound);
    const unsupported = protocolViolation(request);
    if (unsupported !== undefined) return admitted.reject([unsupported]);
    const head = isBodyHeld(request) ? admitted.headViolations() : [];
    if (head.length > 0) return admitted.reject(head);
    const body = await bodyOf(protocol, request, maxBytes, inbound);
    if (body === "gone") return body;
    if (body === "too large") return admitted.reject([tooLarge(maxBytes)]);
    if (body === undefined) return admitted.reject([violation("base64", `${unreadable}: it must be base64`)]);
    const plain = plainMessage(rpc.input, protocol, request, body);
    if (plain !== undefined) return servePlain(await admitted.invoke(plain), request, inbound);
    const message = request.method === "GET" ? messageOfQuery(request) : messageOfBody(protocol, request, body);
    if ("violations" in message) return admitted.reject(message.violations);
    const flagsError = flagsErrorOf(request, body);
    if (flagsError !== undefined) {
      await admitted.prove();
      observeFlagsError(inbound, flagsError);
      return rejection(protocol, contentTypeOf(request), flagsError);
    }
    const call: Call = { inbound, admitted, flaws: () => jsonFlaws(message), decoded: false };
    const values = createContextValues().set(callKey, call);
    const served = await handler(universalRequest(handler, request, whole(body), inbound, values)).catch(
      (error: unknown) => {
        if (call.decoded) throw error;
        // The library throws if its error message would repeat text that is not well-formed.
        return undefined;
      },
    );
    if (served === undefined)
      return admitted.reject(await undecodedOr(violation("message", unreadable), { rpc, maxBytes, message }));
    const { large } = call;
    if (large !== undefined) {
      // Releases the message: the library's response keeps the call in memory.
      delete call.large;
      return withLargeMessage(protocol, served, { schema: rpc.output, message: large, tally: inbound.tally });
    }
    const response = { ...served, body: await collected(served.body) };
    if (!call.decoded) return rejectUndecoded(protocol, response, call, { rpc, maxBytes, message });
    if (call.error !== undefined) return rejection(protocol, contentTypeOf(request), call.error);
    await requireEncoded(protocol, response);
    return response;
  };

  /** Returns the response to a gRPC call that needs nothing of the library's streams. */
  const servePlain = async (result: RpcResponse, request: Request, { tally }: Inbound): Promise<CollectedResponse> => {
    const { message, replayed } = result;
    const isLarge = isLargeResponse(message, tally);
    const response = await plainResponse(rpc.output, isLarge ? create(rpc.output) : message, request);
    if (replayed) response.header.set("idempotent-replayed", "true");
    return isLarge ? withLargeMessage("grpc", response, { schema: rpc.output, message, tally }) : response;
  };

  return {
    handler,
    async handle(protocol, request, response, received) {
      const expiresAt = expiryOf(request, received.arrivedAt);
      const inbound = expiresAt === undefined ? received : { ...received, limits: { ...received.limits, expiresAt } };
      const served = serve(protocol, request, inbound).then((made) => {
        if (made !== "gone") reserveBytes(response, inbound.tally, lengthOf(made.body)); // 503
        return made;
      });
      const inTime =
        expiresAt === undefined ? served : withDeadline(deadlineIn(Infinity, inbound.limits, inbound.tally), served);
      const result = await inTime.catch((error: unknown) =>
        rejection(protocol, contentTypeOf(request), reportedError(error, inbound, protocol, onError)),
      );
      if (result !== "gone") await sendCollected(request, response, result);
    },
  };
}

type Served = CollectedResponse | "gone";

/**
 * Receives the body of a call. A GET call has none, and one that cannot be decoded is not requested from a client that
 * waits with it. Returns undefined if the body must be base64 and is not.
 */
async function bodyOf(
  protocol: Protocol,
  request: Request,
  maxBytes: number,
  inbound: Inbound,
): Promise<ReceivedBytes | undefined> {
  if (request.method === "GET" || (isBodyHeld(request) && !isDecoded(protocol, request))) return Buffer.alloc(0);
  const limit = maxBytes + (protocol === "connect" ? 0 : envelopeHead);
  if (!isWebText(request)) return receiveBytes(request, limit, inbound);
  const received = await receiveBytes(request, lengthInBase64(limit), inbound);
  return typeof received === "string" ? received : decodeWebText(received);
}

/** A message that the library did not decode. */
interface Undecoded {
  readonly rpc: DescMethodUnary;
  readonly maxBytes: number;
  readonly message: ReceivedMessage;
}

/**
 * Rejects a message that the library did not decode. The violations name the fields of JSON that is well-formed; any
 * other message gets the library's error text.
 */
async function rejectUndecoded(
  protocol: Protocol,
  served: CollectedResponse,
  { inbound, admitted }: Call,
  undecoded: Undecoded,
): Promise<CollectedResponse> {
  const error = await rejectedWith(protocol, served);
  if (error.code !== Code.Unimplemented) {
    return admitted.reject(await undecodedOr(violationOf(error, undecoded.maxBytes), undecoded));
  }
  await admitted.prove();
  observeUnsupported(inbound);
  return served;
}

/** Returns the violations of single fields, or else this one of the whole message. */
async function undecodedOr(whole: Violation, { rpc, maxBytes, message }: Undecoded): Promise<readonly Violation[]> {
  const found = await undecodedIn(rpc.input, maxBytes, message).catch(() => []);
  return found.length > 0 ? found : [whole];
}

/** Runs the service for a decoded message. */
async function invoke(
  message: Message,
  { values, responseHeader, protocolName, method }: HandlerContext,
  onError: OnError,
): Promise<Message> {
  const call = values.get(callKey);
  if (call === undefined) throw new Error("an rpc was called without its guards");
  call.decoded = true;
  try {
    const { message: result, replayed } = await call.admitted.invoke(message, await call.flaws());
    if (replayed) responseHeader.set("idempotent-replayed", "true");
    if (!isLargeResponse(result, call.inbound.tally)) return result;
    call.large = result;
    return create(method.output);
  } catch (error) {
    call.error = reportedError(error, call.inbound, protocolName, onError);
    throw call.error;
  }
}

const known: ReadonlySet<string> = new Set(["message", "base64", "encoding", "compression", "connect"]);

/** Returns the message as the library will read it, or the violations that prevent that. */
function messageOfQuery({ url = "" }: Request): ReceivedMessage | { readonly violations: readonly Violation[] } {
  const violations: Violation[] = [];
  const parameters = readQuery(splitTarget(url).query, known, violations);
  const version = parameters.get("connect");
  if (version !== undefined && version !== "v1")
    violations.push({ field: "connect", rule: "version", message: "must be v1" });
  const text = parameters.get("message") ?? "";
  const data = parameters.get("base64") === "1" ? decodeBase64(text) : Buffer.from(text);
  if (data === undefined) violations.push({ field: "message", rule: "base64", message: "must be base64" });
  if (data === undefined || violations.length > 0) return { violations };
  return {
    data,
    isJson: parameters.get("encoding") === "json",
    isCompressed: parameters.get("compression") === gzip.name,
  };
}

/** Decodes base64 as the library does. Returns undefined if the library would throw. */
function decodeBase64(text: string): Buffer | undefined {
  try {
    return Buffer.from(base64Decode(text));
  } catch {
    return undefined;
  }
}
