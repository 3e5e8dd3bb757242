// Introspection of access tokens (RFC 7662), which distinguishes a rejection from an unavailable provider.
import type { Configuration, IntrospectionResponse } from "openid-client";
import * as oidc from "openid-client";

/** The provider responded without stating whether the token is active. The message is for the operator. */
export class IntrospectionRejected extends Error {
  override readonly name = "IntrospectionRejected";
  /** Whether the provider rejects the service, and not only this token. */
  readonly ofService: boolean;

  constructor(message: string, ofService: boolean, cause: unknown) {
    super(message, { cause });
    this.ofService = ofService;
  }
}

interface Rejection {
  readonly status: number;
  /** The OAuth error code, if the provider names one. */
  readonly code: string | undefined;
}

/** Statuses of a temporary failure, after which the provider counts as unavailable. */
const temporary: readonly number[] = [408, 425, 429];
/**
 * Statuses that reject the service, whatever the token. Other statuses may only reject the token, and anyone can send
 * an invalid one.
 */
const ofTheService: readonly number[] = [401, 403, 404, 405, 410];
const ofTheClient: readonly string[] = ["invalid_client", "unauthorized_client", "access_denied"];

/**
 * Introspects a token. Rejects with `IntrospectionRejected`, or with the library's error if the provider is
 * unavailable.
 */
export async function introspectToken(config: Configuration, token: string): Promise<IntrospectionResponse> {
  try {
    return await oidc.tokenIntrospection(config, token);
  } catch (error) {
    const rejection = rejectionOf(error);
    if (rejection === undefined) throw error;
    const { status, code } = rejection;
    const words = `status ${status}${code === undefined ? "" : `, ${code.replace(/[^\w.-]/g, "").slice(0, 60)}`}`;
    const ofService = status < 400 || ofTheService.includes(status) || ofTheClient.includes(code ?? "");
    throw new IntrospectionRejected(words, ofService, error);
  }
}

/** Returns how the provider rejected the request for good; undefined if it did not, or if a retry may succeed. */
function rejectionOf(error: unknown): Rejection | undefined {
  const rejection = responseOf(error);
  if (rejection === undefined || temporary.includes(rejection.status)) return undefined;
  return rejection.status >= 300 && rejection.status < 500 ? rejection : undefined;
}

function responseOf(error: unknown): Rejection | undefined {
  if (error instanceof oidc.ResponseBodyError) return { status: error.status, code: error.error };
  if (error instanceof oidc.WWWAuthenticateChallengeError) return { status: error.status, code: undefined };
  // If the response is not an OAuth error, such as a page, the library passes it on as the cause.
  if (error instanceof oidc.ClientError && error.cause instanceof Response)
    return { status: error.cause.status, code: undefined };
  return undefined;
}
