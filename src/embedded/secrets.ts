// The secrets of a data folder: random, created once, each in a file that only its owner can read.
import { randomBytes } from "node:crypto";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The file names of the secrets. */
export type SecretName =
  | "service-token"
  | "session-secret"
  | "demo-secret"
  | "mongodb-key"
  | "mongodb-password"
  | "redis-password";

/** The minimum number of characters. A shorter secret is damaged, by a full disk or a killed process. */
const shortest = 32;

/**
 * Returns the secret with this name. Creates a missing or damaged one, in hexadecimal digits. They need no escaping in
 * a URI, a configuration file or mongod's key file.
 */
export async function loadOrCreateSecret(dataDir: string, name: SecretName): Promise<string> {
  const kept = await readSecret(dataDir, name);
  const file = secretFile(dataDir, name);
  if (kept !== undefined) {
    // The mode may be lost in a copy of the folder, and mongod rejects a key file that others can read.
    await chmod(file, 0o600);
    return kept;
  }
  const secret = randomBytes(32).toString("hex");
  await writePrivate(file, secret);
  return secret;
}

/** Returns the secret with this name, or undefined if it is missing or damaged. */
export async function readSecret(dataDir: string, name: SecretName): Promise<string | undefined> {
  const kept = await readFile(secretFile(dataDir, name), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return kept.trim().length < shortest ? undefined : kept.trim();
}

export function secretFile(dataDir: string, name: SecretName): string {
  return join(dataDir, name);
}

/** Writes a file that only its owner can read, atomically: a killed process leaves no partial file. */
export async function writePrivate(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
}
