// The provider's keys, created once and stored, so that signatures remain valid after a restart.
import { randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import type { Folder } from "./folder.ts";

/** The keys with which the provider signs. */
export interface Keys {
  /** Private keys for RS256 and ES256 signatures. */
  readonly signing: readonly JWK[];
  readonly cookies: readonly string[];
}

/** Returns the stored keys, or creates and stores new ones. */
export async function loadOrCreateKeys(folder: Folder): Promise<Keys> {
  const kept = await folder.read("keys");
  if (areKeys(kept)) return kept;
  const keys: Keys = {
    signing: await Promise.all([signingKey("RS256"), signingKey("ES256")]),
    cookies: [randomBytes(32).toString("base64url")],
  };
  await folder.write("keys", keys);
  return keys;
}

async function signingKey(alg: "RS256" | "ES256"): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: "sig", kid: randomBytes(8).toString("hex") };
}

function areKeys(kept: unknown): kept is Keys {
  const { signing, cookies } = (kept ?? {}) as Partial<Keys>;
  return Array.isArray(signing) && signing.length === 2 && Array.isArray(cookies) && cookies.length > 0;
}
