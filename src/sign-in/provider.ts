// OpenID Connect client of the identity provider: code flow with PKCE, RP-initiated and back-channel logout.
import type { Configuration, CustomFetchOptions, IntrospectionResponse } from "openid-client";
import * as oidc from "openid-client";
import { errors } from "jose";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { UserProfile } from "../guards/call.ts";
import { fail } from "../call/errors.ts";
import { isLocalName } from "../config/loopback.ts";
import { loadOnce } from "../call/load-once.ts";
import { withTimeout } from "../call/time-limit.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { ProviderClient } from "./client-authentication.ts";
import { createProviderClient } from "./client-authentication.ts";
import { IntrospectionRejected, introspectToken } from "./introspection.ts";
import type { KeySet, Sender } from "./key-set.ts";
import { createKeySet, fetchKeySet } from "./key-set.ts";
import type { Logout } from "./logout-token.ts";
import { toleranceSeconds, verifyLogoutToken } from "./logout-token.ts";
import { providerName, requireKeys, signInFailure, unreachable, whyNoLogout } from "./provider-failures.ts";
import { responseOf } from "./provider-response.ts";
import type { AuthenticatedUser, ProviderTokens, TokenResponse } from "./session-store.ts";

/** The provider, and our credentials as its client. */
export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Returns headers that link a request to the provider with the request that causes it. */
  readonly outgoing?: (() => Readonly<Record<string, string>>) | undefined;
  /** Called for every request to the provider, with whether it responded. A 5xx does not count as a response. */
  readonly onResponse?: ((responded: boolean) => void) | undefined;
  /**
   * Called with the reason if the provider rejects introspection by us; with undefined if it accepts it or offers none.
   */
  readonly onRejection?: ((rejection: string | undefined) => void) | undefined;
}

/** The state of a sign-in, which must be kept until the user comes back from the provider. */
export interface SignInState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** True if the user was already sent to sign in again after a sign-out. It happens only once. */
  readonly afresh?: boolean;
  /** The path of our own to which the user returns; undefined for the start page. */
  readonly to?: string;
}

/**
 * The provider. Unless stated otherwise, methods fail with UNAVAILABLE while it cannot be reached or sends invalid
 * metadata.
 */
export interface IdentityProvider {
  /**
   * Returns the issuer that every token of the provider names. It may differ from the configured one by a trailing
   * slash.
   */
  issuer(): Promise<string>;
  /**
   * Returns the URL of the sign-in page, and the state to keep. `afresh` requests a new sign-in even if the provider
   * has a session.
   */
  begin(redirectUri: string, afresh?: boolean): Promise<{ readonly location: string; readonly remember: SignInState }>;
  /**
   * Returns the user who signed in, from the URL of the redirect back. Fails with SIGN_IN_FAILED if the provider or a
   * check rejects the sign-in.
   */
  complete(url: URL, remembered: SignInState): Promise<AuthenticatedUser & { readonly tokenResponse: TokenResponse }>;
  /**
   * Returns the URL at which the provider ends its session; undefined if there is none or it is unavailable. Never
   * rejects.
   */
  endSessionUrl(idToken: string | undefined, returnTo: string): Promise<string | undefined>;
  /**
   * Revokes our access token (RFC 7009), which reports a sign-out to the provider without the browser. Never rejects.
   */
  revoke(accessToken: string): Promise<void>;
  /**
   * Returns what the userinfo endpoint says of the holder of a token. Returns undefined if there is no such endpoint,
   * or it does not accept the token. Never rejects.
   */
  userInfo(accessToken: string, subject: string): Promise<UserProfile | undefined>;
  /**
   * Renews the tokens of a session by its refresh token. Returns "ended" if the provider rejects the refresh token: the
   * session has ended there, or the user is disabled. Returns undefined if the provider does not decide. Never rejects.
   */
  renew(refreshToken: string): Promise<ProviderTokens | "ended" | undefined>;
  /** Returns the content of a verified logout token. Fails with INVALID_LOGOUT_TOKEN. */
  readLogoutToken(token: string, sender: Sender): Promise<Logout>;
  /** Returns the provider's cached keys. While it is unavailable, those fetched in the last day stay in use. */
  keys(): Promise<KeySet>;
  /** Returns the scopes in the provider's metadata; undefined if it lists none or is unavailable. Never rejects. */
  scopes(): Promise<readonly string[] | undefined>;
  /**
   * Introspects an access token (RFC 7662). Returns undefined if the provider offers no introspection. Rejects with
   * `IntrospectionRejected` if the provider responds without stating whether the token is active.
   */
  introspect(token: string): Promise<IntrospectionResponse | undefined>;
}

