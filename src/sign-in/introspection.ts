// Introspection of access tokens (RFC 7662), which distinguishes a rejection from an unavailable provider.
import type { IntrospectionResponse } from "openid-client";
import * as oidc from "openid-client";
import type { ProviderClient } from "./client-authentication.ts";
import { rejectionOf, wordsOf } from "./provider-response.ts";

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
export async function introspectToken(client: ProviderClient, token: string): Promise<IntrospectionResponse> {
  try {
    return await client.authenticated((config) => oidc.tokenIntrospection(config, token));
  } catch (error) {
    const rejection = rejectionOf(error);
    if (rejection === undefined) throw error;
    const { status, code } = rejection;
    const ofService = status < 400 || ofTheService.includes(status) || ofTheClient.includes(code ?? "");
    throw new IntrospectionRejected(wordsOf(rejection), ofService, error);
  }
}
