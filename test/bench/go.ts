// Builds the peer in Go, where there is Go.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** The program, built into the folder; undefined, with a line that says why, where it cannot be built. */
export async function buildGo(folder: string, say: (line: string) => void): Promise<string | undefined> {
  const program = join(folder, "peer");
  try {
    // The build can take a minute: a blocked event loop would lose the lease on the primary meanwhile.
    await promisify(execFile)("go", ["build", "-o", program, "."], { cwd: join(import.meta.dirname, "go") });
    return program;
  } catch (error) {
    say(
      `The peer in Go is left out: ${error instanceof Error ? error.message.split("\n", 2).join(" ") : String(error)}`,
    );
    return undefined;
  }
}
