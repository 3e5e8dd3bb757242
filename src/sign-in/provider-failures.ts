// Converts failures of the identity provider to failures of a request: start the sign-in again, or retry later.
import { errors } from "jose";
import * as oidc from "openid-client";
import { Failure, fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { UndecidedKeyError } from "./key-set.ts";
import { plainCode, rejectionOf, responseOf, wordsOf } from "./provider-response.ts";

/** The provider's name in the log. */
export const providerName = "the identity provider";

/**
 * Converts an error of a sign-in. Returns SIGN_IN_FAILED if the user declined or the response does not fit the request:
 * the sign-in must start again. Any other error is the provider's fault or ours, and returns UNAVAILABLE. Names the
 * provider's error code, but never its description, which may be any text.
 */
export function signInFailure(error: unknown): Failure {
  if (error instanceof oidc.AuthorizationResponseError) {
    const denied = error.error === "access_denied";
    // The rest of the response is arbitrary text from the browser's address, which must not be logged.
    const message = denied
      ? "The sign-in was cancelled."
      : `The identity provider rejected the sign-in (${plainCode(error.error)}).`;
    return new Failure(Reason.SIGN_IN_FAILED, { message });
  }
  const response = responseOf(error);
  if (response?.code === "invalid_grant")
    return new Failure(Reason.SIGN_IN_FAILED, {
      message: "The identity provider rejected the code of the sign-in (invalid_grant). Sign in again.",
      cause: error,
    });
  const rejection = rejectionOf(error);
  if (rejection !== undefined)
    return new Failure(Reason.UNAVAILABLE, {
      message: `The identity provider rejects the service's requests for tokens (${wordsOf(rejection)}). Trying again does not help. Report this to the operator.`,
      cause: error,
      waitingFor: providerName,
    });
  const code = error instanceof oidc.ClientError ? (error.code ?? "") : "";
  if (error instanceof errors.JOSEError || unfit.has(code)) return new Failure(Reason.SIGN_IN_FAILED, { cause: error });
  return new Failure(Reason.UNAVAILABLE, {
    message: `The identity provider could not complete the sign-in${response === undefined ? "" : ` (${wordsOf(response)})`}. Try again in a moment.`,
    cause: error,
    waitingFor: providerName,
  });
}

const unfit = new Set([
  "OAUTH_UNSUPPORTED_OPERATION",
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

/** Returns why a logout token is rejected, for the log. Never repeats what the token contains. */
export function whyNoLogout(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed)
    return `its claim ${error.claim} is ${error.reason === "missing" ? "missing" : "wrong, or too far in the future"}`;
  // The service's own errors have fixed texts.
  if (error instanceof Error && Object.getPrototypeOf(error) === Error.prototype) return error.message;
  return whyInvalid(error);
}

/** Returns why a JWT is not valid, as the rest of a sentence about it. Never repeats what the token contains. */
export function whyInvalid(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === "iss") return "another issuer issued it";
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === "nbf") return "it is not valid yet";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "its signature is wrong";
  if (error instanceof errors.JWKSNoMatchingKey) return "it was signed with an unknown key";
  return "it is malformed";
}

/**
 * Fails with UNAVAILABLE if the error of a verification means that the provider's keys are unavailable or out of date,
 * and not that the token is invalid.
 */
export function requireKeys(error: unknown): void {
  if (error instanceof UndecidedKeyError)
    fail(Reason.UNAVAILABLE, {
      message: "The token was signed with a key that the service does not know yet. Try again in a moment.",
      because: "unknown key",
      waitingFor: providerName,
    });
  if (areKeysUnavailable(error)) unreachable(error);
}

function areKeysUnavailable(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return (
    code === "ERR_JWKS_TIMEOUT" ||
    code === "ERR_JWKS_INVALID" ||
    code === "ERR_JOSE_GENERIC" ||
    error instanceof TypeError
  );
}

/** Fails with UNAVAILABLE, because the provider cannot be reached. */
export function unreachable(cause: unknown): never {
  return fail(Reason.UNAVAILABLE, {
    message: "The identity provider cannot be reached. Try again in a moment.",
    cause,
    waitingFor: providerName,
  });
}

/** Fails with UNAVAILABLE, because the provider rejects introspection by the service. */
export function rejectedIntrospection(cause: unknown): never {
  return fail(Reason.UNAVAILABLE, {
    message:
      "The identity provider rejects the service's requests to check access tokens. Report this to the operator.",
    cause,
    waitingFor: providerName,
  });
}
