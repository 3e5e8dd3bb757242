// Whether two names lead to one file, whatever links are between.
import { fstatSync } from "node:fs";
import { stat } from "node:fs/promises";

/** The descriptors of standard input and output. */
export const standardStreams = { input: 0, output: 1 } as const;

/**
 * Whether a path leads to the file of another path, or to that of an open descriptor; false where either is not there.
 */
export async function isSameFile(path: string, other: string | number): Promise<boolean> {
  try {
    const [one, two] = [await stat(path), typeof other === "number" ? fstatSync(other) : await stat(other)];
    return one.dev === two.dev && one.ino === two.ino;
  } catch {
    return false;
  }
}
