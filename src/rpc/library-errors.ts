// Converts errors of the library to the codes and details of our own failures.
import type { Message } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import { Code, ConnectError, createContextKey, createContextValues } from "@connectrpc/connect";
import { violation } from "../http/body.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import type { Violation } from "../call/errors.ts";
import { Failure, failures } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { waitOf } from "../call/tally.ts";
import { sanitizeForEcho } from "../text/text.ts";
import { reportedError } from "./connect-error.ts";
import { isFlagsError } from "./envelope-flags.ts";
import type { Protocol } from "./protocol.ts";

/** The maximum length of the library's error text, which may repeat the input. */
const maxTextLength = 300;

/** The error text for a message that cannot be decoded. */
export const unreadable = "the message is malformed";

/** Returns the violation of a message that is too large. */
export function tooLarge(maxBytes: number): Violation {
  return violation("size", `the message must be at most ${maxBytes} bytes`);
}

/** Converts the library's error about a message to a violation. `maxBytes` is the message limit of the rpc. */
export function violationOf(error: ConnectError, maxBytes: number): Violation {
  if (error.code === Code.ResourceExhausted) return tooLarge(maxBytes);
  return violation("message", `${unreadable}: ${sanitizeForEcho(error.rawMessage, maxTextLength)}`);
}

/**
 * Records a call that the library does not support. Its own response is sent, because only that lists what it supports.
 */
export function observeUnsupported(inbound: Inbound): void {
  observe(inbound, { failed: failures[Reason.UNSUPPORTED_MEDIA_TYPE] });
}

/** Records a call with an error of its envelopes, which is the client's fault. */
export function observeFlagsError(inbound: Inbound, { code }: ConnectError): void {
  observe(inbound, { failed: { http: failures[Reason.MALFORMED_HTTP].http, code } });
}

/** A call that the library serves. */
export interface ServedCall {
  readonly inbound: Inbound;
  readonly protocol: Protocol;
  /** True once the service responds, until it fails. */
  isResponding?: boolean;
}

/** The key of the call in a request to the library's router, for `reportErrors`. */
const servedCallKey = createContextKey<ServedCall | undefined>(undefined);

/** Returns a call, and the values of its request to the library's router. */
export function servedCall(inbound: Inbound, protocol: Protocol): [call: ServedCall, values: ContextValues] {
  const call: ServedCall = { inbound, protocol };
  return [call, createContextValues().set(servedCallKey, call)];
}

/**
 * Creates an interceptor that reports the errors that end a call early: our own failures, and rejections by the
 * library.
 */
export function reportErrors(maxBytes: number, onError: OnError): Interceptor {
  return (next) => async (request) => {
    const call = request.contextValues.get(servedCallKey);
    if (call === undefined) throw new Error("an rpc was called past its surface");
    const reported = (error: unknown): unknown => {
      call.isResponding = false;
      return errorFor(error, call, request.signal, maxBytes, onError);
    };
    try {
      const response = await next(request);
      call.isResponding = true;
      return response.stream ? { ...response, message: reporting(response.message, reported) } : response;
    } catch (error) {
      throw reported(error);
    }
  };
}

async function* reporting(
  messages: AsyncIterable<Message>,
  reported: (error: unknown) => unknown,
): AsyncIterable<Message> {
  try {
    yield* messages;
  } catch (error) {
    throw reported(error);
  }
}

function errorFor(
  error: unknown,
  { inbound, protocol }: ServedCall,
  signal: AbortSignal,
  maxBytes: number,
  onError: OnError,
): unknown {
  const report = (failure: unknown): ConnectError => reportedError(failure, inbound, protocol, onError);
  // A failure of the strict decoder is the cause of the library's error.
  if (error instanceof ConnectError && error.cause instanceof Failure) return report(error.cause);
  // At the deadline, the library aborts with an error of its own. Any other abort means that the client has
  // disconnected, and gets no response.
  if (signal.aborted && !(signal.reason instanceof ConnectError)) return error;
  if (!(error instanceof ConnectError)) return report(error);
  if (error.code === Code.DeadlineExceeded) {
    const waitingFor = waitOf(inbound.tally);
    return report(new Failure(Reason.DEADLINE_EXCEEDED, { because: "deadline", waitingFor }));
  }
  if (error.code === Code.Unimplemented) {
    observeUnsupported(inbound);
    return error;
  }
  if (isFlagsError(error)) {
    observeFlagsError(inbound, error);
    return error;
  }
  const found = violationOf(error, maxBytes);
  return report(new Failure(Reason.INVALID_REQUEST, { message: found.message, violations: [found] }));
}
