// Verifies the provider's logout tokens (OpenID Connect Back-Channel Logout).
import type { JWTPayload } from "jose";
import type { KeySet, Sender } from "./key-set.ts";

/**
 * The sessions that a logout token ends: the one that `sid` names, or without it all of the user's. At least one of
 * `sid` and `subject` is set.
 */
export interface Logout {
  readonly issuer: string;
  readonly sid: string | undefined;
  readonly subject: string | undefined;
  /** The token's id. Each id is accepted once. */
  readonly jti: string;
  /** When the provider issued the token, by its own clock, in whole seconds since 1970. */
  readonly issuedAt: number;
  /** The instant, by our clock, from which the token is too old, so that its id is no longer needed. */
  readonly forgettableAt: Date;
}

/**
 * The maximum age of a logout token (Back-Channel Logout §2.4 leaves the choice to us). It also bounds tokens without
 * `exp`, which providers sent before the final version of the standard, and Hydra still sends.
 */
const maxAgeSeconds = 600;
/** The clock tolerance for the lifetime of the provider's tokens. */
export const toleranceSeconds = 30;
/** Token ids are kept longer than needed, because the clocks of instances and the database differ. */
const spareSeconds = 300;
const maxNameLength = 512;
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

/**
 * Verifies a logout token that is meant for us. Rejects one that breaks the rules (Back-Channel Logout §2.6), and as
 * `KeySet.verify` does.
 */
export async function verifyLogoutToken(
  token: string,
  keys: KeySet,
  expected: { readonly issuer: string; readonly audience: string; readonly algorithms: string[] },
  sender: Sender,
): Promise<Logout> {
  const rules = {
    ...expected,
    maxTokenAge: maxAgeSeconds,
    clockTolerance: toleranceSeconds,
    requiredClaims: ["jti", "events"],
  };
  const { payload, protectedHeader } = await keys.verify(token, rules, sender);
  if (!["logout+jwt", "jwt", undefined].includes(protectedHeader.typ?.toLowerCase()))
    throw new Error("its type (typ) is not that of a logout token");
  return logoutOf(payload);
}

function logoutOf({ iss, sub, sid, jti, iat, exp, events, nonce }: JWTPayload): Logout {
  const event =
    typeof events === "object" && events !== null ? (events as Record<string, unknown>)[logoutEvent] : undefined;
  if (typeof event !== "object" || event === null || nonce !== undefined || iss === undefined)
    throw new Error("it has no logout event, or has a nonce");
  // Checked although the provider signed them, because they go into a query.
  if ([sub, sid].some((claim) => claim !== undefined && typeof claim !== "string"))
    throw new Error("its sub and sid must be strings");
  if (sub === undefined && sid === undefined) throw new Error("it has neither sid nor sub");
  if (typeof jti !== "string" || jti === "" || jti.length > maxNameLength)
    throw new Error("its jti must be a string of at most 512 characters");
  if (iat === undefined) throw new Error("it has no iat");
  const tooOldAt = Math.min(exp ?? Infinity, iat + maxAgeSeconds) + toleranceSeconds + spareSeconds;
  return {
    issuer: iss,
    sid: sid as string | undefined,
    subject: sub,
    jti,
    issuedAt: iat,
    forgettableAt: new Date(tooOldAt * 1_000),
  };
}