const requestTimeoutSeconds = 4;
/** The age at which the metadata, which seldom change, are fetched again. */
const metadataMs = 3_600_000;
/** The maximum time that a sign-out waits for the revocation at the provider. */
const revocationMs = 1_500;
const userInfoMs = 1_500;
/** A `max_age` that makes the provider send auth_time (OpenID Connect Core §3.1.2.1) without a new sign-in. */
const anyAgeSeconds = 30 * 86_400;
/** The accepted signature algorithms: neither `none` nor any with a shared secret. */
export const signatures = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/**
 * Fetches the provider's metadata for our client. Rejects with the library's error, including if the metadata name
 * another issuer.
 */
export async function discoverProvider({
  issuer,
  clientId,
  clientSecret,
  ...watched
}: ProviderOptions): Promise<ProviderClient> {
  const server = new URL(issuer);
  // A provider on this machine may have no certificate; `config.ts` rejects http for any other host.
  const isUnencrypted = server.protocol === "http:";
  const fetching = (url: string, options: CustomFetchOptions): Promise<Response> =>
    watchedFetch(url, options as RequestInit, watched);
  const found = await oidc.discovery(server, clientId, undefined, oidc.None(), {
    execute: isUnencrypted ? [oidc.allowInsecureRequests] : [],
    timeout: requestTimeoutSeconds,
    [oidc.customFetch]: fetching,
  });
  requireEndpoints(found);
  const metadata = found.serverMetadata();
  return createProviderClient((authentication) => {
    const config = new oidc.Configuration(metadata, clientId, undefined, authentication);
    if (isUnencrypted) oidc.allowInsecureRequests(config);
    config.timeout = requestTimeoutSeconds;
    config[oidc.customFetch] = fetching;
    return config;
  }, clientSecret);
}

/** Fetches a response of limited size, and reports whether the provider responded. */
async function watchedFetch(
  url: string,
  options: RequestInit,
  { outgoing, onResponse }: Pick<ProviderOptions, "outgoing" | "onResponse">,
): Promise<Response> {
  try {
    const response = await boundedFetch(url, options, outgoing?.());
    onResponse?.(response.status < 500);
    return response;
  } catch (error) {
    onResponse?.(false);
    throw error;
  }
}

/** Creates the provider. Its metadata are fetched on first use, so an instance starts without it. */
export function createIdentityProvider(options: ProviderOptions): IdentityProvider {
  const { clientId } = options;
  const configuration = loadOnce(() => discoverProvider(options), metadataMs);
  const client = (): Promise<ProviderClient> => configuration.get().catch(unreachable);
  const discovered = async (): Promise<Configuration> => (await client()).config;
  /** Returns undefined if the provider is unavailable or rejects the request. */
  const attempt = <T>(work: (client: ProviderClient) => T | Promise<T>): Promise<T | undefined> =>
    configuration
      .get()
      .then(work)
      .catch(() => undefined);
  const keys = createProviderKeys(options, discovered);
  let named: { readonly config: Configuration; readonly issuer: string } | undefined;

  return {
    async issuer() {
      const config = await discovered();
      // Every request with an access token needs the issuer, and the library copies the metadata on each call.
      if (named?.config !== config) named = { config, issuer: config.serverMetadata().issuer };
      return named.issuer;
    },
    begin: async (redirectUri, afresh = false) => requestCode(await discovered(), redirectUri, afresh),
    async complete(url, remembered) {
      const [ours, keySet] = [await client(), await keys()];
      try {
        return await redeemCode(ours, keySet, clientId, url, remembered);
      } catch (error) {
        if (error instanceof errors.JOSEError) requireKeys(error);
        throw signInFailure(error);
      }
    },
    endSessionUrl: (idToken, returnTo) =>
      attempt(({ config }) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        const hint = idToken === undefined ? {} : { id_token_hint: idToken };
        return oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo, ...hint }).href;
      }),
    // If this fails, the session has ended here anyway, and the browser goes to the provider next.
    revoke: (accessToken) =>
      attempt(async (ours) => {
        if (ours.config.serverMetadata().revocation_endpoint === undefined) return;
        const revocation = ours.authenticated((config) =>
          oidc.tokenRevocation(config, accessToken, { token_type_hint: "access_token" }),
        );
        await withTimeout(revocationMs, revocation);
      }),
    userInfo: (accessToken, subject) =>
      attempt(async ({ config }) => {
        if (config.serverMetadata().userinfo_endpoint === undefined) return undefined;
        return profileOf(await withTimeout(userInfoMs, oidc.fetchUserInfo(config, accessToken, subject)));
      }),
    renew: (refreshToken) =>
      attempt(async (ours) => {
        try {
          const tokens = await ours.authenticated((config) => oidc.refreshTokenGrant(config, refreshToken));
          return {
            idToken: stringClaim(tokens.id_token),
            accessToken: tokens.access_token,
            refreshToken: stringClaim(tokens.refresh_token),
          };
        } catch (error) {
          if (responseOf(error)?.code === "invalid_grant") return "ended" as const;
          throw error;
        }
      }),
    async readLogoutToken(token, sender) {
      const [keySet, { issuer }] = [await keys(), (await discovered()).serverMetadata()];
      try {
        return await verifyLogoutToken(token, keySet, { issuer, audience: clientId, algorithms: signatures }, sender);
      } catch (error) {
        requireKeys(error);
        return fail(Reason.INVALID_LOGOUT_TOKEN, { because: whyNoLogout(error) });
      }
    },
    keys,
    scopes: () => attempt(({ config }) => config.serverMetadata().scopes_supported),
    introspect: async (token) => introspectWatched(await client(), token, options),
  };
}

