// Introspection of access tokens (RFC 7662), with the rejections of the provider apart from its being away.
import type { Configuration, IntrospectionResponse } from "openid-client";
import * as oidc from "openid-client";

/** The provider responded, and did not say whether the token is active. The message is for the operator. */
export class IntrospectionRejected extends Error {
  override readonly name = "IntrospectionRejected";
  /** Whether it rejects the service, and not this token alone. */
  readonly ofService: boolean;

  constructor(message: string, ofService: boolean, cause: unknown) {
    super(message, { cause });
    this.ofService = ofService;
  }
}

interface Rejection {
  readonly status: number;
  /** The OAuth error, where the provider names one. */
  readonly code: string | undefined;
}

/** Statuses that request a later attempt: the provider counts as away. */
const temporary: readonly number[] = [408, 425, 429];
/** Statuses that reject the service, whatever the token: anyone can send a text that is not a token. */
const ofTheService: readonly number[] = [401, 403, 404, 405, 410];
const ofTheClient: readonly string[] = ["invalid_client", "unauthorized_client", "access_denied"];

/** Rejects with `IntrospectionRejected`, or with the library's error where the provider is away. */
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

/** How the provider rejected the request for good; undefined where it did not, or may not next time. */
function rejectionOf(error: unknown): Rejection | undefined {
  const rejection = responseOf(error);
  if (rejection === undefined || temporary.includes(rejection.status)) return undefined;
  return rejection.status >= 300 && rejection.status < 500 ? rejection : undefined;
}

function responseOf(error: unknown): Rejection | undefined {
  if (error instanceof oidc.ResponseBodyError) return { status: error.status, code: error.error };
  if (error instanceof oidc.WWWAuthenticateChallengeError) return { status: error.status, code: undefined };
  // Of a response that is no OAuth error, such as a page, the library hands on the response.
  if (error instanceof oidc.ClientError && error.cause instanceof Response)
    return { status: error.cause.status, code: undefined };
  return undefined;
}
