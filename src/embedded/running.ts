// Finds, without side effects, the embedded servers that run on a data folder: their ports change at each start.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "./json-file.ts";
import { mongodUri } from "./mongod.ts";
import { isRunning, pidOf } from "./process-id.ts";
import { redisUrl } from "./redis.ts";

/**
 * The addresses of the servers, with credentials. Undefined for a server that does not run or whose password cannot be
 * read.
 */
export interface RunningDependencies {
  readonly mongodbUri: string | undefined;
  readonly redisUrl: string | undefined;
  /** The URL of the development identity provider, which runs within the service. */
  readonly issuer: string | undefined;
}

/** Returns the dependencies of the service that runs on this data folder. A missing folder has none. */
export async function embeddedDependencies(dataDir: string): Promise<RunningDependencies> {
  const notes = await readdir(join(dataDir, "processes")).catch(() => []);
  const running = (role: string): string | undefined =>
    notes
      .filter((name) => name.startsWith(`${role}.`))
      .map((name) => name.slice(role.length + 1))
      .find(isRunning);
  const uriOf = async (role: string, uri: typeof mongodUri): Promise<string | undefined> => {
    const id = running(role);
    const port = id === undefined ? undefined : portOf(pidOf(id));
    return port === undefined ? undefined : uri(dataDir, port);
  };
  const port = running("service") === undefined ? undefined : await readJson(join(dataDir, "provider", "port"));
  return {
    mongodbUri: await uriOf("mongod", mongodUri),
    redisUrl: await uriOf("redis", redisUrl),
    issuer: typeof port === "number" ? `http://localhost:${port}` : undefined,
  };
}

/**
 * Returns the port that a server was started with, or undefined if it cannot be read. redis-server overwrites its
 * arguments with its address.
 */
function portOf(pid: number): number | undefined {
  try {
    const line =
      process.platform === "linux"
        ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
        : execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
    const port = /(?:--port |127\.0\.0\.1:)(\d+)/.exec(line)?.[1];
    return port === undefined ? undefined : Number(port);
  } catch {
    // The process has ended meanwhile, or belongs to another user.
    return undefined;
  }
}
