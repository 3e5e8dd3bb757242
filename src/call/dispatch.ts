// The interface between surfaces and services: the request that a surface hands over, and the response that it gets.
import type { DescMethod, DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { CallerLimits } from "./deadline.ts";
import type { Violation, Failure } from "./errors.ts";
import type { Tally } from "./tally.ts";

/** A request as a surface received it, before its body is read. */
export interface Inbound {
  /** Returns one value of a header, or of gRPC metadata. The name is in lower case. */
  header(name: string): string | undefined;
  /** The client's address, determined as TRUST_PROXY says. */
  readonly address: string;
  readonly requestId: string;
  /** The time of arrival, in milliseconds of `performance.now()`. */
  readonly arrivedAt: number;
  /** When the caller stops waiting; absent if this is unknown. */
  readonly limits?: CallerLimits | undefined;
  /** The tally of its waits; absent if nothing reads it. */
  readonly tally?: Tally;
  /** The facts for the log, the metrics and the trace; absent if nothing reads them. */
  readonly observation?: Observation | undefined;
}

/** A request of an assistant that reads records. */
export interface AssistantRead {
  /** The method of MCP, such as `tools/call`. */
  readonly method: string;
  /** The target of the read, without the arguments: the name of a tool, `resource session`, `prompt follow_up`. */
  readonly detail: string;
}

/**
 * Facts about a request, which each component adds while the request is served. They contain no secret, and no text of
 * the caller's choice.
 */
export interface Observation {
  /** The template of the path, or the path itself if there are only a few. Undefined for a path that is not served. */
  route?: string;
  /** `records.v1.ContactService/SearchContacts`, once a surface has found the rpc. */
  rpc?: string;
  /** The requests of an assistant that read records; a batch has several. */
  assistantReads?: readonly AssistantRead[];
  account?: { toHexString(): string };
  /** The first 8 hexadecimal digits of the SHA-256 of the service token. */
  serviceToken?: string;
  /** The first 8 characters of an API key, which may be shown. */
  keyPrefix?: string;
  /** The failure, on a wire whose HTTP status does not show it. */
  failed?: { readonly http: number; readonly code: number };
  /** The cause in a word or two, if the service failed the request. */
  cause?: string;
  /** The wait during which the request failed. */
  waitingFor?: string;
  /** True if the response is that of an earlier request with the same idempotency key. */
  replayed?: boolean;
}

/** Adds facts to the observation of a request, and its account to the tally. */
export function observe({ observation, tally }: Pick<Inbound, "observation" | "tally">, found: Observation): void {
  if (observation !== undefined) Object.assign(observation, found);
  if (tally !== undefined && found.account !== undefined) tally.account = found.account.toHexString();
}

/** The response of a service. */
export interface RpcResponse {
  readonly message: Message;
  /** True if this is the response to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** The REST body that is stored with the idempotency key; undefined without a key. */
  readonly body: string | undefined;
}

/** A request that has passed every guard that needs no body. */
export interface AdmittedCall {
  /**
   * Validates the message, runs the service and returns its response. `found` contains the violations that the surface
   * found while decoding. They are reported together with the others.
   */
  invoke(message: Message, found?: readonly Violation[]): Promise<RpcResponse>;
  /**
   * Rejects a message that cannot be decoded. If the request no longer passes the guards, fails with their failure
   * instead.
   */
  reject(found: readonly Violation[]): Promise<never>;
  /**
   * Proves the caller's credential, for a surface that is about to reject the message itself. An ended credential fails
   * with 401, which takes precedence over problems of the message.
   */
  prove(): Promise<void>;
  /**
   * Returns what is wrong with the headers, and with these fields of a message whose body has not been received. A
   * client that waits with its body need not send it.
   */
  headViolations(message?: Message, fields?: readonly string[]): readonly Violation[];
}

/** The chain of guards, and the services behind it. All methods fail only with a `Failure`. */
export interface Dispatch {
  /** Throttles the request and does nothing else, for a request without an rpc (404, 405, OPTIONS). */
  throttle(inbound: Inbound): Promise<void>;
  /** Runs the guards that need no body, in the contract's order (§2.2): 429, 503, 401, 403, 503. */
  admit(rpc: DescMethodUnary, inbound: Inbound): Promise<AdmittedCall>;
}

/**
 * Runs an admitted stream: consumes its messages and yields its responses. Fails with a `Failure`, or with the
 * library's error for a message that cannot be read.
 */
export type Stream = (messages: AsyncIterable<Message>) => AsyncIterable<Message>;

/** The chain of guards, and the services behind it, for streaming rpcs. */
export interface StreamDispatch {
  /** Runs the guards that need no message. Fails with a `Failure` only. */
  admit(rpc: DescMethod, inbound: Inbound): Promise<Stream>;
}

/** What is known of a request that has just arrived. */
export interface Arrived {
  header(name: string): string | undefined;
  /** Returns the client's address, determined as TRUST_PROXY says. */
  address(): string;
  /** Returns what is at its path. */
  target(): ArrivedAt;
  /** Sets what to call when its turn has come, and again when its stream closes. Undefined if it begins at once. */
  readonly onTurn?: ((leave: () => void) => void) | undefined;
}

/** What the load shedding distinguishes of paths. */
export interface ArrivedAt {
  /** Whether the path is that of the MCP surface, the only one that access tokens are for. */
  readonly isMcp: boolean;
  /**
   * The bucket from which a request takes its token: that of its caller, or another one, as a request for a document
   * does. Undefined for a health check, which is never rejected at once.
   */
  readonly bucket: "caller" | "other" | undefined;
}

/**
 * Returns why a request must be rejected at once: RATE_LIMITED while its bucket is known to be empty, or UNAVAILABLE
 * if too many requests are in progress. Returns undefined for any other request. A rejection for overload is debited to
 * the bucket of its caller.
 */
export type Shed = (request: Arrived) => Failure | undefined;

/** Called for every failed request, before its response. */
export type OnError = (failure: Failure, inbound: Inbound) => void;
