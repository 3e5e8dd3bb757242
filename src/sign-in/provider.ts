// The identity provider as we are its client: OpenID Connect Core with code flow and PKCE, RP-initiated and back-channel logout.
import type { Configuration, CustomFetchOptions, IntrospectionResponse } from "openid-client";
import * as oidc from "openid-client";
import type { JWTPayload } from "jose";
import { createRemoteJWKSet, customFetch, jwtVerify } from "jose";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { Failure, fail } from "../errors.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { refreshed } from "./refreshed.ts";
import type { Identified } from "./session-store.ts";

/** Which provider, and who we are to it. */
export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Headers by which a request to the provider belongs to the one that causes it. */
  readonly outgoing?: (() => Readonly<Record<string, string>>) | undefined;
}

/** What a sign-in has to remember until the person comes back. */
export interface SignInState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What a logout token ends: the session that it names, or without one all of the person's. At least one of the two is there. */
export interface Ended {
  readonly issuer: string;
  readonly sid: string | undefined;
  readonly subject: string | undefined;
}

/** The provider. Everything fails with UNAVAILABLE while it cannot be reached or says what cannot be. */
export interface IdentityProvider {
  /** The provider's name for itself, which every token bears: it may differ from the configured one by a slash at the end. */
  issuer(): Promise<string>;
  /** Where the person signs in, and what to remember. */
  begin(redirectUri: string): Promise<{ readonly location: string; readonly remember: SignInState }>;
  /** Who signed in, from the URL that the person came back to. Fails with SIGN_IN_FAILED when the provider or a check says no. */
  complete(url: URL, remembered: SignInState): Promise<Identified>;
  /** Where the provider ends its own session; undefined when it cannot, or is away. Never rejects. */
  endSessionUrl(idToken: string | undefined, returnTo: string): Promise<string | undefined>;
  /** Whose sessions a logout token ends. Fails with INVALID_LOGOUT_TOKEN. */
  readLogoutToken(token: string): Promise<Ended>;
  /** The provider's keys, which are kept: while it is away, those that were fetched in the last day go on. */
  keys(): Promise<KeySet>;
  /** What the provider says of an access token (RFC 7662); undefined where it offers no introspection. */
  introspect(token: string): Promise<IntrospectionResponse | undefined>;
}

/** Keys to verify a signature with. */
export type KeySet = ReturnType<typeof createRemoteJWKSet>;

const requestTimeoutSeconds = 4;
/** Metadata seldom change; after this long they are read again. */
const metadataMs = 3_600_000;
const keysMs = 24 * 3_600_000;
const refreshKeysMs = 600_000;
/** A logout token tells of the moment (Back-Channel Logout §2.4 lets us choose what is too old). */
const logoutTokenSeconds = 600;
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";
/** Not `none`, and no algorithm with a secret that we share. */
export const signatures = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** Asks the provider for its metadata, for the client that we are. Rejects with the library's error, also for another issuer's. */
export async function discoverProvider({ issuer, clientId, clientSecret, outgoing }: ProviderOptions): Promise<Configuration> {
  const server = new URL(issuer);
  // A provider on the way of development has no certificate; the operator chose the address.
  const execute = server.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  const fetching = (url: string, options: CustomFetchOptions): Promise<Response> => boundedFetch(url, options as RequestInit, outgoing?.());
  const found = await oidc.discovery(server, clientId, clientSecret, undefined, { execute, timeout: requestTimeoutSeconds, [oidc.customFetch]: fetching });
  requireEndpoints(found);
  return found;
}

