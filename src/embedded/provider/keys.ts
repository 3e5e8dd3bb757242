// The provider's keys: made once and kept, so that what was signed before a restart is still good after it.
import { randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import type { Folder } from "./folder.ts";

/** What the provider signs with. */
export interface Keys {
  /** Private keys for signatures, RS256 and ES256. */
  readonly signing: readonly JWK[];
  readonly cookies: readonly string[];
}

/** The kept keys, or new ones that are kept from now on. */
export async function keptKeys(folder: Folder): Promise<Keys> {
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
