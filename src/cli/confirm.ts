// Confirmation prompt before something that cannot be taken back, or that others notice at once.
import { createInterface } from "node:readline/promises";
import { rejectUsage } from "./exit.ts";
import { printable } from "./output.ts";

/** What is about to be done. */
export interface Confirmation {
  /** What will happen, as a sentence. */
  readonly warning: string;
  /** What has to be typed. */
  readonly expected: string;
  /** Said beforehand, by `--yes`. */
  readonly yes: boolean;
}

/**
 * Continues only when it was confirmed; otherwise, and where there is no terminal, the command ends with the code for
 * usage.
 */
export async function confirm({ warning, expected, yes }: Confirmation): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    rejectUsage(
      `${warning} This needs a confirmation, and the input is not a terminal. Nothing was done. To confirm, add --yes.`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D are a no.
  const left = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const typed = await Promise.race([
    terminal.question(`${printable(warning)}\nType "${printable(expected)}" to continue: `),
    left,
  ]);
  terminal.close();
  if (typed.trim().toLowerCase() !== expected.toLowerCase())
    rejectUsage("The confirmation does not match. Nothing was done.");
}
