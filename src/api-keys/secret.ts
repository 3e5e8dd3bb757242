// The form of an API key (contract §7.1): making one, recognising one, and the hash by which it is stored.
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { Binary } from "mongodb";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const form = /^rec_[0-9A-Za-z]{49}$/;
const checksumLength = 6;

/** A new key: `rec_`, 43 characters of base62 (256 random bits) and 6 of checksum. */
export function newSecret(): string {
  const body = `rec_${base62(BigInt(`0x${randomBytes(32).toString("hex")}`), 43)}`;
  return body + checksum(body);
}

/** Whether a text has the form of a key and its checksum is right; this needs no look-up. */
export function isSecret(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** The SHA-256 of a key: all of it that is stored. 256 random bits need no slow hash. */
export function hashSecret(secret: string): Binary {
  return new Binary(hash("sha256", secret, "buffer"));
}

/** The first 8 characters, for display. */
export function displayPrefix(secret: string): string {
  return secret.slice(0, 8);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) text = alphabet[Number(rest % 62n)] + text;
  return text;
}
