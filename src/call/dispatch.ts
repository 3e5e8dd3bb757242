// The way from any wire to a service: what a surface hands over, and what it gets back.
import type { DescMethod, DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { CallerLimits } from "../deadline.ts";
import type { Violation, Failure } from "../errors.ts";
import type { Tally } from "../tally.ts";

/** A request as a surface received it, before its body is read. */
export interface Inbound {
  /** One value of a header (or of gRPC metadata); the name in lower case. */
  header(name: string): string | undefined;
  /** The address of the client, as TRUST_PROXY lets it be known. */
  readonly address: string;
  readonly requestId: string;
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly arrivedAt: number;
  /** When the caller stops waiting; absent where this is unknown. */
  readonly limits?: CallerLimits | undefined;
  /** What it has spent so far; absent where nobody looks. */
  readonly tally?: Tally;
  /** What its way through the service reports to the log, the metrics and the trace; absent where nobody looks. */
  readonly observation?: Observation | undefined;
}

/** A request of an assistant that reads records. */
export interface AssistantRead {
  /** The method of MCP, such as `tools/call`. */
  readonly method: string;
  /** What is read, not with which arguments: the name of a tool, `resource session`, `prompt follow_up`. */
  readonly detail: string;
}

/**
 * What is found out about a request while it is served, filled in by whoever learns it. Nothing in it is secret, or
 * chosen freely by a caller.
 */
export interface Observation {
  /** The template of the path, or the path itself where there are only so many; undefined for what is not served. */
  route?: string;
  /** `records.v1.ContactService/SearchContacts`, where a surface has found the rpc. */
  rpc?: string;
  /** The requests of an assistant that read records, several of a batch. */
  assistantReads?: readonly AssistantRead[];
  account?: { toHexString(): string };
  /** The first 8 hexadecimal digits of the SHA-256 of the service token. */
  serviceToken?: string;
  /** The 8 characters of an API key that are shown. */
  keyPrefix?: string;
  /** Why the request failed, on a wire that does not show it by its status. */
  failed?: { readonly http: number; readonly code: number };
  /** In a word, why the service failed the request. */
  cause?: string;
  /** What the request was waiting for when it failed. */
  waitingFor?: string;
  /** The response is that of an earlier request with the same idempotency key. */
  replayed?: boolean;
}

/** Adds to what is known of a request. */
export function observe({ observation, tally }: Pick<Inbound, "observation" | "tally">, found: Observation): void {
  if (observation !== undefined) Object.assign(observation, found);
  if (tally !== undefined && found.account !== undefined) tally.account = found.account.toHexString();
}

/** The response of a service. */
export interface RpcResponse {
  readonly message: Message;
  /** True where it is the response to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** The REST body of the first response, where this is a replay. */
  readonly body: string | undefined;
}

/** A request for which every guard that needs no body has been passed. */
export interface Admitted {
  /**
   * Validates the message, runs the service and returns its response.
   * `found` is what the surface itself found wrong while it decoded: it is reported together with the rest.
   */
  invoke(message: Message, found?: readonly Violation[]): Promise<RpcResponse>;
  /** Rejects a message that cannot be read, unless the guards' last word on the request is another. */
  reject(found: readonly Violation[]): Promise<never>;
  /**
   * Proves the caller's credential, for a surface that is about to reject the message by itself: an ended credential
   * fails with 401 here, as that goes before whatever is wrong with the message.
   */
  prove(): Promise<void>;
}

/** The chain of guards, and the services behind it. All of it fails with a `Failure` only. */
export interface Dispatch {
  /** Charges the request to its bucket and does nothing else: for what is no rpc (404, 405, OPTIONS). */
  throttle(inbound: Inbound): Promise<void>;
  /** Runs the guards that need no body, in the contract's order (§2.2): 429, 503, 401, 403, 503. */
  admit(rpc: DescMethodUnary, inbound: Inbound): Promise<Admitted>;
}

/** Runs a stream that was let in: its messages in, its responses out. Fails with a `Failure`. */
export type Stream = (messages: AsyncIterable<Message>) => AsyncIterable<Message>;

/** The same for rpcs that stream. */
export interface StreamDispatch {
  /** Runs the guards that need no message. Fails with a `Failure` only. */
  admit(rpc: DescMethod, inbound: Inbound): Promise<Stream>;
}

/** Called for every request that failed, before its response. */
export type OnError = (failure: Failure, inbound: Inbound) => void;
