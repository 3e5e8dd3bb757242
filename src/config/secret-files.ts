// Secrets in files: NAME_FILE contains the path of the file with NAME, for secrets that Docker or Kubernetes mounts.
import { closeSync, openSync, readSync } from "node:fs";
import { isAbsolute } from "node:path";

/** The maximum length of a secret's file. */
const maxBytes = 65_536;

/** Throws the error of an invalid NAME_FILE. `problem` follows the name of the variable in a sentence. */
export type OnWrong = (variable: string, problem: string) => never;

/**
 * Returns the environment with each of the names filled in from its file. Removes a line break at the end of a file.
 * The files are read only here, at the start.
 */
export function withSecretFiles(
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
  wrong: OnWrong,
): NodeJS.ProcessEnv {
  const filled = { ...environment };
  for (const name of names) {
    const variable = fileVariable(name);
    const path = environment[variable] || undefined;
    if (path === undefined) continue;
    if (environment[name]) wrong(variable, `cannot be set together with ${name}: set one of them`);
    filled[name] = read(path, (problem) => wrong(variable, problem));
  }
  return filled;
}

/** Returns the name of the variable that contains the path of a secret's file. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/** Hides a relative path, because an operator who confuses the two variables puts the secret itself here. */
function shown(path: string): string {
  return isAbsolute(path) ? path : "the file";
}

/** Reads a secret. The message does not repeat its content. */
function read(path: string, wrong: (problem: string) => never): string {
  let value: string | undefined;
  try {
    value = readSecret(path)?.replace(/\r?\n$/, "");
  } catch (error) {
    return wrong(`${shown(path)} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
  }
  if (value === undefined) return wrong(`${shown(path)} is longer than ${maxBytes} bytes`);
  if (value === "") return wrong(`${shown(path)} is empty`);
  return value;
}

/** Returns the text of a secret's file; undefined if it is too long. Throws the system's error. */
export function readSecret(path: string): string | undefined {
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  const file = openSync(path, "r");
  try {
    // A pipe gives its content in pieces. A device such as /dev/zero never ends.
    for (let read = 1; read > 0; length += read) read = readSync(file, buffer, length, buffer.length - length, null);
  } finally {
    closeSync(file);
  }
  return length > maxBytes ? undefined : buffer.toString("utf8", 0, length);
}
