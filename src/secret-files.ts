// Secrets in files: for NAME, NAME_FILE holds the path, as Docker and Kubernetes mount them.
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";

/** A file longer than that holds no secret. */
const mostBytes = 65_536;

/** What is wrong with NAME_FILE: `problem` follows the name of the variable in a sentence. */
export type OnWrong = (variable: string, problem: string) => never;

/**
 * The environment with each of the names filled in from its file; a line break at the end is not part of the value. The
 * files are read once, at the start.
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

/** The variable that names the file of a secret. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/** An operator who confuses the two variables puts the secret itself here. */
function shown(path: string): string {
  return isAbsolute(path) ? path : "the file";
}

/** The content is not repeated in the message. */
function read(path: string, wrong: (problem: string) => never): string {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    return wrong(`${shown(path)} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
  }
  const value = content.replace(/\r?\n$/, "");
  if (value === "") return wrong(`${shown(path)} is empty`);
  if (content.length > mostBytes) return wrong(`${shown(path)} is longer than ${mostBytes} bytes`);
  return value;
}
