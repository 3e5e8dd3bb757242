// Starts an instance as a child process, which can be killed as a machine would be lost: with SIGKILL.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** An instance in a process of its own. */
export interface ChildInstance {
  readonly base: string;
  readonly internalPort: number;
  readonly pid: number;
  /** SIGKILL: nothing of it runs when this resolves. */
  kill(): Promise<void>;
}

/** The service token of such instances. */
export const childToken = "child-service-token-of-32-characters";

/** Starts an instance over these parts. It outlives nothing: `kill` it. */
export async function startChild(mongodbUri: string, redisUrl: string, environment: Record<string, string> = {}): Promise<ChildInstance> {
  const child = spawn(process.execPath, ["--import", "tsx", join(import.meta.dirname, "instance.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      // Not the whole environment: the test runner has a BASE_URL of its own in it.
      ...{ PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" },
      ...{ PORT: "0", INTERNAL_PORT: "0", MONGODB_URI: mongodbUri, REDIS_URL: redisUrl },
      ...{ SERVICE_TOKENS: childToken, SESSION_SECRET: "child-session-secret-of-32-characters", RATE_LIMIT: "100000", RATE_BURST: "100000", ...environment },
    },
  });
  const exited = once(child, "exit");
  const line = await Promise.race([once(createInterface(child.stdout), "line"), exited]);
  if (typeof line[0] !== "string" || !line[0].startsWith("{")) throw new Error(`an instance ended instead of starting: ${String(line[0])}`);
  const { port, internalPort } = JSON.parse(line[0]) as { port: number; internalPort: number };
  return {
    base: `http://127.0.0.1:${port}`,
    internalPort,
    pid: child.pid ?? 0,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
