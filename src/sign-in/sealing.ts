// Seals what leaves our hands and has to come back unread and unchanged: encrypted JWTs under keys derived from the
// session secrets.
import { hkdfSync } from "node:crypto";
import type { JWTPayload } from "jose";
import { EncryptJWT, jwtDecrypt } from "jose";

/** The first is for new sessions; sessions under one of the others continue. */
export type SessionSecrets = readonly [newest: string, ...older: string[]];

/** Seals under one key, and opens under any of several. */
export interface Seal {
  /** An encrypted JWT (RFC 7516) that opens for so many seconds. */
  seal(content: JWTPayload, seconds: number): Promise<string>;
  /** What was sealed; undefined where the text is not ours, was changed, or is too old. Never rejects. */
  open(text: string): Promise<JWTPayload | undefined>;
}

const algorithms = { alg: "dir", enc: "A256GCM" } as const;

/** The keys of the session secrets for a purpose. */
export function deriveKeys(secrets: SessionSecrets, purpose: string, salt = ""): [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = secrets;
  return [deriveKey(newest, purpose, salt), ...older.map((secret) => deriveKey(secret, purpose, salt))];
}

/** A key for a purpose; different purposes and salts have different keys (RFC 5869). */
export function deriveKey(secret: string, purpose: string, salt = ""): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, `records ${purpose}`, 32));
}

/** A seal under these keys of 32 bytes: the first seals. */
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
