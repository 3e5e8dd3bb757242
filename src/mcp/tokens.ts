// Verifies access tokens: signature, issuer, expiry, type, audience, and the provider's introspection (contract §8).
import { hash } from "node:crypto";
import type { JWTPayload } from "jose";
import { decodeProtectedHeader } from "jose";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../call/errors.ts";
import { setBounded } from "../call/bounded-cache.ts";
import type { SentToken } from "../guards/assistant.ts";
import type { UserProfile } from "../guards/call.ts";
import type { AuthenticationEvent } from "../sign-in/ended-store.ts";
import { IntrospectionRejected } from "../sign-in/introspection.ts";
import { createIntrospector, isYounger } from "../sign-in/introspector.ts";
import { toleranceSeconds } from "../sign-in/logout-token.ts";
import type { IdentityProvider } from "../sign-in/provider.ts";
import { profileOf, signatures, stringClaim } from "../sign-in/provider.ts";
import { rejectedIntrospection, requireKeys, unreachable, whyInvalid } from "../sign-in/provider-failures.ts";

/** The user and the sign-in that an access token comes from. */
export interface TokenHolder extends AuthenticationEvent {
  /** What the token says of the user. */
  readonly profile: UserProfile;
  /**
   * The error of the introspection that should have supplied missing claims; undefined if it succeeded or none are
   * missing.
   */
  readonly introspectionError: unknown;
}

/** Verifies access tokens. */
export interface TokenVerifier {
  /**
   * Returns the holder of a valid token. Fails with INVALID_TOKEN and the reason. Fails with UNAVAILABLE if the check
   * needs the provider, and the provider is unavailable or rejects introspection.
   */
  verify(sent: SentToken): Promise<TokenHolder>;
}

/** Dependencies of the token verifier. */
export interface TokenVerifierDependencies {
  readonly provider: Pick<IdentityProvider, "issuer" | "keys" | "introspect">;
  /**
   * The accepted audiences. If empty, tokens for any audience are accepted, because no resource indicator is enforced.
   */
  readonly audiences: readonly string[];
  /** Called for a valid token of the provider that names no audience, although one is required. */
  readonly onNoAudience?: (() => void) | undefined;
}

/** Verified claims, with the revision of the provider's keys that verified them. */
interface Verified {
  readonly claims: JWTPayload;
  readonly at: number;
  readonly revision: symbol;
}

/** How long a verified signature is cached, unless the provider's keys change first. */
const verifiedMs = 60_000;
const maxTokenLength = 8_192;
/** The syntax of a bearer token (RFC 6750 §2.1). No other text, and no API key, is sent to the provider. */
const form = /^[\w.~+/-]+=*$/;
const keyPrefix = "rec_";
const audienceFix =
  "Signing in again does not help: the operator must configure the identity provider to issue tokens for this service.";
/** Why a token that is not a JWT is rejected if no introspection is offered. Some providers issue only such tokens. */
const unreadable = [
  "it is malformed or unknown",
  "Sign in again. If that does not help, the operator must configure the identity provider to issue JWTs, because it offers no introspection.",
] as const;

export function createTokenVerifier({ provider, audiences, onNoAudience }: TokenVerifierDependencies): TokenVerifier {
  const signedClaims = createSignatureVerifier(provider);
  const { introspect, introspectSoon, introspectFirst, refresh } = createIntrospector(provider);

  function requireAudience(named: readonly unknown[]): void {
    if (named.length === 0) {
      onNoAudience?.();
      rejectToken("it names no audience", audienceFix);
    }
    if (!named.some((one) => typeof one === "string" && audiences.includes(one)))
      rejectToken("it was issued for another audience", audienceFix);
  }

  return {
    async verify({ token, address }) {
      if (token.startsWith(keyPrefix)) rejectToken("it is an API key");
      if (token.length > maxTokenLength || !form.test(token)) rejectToken("it is malformed");
      const name = hash("sha256", token, "base64");
      const signed = await signedClaims({ token, address }, name);
      if (signed !== undefined) requireInTime(signed);
      const isWhole = signed !== undefined && identifiesSignIn(signed);
      const look = signed === undefined ? introspect : isWhole ? introspectSoon : introspectFirst;
      const { claims: said, error } = await look(token, name);
      if (said !== undefined && said["active"] !== true) rejectToken("it was revoked, or has expired");
      // Only a signed token needs no provider. For other tokens, the provider's last response is used while it is
      // unavailable.
      if (signed === undefined && error instanceof IntrospectionRejected) rejectedIntrospection(error);
      if (signed === undefined && said === undefined && error !== undefined) unreachable(error);
      const claims = signed ?? said ?? rejectToken(...unreadable);
      requireBearer(said);
      // If only the provider can read the token, its response must show that this is not a refresh token.
      if (signed === undefined && (stringClaim(claims["token_type"]) === undefined || isOtherUse(claims)))
        rejectToken("it is not an access token");
      const issuer = await provider.issuer();
      const { iss = issuer, aud } = claims;
      if (iss !== issuer) rejectToken("another issuer issued it");
      const subject = stringClaim(claims.sub) ?? rejectToken("it names no user");
      requireInTime(claims);
      if (audiences.length > 0) requireAudience([aud ?? []].flat());
      refresh(token, name);
      const authenticatedAt = number(claims["auth_time"]) ?? number(said?.["auth_time"]);
      return {
        issuer,
        subject,
        profile: profileOf({ ...said, ...claims }),
        authenticatedAt,
        sid: stringClaim(claims["sid"]) ?? stringClaim(said?.["sid"]),
        introspectionError: isWhole || said !== undefined ? undefined : error,
      };
    },
  };
}

