// Builds the peer in Go, where there is Go.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The program, built into the folder; undefined, with a line that says why, where it cannot be built. */
export function buildGo(folder: string, say: (line: string) => void): string | undefined {
  const program = join(folder, "peer");
  try {
    execFileSync("go", ["build", "-o", program, "."], {
      cwd: join(import.meta.dirname, "go"),
      stdio: ["ignore", "ignore", "pipe"],
    });
    return program;
  } catch (error) {
    say(
      `The peer in Go is left out: ${error instanceof Error ? error.message.split("\n", 2).join(" ") : String(error)}`,
    );
    return undefined;
  }
}
