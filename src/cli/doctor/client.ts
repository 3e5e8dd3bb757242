// Checks the service's client at the identity provider: its secret, its redirect URI, and its right to introspect
// tokens.
import * as oidc from "openid-client";
import { IntrospectionRejected, introspectToken } from "../../sign-in/introspection.ts";
import type { ProviderOptions } from "../../sign-in/provider.ts";
import { createIdentityProvider, discoverProvider } from "../../sign-in/provider.ts";
import { responseOf } from "../../sign-in/provider-response.ts";
import type { Verdict } from "./check.ts";
import { fault, note, ok, warning } from "./check.ts";
import { reasonOf } from "./reason.ts";
import { request } from "./request.ts";

/** The error codes of OAuth 2.0 and of common providers that do not begin with `invalid_`. */
const errorCodes: ReadonlySet<string> = new Set([
  "access_denied",
  "redirect_uri_mismatch",
  "unauthorized_client",
  "unsupported_response_type",
]);

/** Checks that the provider's metadata offers PKCE with S256 (`code_challenge_methods_supported`). */
export function pkce(methods: readonly string[]): Verdict {
  if (methods.includes("S256")) return ok("It offers PKCE with S256, which assistants require.");
  return fault(
    `Its metadata does not offer PKCE with S256 (code_challenge_methods_supported: ${methods.join(", ") || "missing"}): assistants do not sign in.`,
    "Turn on PKCE with S256 at the provider, and make sure that its metadata lists it.",
  );
}

/**
 * Requests tokens with an invalid code. The provider authenticates the client first (RFC 6749 §5.2). It returns
 * invalid_client if the id or the secret is wrong, and otherwise invalid_grant because of the code.
 */
export async function asClient(options: ProviderOptions, redirectUri: string): Promise<Verdict> {
  const client = await discoverProvider(options);
  const parameters = {
    code: "a-code-that-never-was",
    redirect_uri: redirectUri,
    code_verifier: oidc.randomPKCECodeVerifier(),
  };
  const { status, code } = await client
    .authenticated((config) => oidc.genericGrantRequest(config, "authorization_code", parameters))
    .then(
      () => ({ status: 200, code: "" }),
      (error: unknown) => responseOf(error) ?? { status: undefined, code: reasonOf(error) },
    );
  const said = code ?? `status ${status}`;
  if (said === "invalid_grant")
    return ok(`It knows the client ${options.clientId} and accepts the secret (${client.method()}).`);
  // RFC 6749 §5.2 allows a rejection by an HTTP challenge if the client uses the Authorization header.
  if (said === "invalid_client" || status === 401)
    return fault(
      `It rejects OIDC_CLIENT_SECRET, or does not know the client ${options.clientId} (${said}). The service tried client_secret_basic and client_secret_post.`,
      "Copy OIDC_CLIENT_ID and OIDC_CLIENT_SECRET from the provider again, and allow one of the two methods for the client.",
    );
  if (said === "unauthorized_client" || said === "unsupported_grant_type")
    return fault(
      `The client ${options.clientId} may not use the authorization code flow (${said}).`,
      "Allow the grant authorization_code for the client at the provider.",
    );
  if (said === "")
    return warning(
      "It issued tokens for an invalid authorization code.",
      "Check which program responds at the provider's token endpoint. It cannot be trusted.",
    );
  return note(
    `The client secret could not be checked. For an invalid code, the provider returned ${said}.`,
    "To check it, sign in on the dashboard.",
  );
}

/**
 * Introspects an invalid token. A provider that introspects for the service reports it as not active (RFC 7662 §2.2).
 */
export async function introspects(options: ProviderOptions): Promise<Verdict> {
  const client = await discoverProvider(options);
  try {
    const { active } = await introspectToken(client, "a-token-that-never-was");
    if (!active) return ok("A token that is revoked at the provider is rejected within 5 seconds (introspection).");
    return fault(
      "Its introspection endpoint calls an invalid token active.",
      "Check which program responds at the provider's introspection endpoint. It cannot be trusted.",
    );
  } catch (error) {
    const allow = `Allow the client ${options.clientId} to introspect access tokens at the provider`;
    if (!(error instanceof IntrospectionRejected))
      return warning(
        `Introspection failed: ${reasonOf(error)}.`,
        "Give the service access to the provider's introspection endpoint. Until then, a revoked token may be valid until it expires.",
      );
    if (error.ofService)
      return fault(
        `It rejects the service's introspection of access tokens (${error.message}): a token that it revokes is accepted until it expires.`,
        `${allow}. Tokens that are not JWTs get 503 until then.`,
      );
    return warning(
      `It rejects the introspection of an invalid token (${error.message}), instead of returning that it is not active.`,
      `Revoke an assistant's token at the provider. If it is still accepted after 5 seconds: ${allow}.`,
    );
  }
}

/** Follows the sign-in of the dashboard up to its first page. */
export async function signInPage(options: ProviderOptions, redirectUri: string): Promise<Verdict> {
  const { location } = await createIdentityProvider(options).begin(redirectUri);
  return authorization(new URL(location), redirectUri);
}

/** Checks that the authorization endpoint responds with a page or a redirect to one, and not with an error. */
export async function authorization(url: URL, redirectUri: string): Promise<Verdict> {
  const { status, headers, text } = await request(url.href, { headers: { Accept: "text/html" } });
  const known = `the provider must have the redirect URI ${redirectUri} for this client, byte for byte`;
  if (status >= 200 && status < 300)
    return ok(`Users get a sign-in page at ${url.origin}, and return to ${redirectUri}.`);
  const target = headers.get("location") ?? "";
  if (status >= 300 && status < 400 && URL.canParse(target, url.href)) {
    const next = new URL(target, url);
    const error = next.searchParams.get("error");
    if (error === null && !/\berror\b/i.test(next.pathname))
      return ok(`Users are redirected to ${next.origin}${next.pathname} to sign in, and return to ${redirectUri}.`);
    return fault(
      `The authorization endpoint rejects the request: ${error ?? next.pathname} ${next.searchParams.get("error_description") ?? ""}`.trimEnd() +
        ".",
      `Register the client's redirect URI: ${known}.`,
    );
  }
  const named = text.match(/\b[a-z_]+\b/g)?.find((word) => word.startsWith("invalid_") || errorCodes.has(word));
  return fault(
    `The authorization endpoint returns ${status}${named === undefined ? "" : ` (${named})`} instead of a sign-in page.`,
    `Check the client at the provider: ${known}.`,
  );
}