type Provider = TokenVerifierDependencies["provider"];

function createSignatureVerifier(provider: Provider) {
  const verified = new Map<string, Verified>();

  /** Returns the claims of a token that the provider signed; undefined if the token is not a JWT. */
  async function signedClaims({ token, address }: SentToken, name: string): Promise<JWTPayload | undefined> {
    const known = verified.get(name);
    const keys = known && (await provider.keys());
    if (isYounger(known, verifiedMs) && known.revision === keys?.revision()) return known.claims;
    if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined;
    const { alg, typ } = headerOf(token);
    if (!signatures.includes(alg)) rejectToken("its signature algorithm is not accepted");
    const { claims, revision } = await verifySignature({ token, address });
    requireUnbound(claims);
    if (!isAccessToken(typ, claims)) rejectToken("it is not an access token");
    setBounded(verified, name, { claims, revision, at: performance.now() });
    return claims;
  }

  async function verifySignature({ token, address }: SentToken): Promise<Pick<Verified, "claims" | "revision">> {
    const [keys, issuer] = [await provider.keys(), await provider.issuer()];
    // Read before verifying: if the keys change meanwhile, the next request verifies again.
    const revision = keys.revision();
    const expected = {
      issuer,
      algorithms: [...signatures],
      // Also applies to `exp`, which requireInTime checks without a tolerance.
      clockTolerance: toleranceSeconds,
      requiredClaims: ["exp", "sub"],
    };
    const { payload: claims } = await keys.verify(token, expected, { address }).catch((error: unknown) => {
      requireKeys(error);
      return rejectToken(whyInvalid(error));
    });
    return { claims, revision };
  }

  return signedClaims;
}

/** Fails with INVALID_TOKEN. The message is also sent in a header, so it must be plain ASCII. */
export function rejectToken(why: string, fix = "Sign in again."): never {
  return fail(Reason.INVALID_TOKEN, { message: `The access token is not valid: ${why}. ${fix}` });
}

/**
 * Rejects a token outside its lifetime. The provider's clock may be ahead of ours, so `nbf` has a tolerance, but `exp`
 * has none.
 */
function requireInTime({ exp, nbf }: JWTPayload): void {
  const now = Date.now() / 1_000;
  if (exp !== undefined && !(Number(exp) > now)) rejectToken("it has expired");
  if (nbf !== undefined && !(Number(nbf) <= now + toleranceSeconds)) rejectToken("it is not valid yet");
}

/**
 * Rejects a token that is bound to a key. Only the holder of the key in `cnf` may present it (RFC 9449 §7.2, RFC 8705
 * §3, RFC 7800): without a proof of the key, it may be stolen.
 */
function requireUnbound({ cnf }: JWTPayload): void {
  if (cnf !== undefined && cnf !== null)
    rejectToken(
      "it is bound to a key of its client (DPoP or mutual TLS), which the service cannot check",
      "Use a token that is not bound to a key.",
    );
}

/**
 * Rejects a token that, according to the provider, is not a bearer token. For signed tokens, most providers name no
 * type.
 */
function requireBearer(said: JWTPayload = {}): void {
  requireUnbound(said);
  const type = said["token_type"] ?? "bearer";
  if (typeof type !== "string" || type.toLowerCase() !== "bearer")
    rejectToken("it is not an access token of the type Bearer, the only one that the service can check");
}

function headerOf(token: string): { alg: string; typ: string | undefined } {
  try {
    const { alg = "", typ } = decodeProtectedHeader(token);
    return { alg, typ: typ?.toLowerCase() };
  } catch {
    return rejectToken("it is malformed");
  }
}

/**
 * Whether a JWT is an access token. RFC 9068 marks access tokens by their type. Unmarked ones are distinguished by
 * their claims from ID tokens and others.
 */
function isAccessToken(typ: string | undefined, payload: JWTPayload): boolean {
  if (typ === "at+jwt" || typ === "application/at+jwt") return true;
  if (typ !== undefined && typ !== "jwt") return false;
  const otherwise = ["nonce", "at_hash", "c_hash", "events"].some((claim) => claim in payload);
  const kind = payload["typ"];
  if (otherwise || isOtherUse(payload) || (kind !== undefined && kind !== "Bearer")) return false;
  return kind === "Bearer" || "scope" in payload || "scp" in payload;
}

/**
 * Whether a token is for another use. Some providers state the use in a claim of their own, also in an introspection.
 */
function isOtherUse({ token_use: use }: JWTPayload): boolean {
  return use !== undefined && use !== "access" && use !== "access_token";
}

/** Whether the claims show which sign-outs end the token. If not, the provider may know the rest. */
function identifiesSignIn(claims: JWTPayload): boolean {
  return stringClaim(claims["sid"]) !== undefined && number(claims["auth_time"]) !== undefined;
}

function number(claim: unknown): number | undefined {
  return typeof claim === "number" ? claim : undefined;
}
