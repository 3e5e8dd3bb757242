// The deadline of a request: when it passes, the request fails and nothing more is started for it (contract §10).
import { setMaxListeners } from "node:events";
import { Reason } from "./gen/records/v1/errors_pb.ts";
import type { FailureOptions } from "./errors.ts";
import { type Failure, fail } from "./errors.ts";
import type { Tally } from "./tally.ts";
import { waitOf } from "./tally.ts";
import { orAfter } from "./time-limit.ts";

/** From the arrival of a request to its response, with room for the response to travel. */
export const deadlineMs = 4_800;

/** When the caller stops waiting. */
export interface Deadline {
  /** In milliseconds of `performance.now()`; in the past once the caller has cancelled. */
  readonly at: number;
  /** Aborts when the deadline passes. Created on first use: most requests are reads, and need none. */
  readonly signal: AbortSignal;
  /** Aborts when the caller cancels; undefined where the caller cannot. */
  readonly cancelled: AbortSignal | undefined;
  /** Why the request fails once the deadline has passed. */
  readonly reason: typeof Reason.UNAVAILABLE | typeof Reason.DEADLINE_EXCEEDED | typeof Reason.CANCELLED;
  /** The tally of the request; undefined in the background. */
  readonly tally?: Tally | undefined;
}

/** The limits that a caller itself sets. */
export interface CallerLimits {
  /** `grpc-timeout` or `Connect-Timeout-Ms`, in milliseconds of `performance.now()`. */
  readonly expiresAt?: number | undefined;
  readonly cancellation?: Cancellation | undefined;
}

/** Whether the caller has gone away, or has reset its stream. */
export interface Cancellation {
  readonly requested: boolean;
  /**
   * Aborts shortly after `requested`: interrupting a command costs its connection, so that a command which is nearly
   * done may finish.
   */
  readonly signal: AbortSignal;
}

/** The deadline `ms` from now, or earlier where the caller stops waiting earlier. */
export function deadlineIn(
  ms: number,
  { expiresAt = Infinity, cancellation }: CallerLimits = {},
  tally?: Tally,
): Deadline {
  const own = performance.now() + ms;
  const at = Math.min(own, expiresAt);
  let signal: AbortSignal | undefined;
  return {
    tally,
    get at() {
      return cancellation?.requested === true ? -Infinity : at;
    },
    get signal() {
      signal ??= abortedAt(at, cancellation?.signal);
      return signal;
    },
    get cancelled() {
      return cancellation?.signal;
    },
    get reason() {
      if (cancellation?.requested === true) return Reason.CANCELLED;
      return expiresAt < own ? Reason.DEADLINE_EXCEEDED : Reason.UNAVAILABLE;
    },
  };
}

/**
 * Why a command is broken off. An error of our own: the driver copies the properties of what ends a bulk write, and a
 * DOMException, the default, has some that make it throw a TypeError.
 */
const givenUp = new Error("the client no longer waits");

/**
 * As `AbortSignal.timeout`, at a fifth of its cost: it is paid for every write. Never before the deadline: code that
 * catches the abort relies on it.
 */
function abortedAt(at: number, cancelled: AbortSignal | undefined): AbortSignal {
  const controller = new AbortController();
  // A batch writes dozens of records at once, and each listens.
  setMaxListeners(0, controller.signal);
  const wait = (): void => void setTimeout(expire, Math.max(0, Math.ceil(at - performance.now()))).unref();
  // A timer of Node's may fire up to a millisecond early.
  const abort = (): void => controller.abort(givenUp);
  const expire = (): void => (performance.now() < at ? wait() : abort());
  wait();
  cancelled?.addEventListener("abort", abort, { once: true });
  if (cancelled?.aborted === true) abort();
  return controller.signal;
}

/** Whether a request ended because of time or of the database, and not because of what it requests. */
export function isGivenUp({ reason }: Failure): boolean {
  return reason === Reason.UNAVAILABLE || reason === Reason.DEADLINE_EXCEEDED || reason === Reason.CANCELLED;
}

/** How long the caller waits yet, in whole milliseconds: at least one, as a limit of none is no limit. */
export function leftMs({ at }: Pick<Deadline, "at">): number {
  return Math.max(1, Math.ceil(at - performance.now()));
}

/** Whether the deadline has passed. */
export function isPast({ at }: Pick<Deadline, "at">): boolean {
  return performance.now() >= at;
}

/** Fails with the deadline's reason once it has passed. Call it before starting something. */
export function requireTime(deadline: Deadline): void {
  if (isPast(deadline)) fail(deadline.reason, tooLate(deadline));
}

/** Settles as the promise does, or fails at the deadline without waiting for work in progress. */
export function within<T>(deadline: Deadline, promise: Promise<T>): Promise<T> {
  return orAfter(Math.max(0, deadline.at - performance.now()), promise, () => fail(deadline.reason, tooLate(deadline)));
}

function tooLate({ reason, tally }: Deadline): FailureOptions {
  const message = reason === Reason.UNAVAILABLE ? { message: "The service could not respond in time. Try again." } : {};
  return { ...message, because: "deadline", waitingFor: waitOf(tally) };
}
