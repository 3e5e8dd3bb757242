// What a call fails with.
import type { ErrorDetail } from "./types.ts";

/** What is known of a failure. */
export interface Failure {
  /** The HTTP status; undefined when no response came. */
  readonly status?: number | undefined;
  /** The code of the service's envelope, or the client's own: `unreachable`, `timeout`, `unreadable`. */
  readonly code: string;
  /** The parts of the request that are wrong, one by one; empty where single parts are not at fault. */
  readonly details?: readonly ErrorDetail[] | undefined;
  /** The response's `X-Request-Id`, to be named when the problem is reported. */
  readonly requestId?: string | undefined;
  /** Seconds to wait before the next attempt, with status 429. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A call that did not succeed, after whatever was worth a retry. Its `message` is the service's own and names every
 * field that is wrong. It holds nothing of the request's headers. (A call that its caller aborted rejects with the
 * signal's reason instead.)
 */
export class RecordsError extends Error {
  override readonly name = "RecordsError";
  readonly status: number | undefined;
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, code, details = [], requestId, retryAfter, cause }: Failure) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}
