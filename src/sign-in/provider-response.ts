// Reads the provider's response out of the library's errors: its status and its OAuth error code.
import * as oidc from "openid-client";

/** An error response of the provider. */
export interface ErrorResponse {
  readonly status: number;
  /** The OAuth error code, if the provider names one. */
  readonly code: string | undefined;
}

/** Statuses of a temporary failure, after which the provider counts as unavailable. */
const temporary: readonly number[] = [408, 425, 429];
const maxCodeLength = 60;

/** Returns the response that an error reports; undefined if there is none. */
export function responseOf(error: unknown): ErrorResponse | undefined {
  if (error instanceof oidc.ResponseBodyError) return { status: error.status, code: error.error };
  if (error instanceof oidc.WWWAuthenticateChallengeError) return { status: error.status, code: undefined };
  // If the response is not an OAuth error, such as a page, the library passes it on as the cause.
  if (error instanceof oidc.ClientError && error.cause instanceof Response)
    return { status: error.cause.status, code: undefined };
  return undefined;
}

/** Returns how the provider rejected the request for good; undefined if it did not, or if a retry may succeed. */
export function rejectionOf(error: unknown): ErrorResponse | undefined {
  const response = responseOf(error);
  if (response === undefined || temporary.includes(response.status)) return undefined;
  return response.status >= 300 && response.status < 500 ? response : undefined;
}

/** Formats a response as "status 401, invalid_client", for the log and for users. */
export function wordsOf({ status, code }: ErrorResponse): string {
  return `status ${status}${code === undefined ? "" : `, ${plainCode(code)}`}`;
}

/** Returns a code of the provider without the characters that no OAuth error code has. */
export function plainCode(code: string): string {
  return code.replace(/[^\w.-]/g, "").slice(0, maxCodeLength);
}
