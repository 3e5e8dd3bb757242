// Seals what leaves our hands and has to come back unread and unchanged: encrypted JWTs under keys derived from SESSION_SECRET.
import { hkdfSync } from "node:crypto";
import type { JWTPayload } from "jose";
import { EncryptJWT, jwtDecrypt } from "jose";

/** Seals and opens under one key. */
export interface Seal {
  /** An encrypted JWT (RFC 7516) that opens for so many seconds. */
  seal(content: JWTPayload, seconds: number): Promise<string>;
  /** What was sealed; undefined where the text is not ours, was changed, or is too old. Never rejects. */
  open(text: string): Promise<JWTPayload | undefined>;
}

const algorithms = { alg: "dir", enc: "A256GCM" } as const;

/** A key for a purpose; different purposes and salts have different keys (RFC 5869). */
export function deriveKey(secret: string, purpose: string, salt = ""): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, `records ${purpose}`, 32));
}

/** A seal under this key of 32 bytes. */
export function createSeal(key: Uint8Array): Seal {
  return {
    seal: (content, seconds) => new EncryptJWT(content).setProtectedHeader(algorithms).setExpirationTime(`${seconds} seconds`).encrypt(key),
    async open(text) {
      try {
        const { payload } = await jwtDecrypt(text, key, { keyManagementAlgorithms: [algorithms.alg], contentEncryptionAlgorithms: [algorithms.enc] });
        return payload;
      } catch {
        return undefined;
      }
    },
  };
}