/** Introspects if the provider offers it, and reports whether the provider accepts this from us. */
async function introspectWatched(
  client: ProviderClient,
  token: string,
  { onRejection }: Pick<ProviderOptions, "onRejection">,
): Promise<IntrospectionResponse | undefined> {
  const isOffered = client.config.serverMetadata().introspection_endpoint !== undefined;
  try {
    const said = isOffered ? await introspectToken(client, token) : undefined;
    onRejection?.(undefined);
    return said;
  } catch (error) {
    if (error instanceof IntrospectionRejected && error.ofService) onRejection?.(error.message);
    throw error;
  }
}

/** Returns the keys at the provider's `jwks_uri`, which are cached until it names another one. */
function createProviderKeys(options: ProviderOptions, discovered: () => Promise<Configuration>) {
  let kept: { readonly uri: string; readonly set: KeySet } | undefined;
  return async (): Promise<KeySet> => {
    const uri =
      (await discovered()).serverMetadata().jwks_uri ??
      fail(Reason.UNAVAILABLE, {
        message: "The identity provider has no keys.",
        because: "no keys",
        waitingFor: providerName,
      });
    if (kept?.uri !== uri) {
      const fetching = (url: string, init: RequestInit): Promise<Response> => watchedFetch(url, init, options);
      kept = { uri, set: createKeySet(() => fetchKeySet(uri, requestTimeoutSeconds * 1_000, fetching)) };
    }
    kept.set.refresh();
    return kept.set;
  };
}

async function requestCode(config: Configuration, redirectUri: string, afresh: boolean) {
  const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
  const location = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "openid email profile",
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(afresh ? { prompt: "login", max_age: "0" } : { max_age: String(anyAgeSeconds) }),
  });
  return { location: location.href, remember: { state, nonce, verifier, afresh } };
}

async function redeemCode(
  client: ProviderClient,
  keys: KeySet,
  clientId: string,
  url: URL,
  { state, nonce, verifier }: SignInState,
): Promise<AuthenticatedUser & { readonly tokenResponse: TokenResponse }> {
  const sentAt = performance.now();
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
  const tokens = await client.authenticated((config) => oidc.authorizationCodeGrant(config, url, checks));
  const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken } = tokens;
  const claims = tokens.claims();
  if (claims === undefined || idToken === undefined) throw new Error("the provider sent no ID token");
  const { iss: issuer, sub: subject, iat: issuedAt, auth_time } = claims;
  const expected = { issuer, audience: clientId, algorithms: signatures, clockTolerance: toleranceSeconds };
  await keys.verify(idToken, expected, "provider");
  const authenticatedAt = typeof auth_time === "number" ? auth_time : undefined;
  return {
    issuer,
    subject,
    sid: stringClaim(claims["sid"]),
    email: stringClaim(claims["email"]),
    name: stringClaim(claims["name"]),
    idToken,
    tokenResponse: { accessToken, refreshToken: stringClaim(refreshToken), authenticatedAt, issuedAt, sentAt },
  };
}

/** Throws if metadata lack an endpoint or have an unencrypted one, so that they are not cached. */
function requireEndpoints(found: Configuration): void {
  const { authorization_endpoint = "", token_endpoint = "", jwks_uri = "" } = found.serverMetadata();
  for (const [name, url] of Object.entries({ authorization_endpoint, token_endpoint, jwks_uri })) {
    if (!URL.canParse(url)) throw new Error(`the identity provider's metadata has no ${name}`);
    const { protocol, hostname } = new URL(url);
    if (protocol !== "https:" && !(protocol === "http:" && isLocalName(hostname)))
      throw new Error(`the identity provider's ${name} is not https`);
  }
}

/** Returns what claims say of a user (OpenID Connect Core §5.1). An unknown time zone counts as missing. */
export function profileOf(claims: Readonly<Record<string, unknown>>): UserProfile {
  const timeZone = stringClaim(claims["zoneinfo"]);
  return {
    name: stringClaim(claims["name"]),
    email: stringClaim(claims["email"]),
    timeZone: timeZone !== undefined && isTimeZone(timeZone) ? timeZone : undefined,
  };
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** Returns a claim that is a string and not empty; undefined for any other. */
export function stringClaim(claim: unknown): string | undefined {
  return typeof claim === "string" && claim !== "" ? claim : undefined;
}
