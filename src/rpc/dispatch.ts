// The way from any wire to a service: what a surface hands over, and what it gets back.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { Violation } from "../errors.ts";

/** A request as a surface received it, before its body is read. */
export interface Inbound {
  /** One value of a header (or of gRPC metadata); the name in lower case. */
  header(name: string): string | undefined;
  /** The address of the client, as TRUST_PROXY lets it be known. */
  readonly address: string;
  readonly requestId: string;
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly arrivedAt: number;
}

/** What a service answered. */
export interface Answer {
  readonly message: Message;
  /** True where it is the answer to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** The REST body of the first answer, where this is a replay. */
  readonly body: string | undefined;
}

/** A request for which every guard that needs no body has been passed. */
export interface Admitted {
  /**
   * Validates the message, runs the service and answers.
   * `found` is what the surface itself found wrong while it decoded: it is reported together with the rest.
   */
  invoke(message: Message, found?: readonly Violation[]): Promise<Answer>;
  /** Refuses a message that cannot be read, unless the guards' last word on the request is another. */
  reject(found: readonly Violation[]): Promise<never>;
}

/** The chain of guards, and the services behind it. All of it fails with a `Failure` only. */
export interface Dispatch {
  /** Charges the request to its bucket and does nothing else: for what is no rpc (404, 405, OPTIONS). */
  throttle(inbound: Inbound): Promise<void>;
  /** Runs the guards that need no body, in the contract's order (§2.2): 429, 503, 401, 403, 503. */
  admit(rpc: DescMethodUnary, inbound: Inbound): Promise<Admitted>;
}
