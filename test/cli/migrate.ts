// Runs `records migrate` as its own process.
import { runCommand } from "./cli.ts";

/** Runs the command: its exit code, result and standard error. */
export async function migrate(
  settings: Record<string, string>,
): Promise<{ readonly code: number | string; readonly result: Record<string, unknown>; readonly stderr: string }> {
  const { code, stdout, stderr } = await runCommand(["--json", "migrate"], { environment: settings });
  return { code, result: (stdout === "" ? {} : JSON.parse(stdout)) as Record<string, unknown>, stderr };
}
