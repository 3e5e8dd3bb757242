// Finds, without touching anything, the embedded parts that run on a data folder: their ports are picked at each start.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "./json-file.ts";
import { mongodUri } from "./mongod.ts";
import { isRunning, pidOf } from "./process-id.ts";
import { redisUrl } from "./redis.ts";

/** The addresses of the servers, with credentials; undefined where one does not run or its password cannot be read. */
export interface RunningDependencies {
  readonly mongodbUri: string | undefined;
  readonly redisUrl: string | undefined;
  /** The development identity provider, which runs within the service. */
  readonly issuer: string | undefined;
}

/** The parts of the service that runs on this data folder. A folder that is missing has none. */
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

/** The port that a server was started with; redis-server writes its address over its arguments. */
function portOf(pid: number): number | undefined {
  try {
    const line =
      process.platform === "linux"
        ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
        : execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
    const port = /(?:--port |127\.0\.0\.1:)(\d+)/.exec(line)?.[1];
    return port === undefined ? undefined : Number(port);
  } catch {
    // It ended meanwhile, or belongs to someone else.
    return undefined;
  }
}
