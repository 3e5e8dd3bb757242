// Format of API keys (contract §7.1): generates and recognizes keys, and hashes them for storage.
import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { Binary } from "mongodb";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const form = /^rec_[0-9A-Za-z]{49}$/;
const checksumLength = 6;

/** Generates a key: `rec_`, 43 random characters of base62 (256 bits) and a checksum of 6 characters. */
export function newSecret(): string {
  const random = Array.from({ length: 43 }, () => alphabet[randomInt(alphabet.length)]);
  const body = `rec_${random.join("")}`;
  return body + checksum(body);
}

/** Whether a text has the format of a key and a valid checksum, without a look-up. */
export function isSecret(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** Returns the SHA-256 of a key, which is stored instead of the key. 256 random bits need no slow hash. */
export function hashSecret(secret: string): Binary {
  return new Binary(hash("sha256", secret, "buffer"));
}

/** Returns the first 8 characters of a key, for display. */
export function displayPrefix(secret: string): string {
  return secret.slice(0, 8);
}

function checksum(body: string): string {
  let text = "";
  for (let rest = crc32(body); text.length < checksumLength; rest = Math.floor(rest / 62))
    text = `${alphabet[rest % 62]}${text}`;
  return text;
}
