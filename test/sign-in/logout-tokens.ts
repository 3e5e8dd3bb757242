// What a test file of back-channel logout begins with: a provider that makes every logout token, and how it is sent.
import type { JWTPayload } from "jose";
import { afterEach } from "vitest";
import type { RestResponse } from "../fixtures/service/service.ts";
import { logoutClaims, sendLogoutToken } from "../fixtures/sign-in/fake-provider.ts";
import { useFakeProvider } from "../support/at-fake-provider.ts";

/** Starts the provider and the service; the provider responds as usual again after each test. */
export function useLogoutTokens() {
  const { fake, service, base } = useFakeProvider();
  afterEach(() => fake().responses.clear());
  const claimsOf = (changes: Record<string, unknown> = {}): JWTPayload => logoutClaims(fake(), changes);
  const sendToken = (
    token: string | undefined,
    at = base(),
    headers: Record<string, string> = {},
  ): Promise<RestResponse> => sendLogoutToken(at, token, headers);
  return { fake, service, base, claimsOf, sendToken };
}
