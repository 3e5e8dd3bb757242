// The error of a failed call.
import type { ErrorDetail } from "./types.ts";

/** The facts of a failure. */
export interface Failure {
  /** The HTTP status; undefined if no response arrived. */
  readonly status?: number | undefined;
  /**
   * The code in the service's error response, or else the HTTP status. The client's own codes are `unreachable`,
   * `timeout` and `unreadable`.
   */
  readonly code: string;
  /** The service's name of the reason, such as `DUPLICATE_EMAIL`; undefined if the response has none. */
  readonly reason?: string | undefined;
  /** The invalid parts of the request. Empty if the error does not concern individual parts. */
  readonly details?: readonly ErrorDetail[] | undefined;
  /** The `X-Request-Id` of the response. Include it when you report a problem. */
  readonly requestId?: string | undefined;
  /** The number of seconds to wait before the next attempt. The service sends it with status 429. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The error of a failed call, thrown if a retry is unsafe or useless, or after all retries failed. Its `message` is the
 * service's own, if there is one, and names every invalid field. It contains none of the request's headers. A call that
 * its caller aborts rejects with the signal's reason instead.
 */
export class RecordsError extends Error {
  override readonly name = "RecordsError";
  readonly status: number | undefined;
  readonly code: string;
  readonly reason: string | undefined;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, code, reason, details = [], requestId, retryAfter, cause }: Failure) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}
