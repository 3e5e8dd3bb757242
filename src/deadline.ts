// The deadline of a request: the caller gets 503 when it passes, and nothing is started for that caller afterwards (contract §10).
import { setMaxListeners } from "node:events";
import { Reason } from "./gen/records/v1/errors_pb.ts";
import { Failure, fail } from "./errors.ts";

/** From the arrival of a request to its response, with room for the response to travel. */
export const deadlineMs = 4_800;

/** When the caller stops waiting. */
export interface Deadline {
  /** In milliseconds of `performance.now()`. */
  readonly at: number;
  /** Aborts when the deadline passes. Created on first use: most requests are reads, and need none. */
  readonly signal: AbortSignal;
}

/** The deadline `ms` from now. */
export function deadlineIn(ms: number): Deadline {
  const at = performance.now() + ms;
  let signal: AbortSignal | undefined;
  return {
    at,
    get signal() {
      return (signal ??= abortedAt(at));
    },
  };
}

/** As `AbortSignal.timeout`, at a fifth of its cost: it is paid for every write. */
function abortedAt(at: number): AbortSignal {
  const controller = new AbortController();
  // A batch writes dozens of records at once, and each listens.
  setMaxListeners(0, controller.signal);
  setTimeout(() => controller.abort(), Math.max(0, Math.ceil(at - performance.now()))).unref();
  return controller.signal;
}

/** Whether the deadline has passed. */
export function isPast({ at }: Deadline): boolean {
  return performance.now() >= at;
}

/** Fails with UNAVAILABLE once the deadline has passed: for the moment before something is started. */
export function requireTime(deadline: Deadline): void {
  if (isPast(deadline)) fail(Reason.UNAVAILABLE, tooLate);
}

/** Settles as the promise does, or fails with UNAVAILABLE at the deadline; what is under way then is not waited for. */
export async function within<T>({ at }: Pick<Deadline, "at">, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Failure(Reason.UNAVAILABLE, tooLate)), Math.max(0, at - performance.now()));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const tooLate = { message: "The service could not answer in time; try again." };
