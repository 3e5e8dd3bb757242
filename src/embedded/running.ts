// Finds, without side effects, the embedded servers that run on a data folder: their ports change at each start.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runningIn } from "./data-dir.ts";
import { readJson } from "./json-file.ts";
import { mongodUri } from "./mongod.ts";
import { pidOf } from "./process-id.ts";
import { redisUrl } from "./redis.ts";

/**
 * Returns the dependencies of the service that runs on this data folder: the addresses of the servers, with credentials,
 * and that of the development identity provider, which runs within the service. Each is undefined if it does not run, or
 * if its password cannot be read.
 */
export async function embeddedDependencies(dataDir: string) {
  const uriOf = async (role: string, uri: typeof mongodUri): Promise<string | undefined> => {
    const id = await runningIn(dataDir, role);
    const port = id === undefined ? undefined : portOf(pidOf(id));
    return port === undefined ? undefined : uri(dataDir, port);
  };
  const isServing = (await runningIn(dataDir, "service")) !== undefined;
  const port = isServing ? await readJson(join(dataDir, "provider", "port")) : undefined;
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
