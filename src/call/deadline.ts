// The deadline of a request: when it passes, the request fails and nothing more is started for it (contract §10).
import { setMaxListeners } from "node:events";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { FailureOptions } from "./errors.ts";
import { type Failure, fail } from "./errors.ts";
import type { Tally } from "./tally.ts";
import { waitOf } from "./tally.ts";
import { withTimeout } from "./time-limit.ts";

/**
 * The time limit of a request in milliseconds, without the time in which its body arrives. It leaves time to send the
 * response.
 */
export const deadlineMs = 4_800;

/** The instant at which the caller stops waiting. */
export interface Deadline {
  /** In milliseconds of `performance.now()`. It is in the past once the caller has cancelled. */
  readonly at: number;
  /** Aborts when the deadline passes. Created on first use, because most requests are reads and need none. */
  readonly signal: AbortSignal;
  /** Aborts when the caller cancels; undefined if the caller cannot. */
  readonly cancelled: AbortSignal | undefined;
  /** The reason with which the request fails once the deadline has passed. */
  readonly reason: typeof Reason.UNAVAILABLE | typeof Reason.DEADLINE_EXCEEDED | typeof Reason.CANCELLED;
  /** The tally of the request; undefined for background work. */
  readonly tally?: Tally | undefined;
}

/** The limits that a caller sets. */
export interface CallerLimits {
  /** `grpc-timeout` or `Connect-Timeout-Ms`, in milliseconds of `performance.now()`. */
  readonly expiresAt?: number | undefined;
  readonly cancellation?: Cancellation | undefined;
}

/** Whether the caller has left, or has reset its stream. */
export interface Cancellation {
  readonly requested: boolean;
  /**
   * Aborts shortly after `requested`, so that a command that is nearly done may finish. Interrupting a command costs
   * its connection.
   */
  readonly signal: AbortSignal;
}

/** Returns the deadline `ms` milliseconds from now, or an earlier one if the caller stops waiting earlier. */
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
 * The error that interrupts a command. The driver copies the properties of the error that ends a bulk write. The
 * default, a DOMException, has properties that make the driver throw a TypeError.
 */
const abortReason = new Error("the client no longer waits");

/** How many milliseconds after the deadline a shared signal may abort. */
const tickMs = 20;
/** Signals of deadlines that nobody can cancel, by when they abort. */
const shared = new Map<number, AbortSignal>();

/**
 * Like `AbortSignal.timeout`, which costs much more. Deadlines of the same `tickMs` share a signal, unless they can be
 * cancelled. Never aborts before the deadline, because code that catches the abort relies on that.
 */
function abortedAt(at: number, cancelled: AbortSignal | undefined): AbortSignal {
  if (cancelled !== undefined) return cancellableAt(at, cancelled);
  const tick = Math.ceil(at / tickMs) * tickMs;
  const known = shared.get(tick);
  if (known !== undefined) return known;
  const controller = newController();
  shared.set(tick, controller.signal);
  whenPast(tick, () => {
    shared.delete(tick);
    controller.abort(abortReason);
  });
  return controller.signal;
}

function cancellableAt(at: number, cancelled: AbortSignal): AbortSignal {
  const controller = newController();
  onPassed({ at, cancelled }, () => controller.abort(abortReason));
  return controller.signal;
}

function newController(): AbortController {
  const controller = new AbortController();
  // A batch writes dozens of records at once, and each write adds a listener.
  setMaxListeners(0, controller.signal);
  return controller;
}

/**
 * Calls back once, when the deadline passes or its caller cancels. Unlike `signal`, it is not late. Returns a function
 * that prevents the call.
 */
export function onPassed({ at, cancelled }: Pick<Deadline, "at" | "cancelled">, callback: () => void): () => void {
  const passed = (): void => {
    stop();
    callback();
  };
  const clear = whenPast(at, passed);
  // A stream's cancellation outlives the deadlines of its batches.
  const stop = (): void => {
    clear();
    cancelled?.removeEventListener("abort", passed);
  };
  cancelled?.addEventListener("abort", passed);
  if (cancelled?.aborted === true) passed();
  return stop;
}

/**
 * Calls back after this instant, although Node's timers may fire up to a millisecond early. Returns a function that
 * prevents the call.
 */
function whenPast(at: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const expire = (): void => (performance.now() < at ? wait() : callback());
  function wait(): void {
    timer = setTimeout(expire, Math.max(0, Math.ceil(at - performance.now()))).unref();
  }
  wait();
  return () => clearTimeout(timer);
}

/** Whether a request failed because of time or the database, and not because of its content. */
export function isTimeoutOrUnavailable({ reason }: Failure): boolean {
  return reason === Reason.UNAVAILABLE || reason === Reason.DEADLINE_EXCEEDED || reason === Reason.CANCELLED;
}

/** Returns the remaining time in whole milliseconds. It is at least 1, because a limit of 0 means no limit. */
export function leftMs({ at }: Pick<Deadline, "at">): number {
  return Math.max(1, Math.ceil(at - performance.now()));
}

/** Whether the deadline has passed. */
export function isPast({ at }: Pick<Deadline, "at">): boolean {
  return performance.now() >= at;
}

/** Fails with the deadline's reason once it has passed. Call it before you start something. */
export function requireNotPast(deadline: Deadline): void {
  if (performance.now() >= deadline.at) failAtDeadline(deadline);
}

/** Settles as the promise does, or fails at the deadline without waiting for work in progress. */
export function withDeadline<T>(deadline: Deadline, promise: Promise<T>): Promise<T> {
  return withTimeout(Math.max(0, deadline.at - performance.now()), promise, () => failAtDeadline(deadline));
}

/** Fails with the deadline's reason. */
export function failAtDeadline(deadline: Deadline): never {
  return fail(deadline.reason, tooLate(deadline));
}

function tooLate({ reason, tally }: Deadline): FailureOptions {
  const message = reason === Reason.UNAVAILABLE ? { message: "The service could not respond in time. Try again." } : {};
  return { ...message, because: "deadline", waitingFor: waitOf(tally) };
}
