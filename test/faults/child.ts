// Starts an instance as a child process, which can be killed as a machine would be lost: with SIGKILL.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bundled } from "../../bin/bundle.js";
import { requireServiceUser } from "../support/database.ts";

/** An instance in a process of its own. */
export interface ChildInstance {
  readonly base: string;
  readonly internalPort: number;
  readonly pid: number;
  /** SIGKILL: nothing of it runs when this resolves. */
  kill(): Promise<void>;
  /** SIGTERM: resolves with the exit code when nothing of it runs; null where it had to be ended by another signal. */
  stop(): Promise<number | null>;
}

/** The service token of such instances. */
export const childToken = "child-service-token-of-32-characters";

/**
 * Starts an instance over these parts. It outlives nothing: `kill` it. `hear` gets every line of its log. `program` is
 * what node runs: an instance of this code by default.
 */
export async function startChild(
  mongodbUri: string,
  redisUrl: string,
  environment: Record<string, string> = {},
  hear: (line: string) => void = console.error,
  program?: readonly string[],
): Promise<ChildInstance> {
  requireServiceUser(environment["MONGODB_URI"] ?? mongodbUri);
  const child = spawn(process.execPath, program ?? (await ownProgram(environment)), {
    // Its input ends with this process, and it with that: a run that is broken off leaves no instance behind.
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      // Not the whole environment: the test runner has a BASE_URL of its own in it.
      ...{ PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" },
      ...{ PORT: "0", INTERNAL_PORT: "0", MONGODB_URI: mongodbUri, REDIS_URL: redisUrl },
      ...{
        SERVICE_TOKENS: childToken,
        SESSION_SECRET: "child-session-secret-of-32-characters",
        RATE_LIMIT: "100000",
        RATE_BURST: "100000",
        ...environment,
      },
    },
  });
  const exited = once(child, "exit");
  createInterface(child.stderr).on("line", hear);
  const line = await Promise.race([once(createInterface(child.stdout), "line"), exited]);
  if (typeof line[0] !== "string" || !line[0].startsWith("{"))
    throw new Error(`an instance ended instead of starting: ${String(line[0])}`);
  const { port, internalPort } = JSON.parse(line[0]) as { port: number; internalPort: number };
  return {
    base: `http://127.0.0.1:${port}`,
    internalPort,
    pid: child.pid ?? 0,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      child.kill("SIGTERM");
      const [code] = await exited;
      return typeof code === "number" ? code : null;
    },
  };
}

/** The bundle, or the sources where they are changed while they are loaded. */
async function ownProgram(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const changed = environment["NODE_OPTIONS"]?.includes("--import") === true;
  return changed
    ? ["--import", "tsx", join(import.meta.dirname, "instance.ts")]
    : [await bundled("test/faults/instance.ts")];
}
