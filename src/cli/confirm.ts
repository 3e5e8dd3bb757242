// Confirmation prompt before an action that is irreversible, or that others notice at once.
import { createInterface } from "node:readline/promises";
import { rejectUsage } from "./exit.ts";
import { printable } from "./output.ts";

/** The action to confirm. */
export interface Confirmation {
  /** The effect of the action, as a sentence. */
  readonly warning: string;
  /** The text that the user must type. */
  readonly expected: string;
  /** True if `--yes` confirms the action in advance. */
  readonly yes: boolean;
}

/**
 * Prompts for a confirmation, unless `yes` is set. Fails with a usage error if the typed text does not match or there
 * is no terminal.
 */
export async function confirm({ warning, expected, yes }: Confirmation): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    rejectUsage(
      `${warning} This needs a confirmation, and the input is not a terminal. Nothing was done. To confirm, add --yes.`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D count as a mismatch.
  const left = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const typed = await Promise.race([
    terminal.question(`${printable(warning)}\nType "${printable(expected)}" to continue: `),
    left,
  ]);
  terminal.close();
  if (typed.trim().toLowerCase() !== expected.toLowerCase())
    rejectUsage("The confirmation does not match. Nothing was done.");
}