/** The provider, asked for its metadata when they are needed first: we start without it. */
export function createIdentityProvider(options: ProviderOptions): IdentityProvider {
  const { clientId, outgoing } = options;
  const configuration = refreshed(metadataMs, () => discoverProvider(options));
  let named: { readonly config: Configuration; readonly issuer: string } | undefined;
  let kept: { readonly uri: string; readonly set: KeySet; refreshedAt: number } | undefined;

  async function discovered(): Promise<Configuration> {
    return configuration().catch(unreachable);
  }

  /** A key that is not among them has them fetched again, at most once a second, however many tokens name it. */
  async function keySet(): Promise<KeySet> {
    const uri = (await discovered()).serverMetadata().jwks_uri ?? fail(Reason.UNAVAILABLE, { message: "The identity provider tells no keys." });
    if (kept?.uri !== uri) {
      const options = { cooldownDuration: 1_000, cacheMaxAge: keysMs, timeoutDuration: requestTimeoutSeconds * 1_000, [customFetch]: (url: string, asked: RequestInit) => boundedFetch(url, asked, outgoing?.()) };
      kept = { uri, set: createRemoteJWKSet(new URL(uri), options), refreshedAt: Date.now() };
    } else if (Date.now() - kept.refreshedAt > refreshKeysMs) {
      kept.refreshedAt = Date.now();
      // In the background: a key that was withdrawn is so forgotten, and nobody waits for it.
      void kept.set.reload().catch(() => undefined);
    }
    return kept.set;
  }

  return {
    async issuer() {
      const config = await discovered();
      // Every request with an access token asks, and the library makes the metadata anew each time.
      if (named?.config !== config) named = { config, issuer: config.serverMetadata().issuer };
      return named.issuer;
    },
    async begin(redirectUri) {
      const config = await discovered();
      const remember = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
      const location = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: "openid email profile",
        state: remember.state,
        nonce: remember.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(remember.verifier),
        code_challenge_method: "S256",
      });
      return { location: location.href, remember };
    },
    async complete(url, { state, nonce, verifier }) {
      const config = await discovered();
      try {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
        const tokens = await oidc.authorizationCodeGrant(config, url, checks);
        const claims = tokens.claims();
        if (claims === undefined || tokens.id_token === undefined) throw new Error("the provider sent no ID token");
        const { iss, sub } = claims;
        return { issuer: iss, subject: sub, sid: text(claims["sid"]), email: text(claims["email"]), name: text(claims["name"]), idToken: tokens.id_token };
      } catch (error) {
        throw signInFailure(error);
      }
    },
    async endSessionUrl(idToken, returnTo) {
      try {
        const config = await configuration();
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        const hint = idToken === undefined ? {} : { id_token_hint: idToken };
        return oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo, ...hint }).href;
      } catch {
        return undefined;
      }
    },
    async readLogoutToken(token) {
      const known = await keySet();
      const { issuer } = (await discovered()).serverMetadata();
      try {
        const { payload, protectedHeader } = await jwtVerify(token, known, {
          issuer,
          audience: clientId,
          algorithms: signatures,
          maxTokenAge: logoutTokenSeconds,
          clockTolerance: 30,
          requiredClaims: ["jti", "events"],
        });
        if (!["logout+jwt", "jwt", undefined].includes(protectedHeader.typ?.toLowerCase())) throw new Error("typ");
        return endedBy(payload);
      } catch (error) {
        if (isAway(error)) return unreachable(error);
        return fail(Reason.INVALID_LOGOUT_TOKEN);
      }
    },
    keys: keySet,
    async introspect(token) {
      const config = await discovered();
      return config.serverMetadata().introspection_endpoint === undefined ? undefined : oidc.tokenIntrospection(config, token);
    },
  };
}

/** The session, or else the person, that a logout token is about; throws for what it must not have (Back-Channel Logout §2.6). */
function endedBy({ iss, sub, sid, events, nonce }: JWTPayload): Ended {
  const event = typeof events === "object" && events !== null ? (events as Record<string, unknown>)[logoutEvent] : undefined;
  if (typeof event !== "object" || event === null || nonce !== undefined || iss === undefined) throw new Error("not a logout token");
  // Signed by the provider, and still not taken for texts without a look: they go into a query.
  if ([sub, sid].some((claim) => claim !== undefined && typeof claim !== "string")) throw new Error("sub and sid must be texts");
  if (sub === undefined && sid === undefined) throw new Error("neither sid nor sub");
  return { issuer: iss, sid: sid as string | undefined, subject: sub };
}

/** The person said no, or the answer does not fit what was asked: begin again. Anything else is the provider's trouble, or ours with it. */
function signInFailure(error: unknown): Failure {
  if (error instanceof oidc.AuthorizationResponseError) {
    const denied = error.error === "access_denied";
    // The rest of the answer is whatever stood in the browser's address: nothing for the log.
    const message = denied ? "The sign-in was cancelled." : `The identity provider refused the sign-in (${error.error.replace(/[^\w.-]/g, "").slice(0, 60)}).`;
    return new Failure(Reason.SIGN_IN_FAILED, { message });
  }
  const code = error instanceof oidc.ResponseBodyError ? error.error : error instanceof oidc.ClientError ? (error.code ?? "") : "";
  if (unfit.has(code)) return new Failure(Reason.SIGN_IN_FAILED, { cause: error });
  return new Failure(Reason.UNAVAILABLE, { message: "The identity provider could not complete the sign-in; try again in a moment.", cause: error });
}

const unfit = new Set(["invalid_grant", "OAUTH_UNSUPPORTED_OPERATION", "OAUTH_INVALID_RESPONSE", "OAUTH_JWT_CLAIM_COMPARISON_FAILED", "OAUTH_JWT_TIMESTAMP_CHECK_FAILED"]);

/** Whether keys could not be had, and not that a token is wrong. */
export function isAway(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ERR_JWKS_TIMEOUT" || code === "ERR_JWKS_INVALID" || code === "ERR_JOSE_GENERIC" || error instanceof TypeError;
}

/** Metadata that lead nowhere are none: they are not kept. */
function requireEndpoints(found: Configuration): void {
  const { authorization_endpoint = "", token_endpoint = "", jwks_uri = "" } = found.serverMetadata();
  for (const [name, url] of Object.entries({ authorization_endpoint, token_endpoint, jwks_uri })) {
    if (!URL.canParse(url)) throw new Error(`the identity provider tells no ${name}`);
  }
}

/** Ends what needs the provider with UNAVAILABLE, for it cannot be reached. */
export function unreachable(cause: unknown): never {
  return fail(Reason.UNAVAILABLE, { message: "The identity provider cannot be reached; try again in a moment.", cause });
}

/** A claim that has to be a text, and is not the empty one; undefined for any other. */
export function text(claim: unknown): string | undefined {
  return typeof claim === "string" && claim !== "" ? claim : undefined;
}
