// Compares the identity of files, following links.
import { fstatSync } from "node:fs";
import { stat } from "node:fs/promises";

/** The file descriptors of standard input and output. */
export const standardStreams = { input: 0, output: 1 } as const;

/**
 * Returns whether a path leads to the same file as another path or an open descriptor. Returns false if either file
 * does not exist.
 */
export async function isSameFile(path: string, other: string | number): Promise<boolean> {
  try {
    const [one, two] = [await stat(path), typeof other === "number" ? fstatSync(other) : await stat(other)];
    return one.dev === two.dev && one.ino === two.ino;
  } catch {
    return false;
  }
}
