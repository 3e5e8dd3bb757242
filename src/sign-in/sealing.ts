// Seals data that must come back to the service unread and unchanged: in JWTs encrypted with keys from the session
// secrets.
import { hkdfSync } from "node:crypto";
import type { JWTPayload } from "jose";
import { EncryptJWT, jwtDecrypt } from "jose";

/** The session secrets: the first is for new sessions; sessions under the others stay valid. */
export type SessionSecrets = readonly [newest: string, ...older: string[]];

/** Seals with one key, and opens with any of several. */
export interface Seal {
  /** Returns an encrypted JWT (RFC 7516) that opens for this many seconds. */
  seal(content: JWTPayload, seconds: number): Promise<string>;
  /** Returns the sealed content; undefined if the text is not ours, was changed or has expired. Never rejects. */
  open(text: string): Promise<JWTPayload | undefined>;
}

const algorithms = { alg: "dir", enc: "A256GCM" } as const;

/** Derives the keys for a purpose, one from each session secret. */
export function deriveKeys(secrets: SessionSecrets, purpose: string, salt = ""): [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = secrets;
  return [deriveKey(newest, purpose, salt), ...older.map((secret) => deriveKey(secret, purpose, salt))];
}

/** Derives a key of 32 bytes, which differs between purposes and salts (RFC 5869). */
export function deriveKey(secret: string, purpose: string, salt = ""): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, `records ${purpose}`, 32));
}

/** Creates a seal with these keys of 32 bytes. The first one seals. */
export function createSeal(keys: readonly [Uint8Array, ...Uint8Array[]]): Seal {
  return {
    seal: (content, seconds) =>
      new EncryptJWT(content).setProtectedHeader(algorithms).setExpirationTime(`${seconds} seconds`).encrypt(keys[0]),
    async open(text) {
      for (const key of keys) {
        const opened = await jwtDecrypt(text, key, {
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
        }).catch(() => undefined);
        if (opened !== undefined) return opened.payload;
      }
      return undefined;
    },
  };
}
