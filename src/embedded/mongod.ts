// Starts the embedded mongod: one that keeps its data under DATA_DIR, requires credentials and has transactions.
import { totalmem } from "node:os";
import type { Db } from "mongodb";
import { raiseDataVersion, wrongDataVersion } from "./data-version.ts";
import { findMongod } from "./find-mongod.ts";
import { ensureServiceUser, serviceUser } from "./mongod-user.ts";
import { isListening } from "./port.ts";
import { becomePrimary, REPLICA_SET } from "./replica-set.ts";
import { keptSecret, readSecret, secretFile } from "./secrets.ts";
import { startServer, type EmbeddedOptions, type EmbeddedServer, type ServerKind } from "./server.ts";
import { until } from "./wait.ts";

/**
 * A mongod on the data folder, with the credentials of that folder; missing ones are created. `progress` gets a line
 * when the data are raised to a newer version.
 */
export async function mongodOn(
  dataDir: string,
  progress: EmbeddedOptions["progress"] = () => undefined,
): Promise<ServerKind> {
  const key = await keptSecret(dataDir, "mongodb-key");
  const password = await keptSecret(dataDir, "mongodb-password");
  return {
    role: "mongod",
    folder: "mongodb",
    arguments: (folder, logFile, port) => [
      ...["--dbpath", folder, "--logpath", logFile, "--logappend", "--quiet"],
      ...["--bind_ip", "127.0.0.1", "--port", String(port), "--nounixsocket"],
      // The log of changes that a second member would read: there is none, so it need not be long.
      ...["--replSet", REPLICA_SET, "--oplogSize", "64"],
      ...["--wiredTigerCacheSizeGB", cacheGigabytes().toFixed(2)],
      // With a key file every client has to authenticate, and nobody can create the first user without credentials.
      ...["--keyFile", secretFile(dataDir, "mongodb-key"), "--setParameter", "enableLocalhostAuthBypass=false"],
      // The minimum of mongod: more iterations protect only guessable passwords, and cost time at every start.
      ...["--setParameter", "scramIterationCount=5000", "--setParameter", "scramSHA256IterationCount=5000"],
      // Up to 200 MB of measurements for MongoDB's own support.
      ...["--setParameter", "diagnosticDataCollectionEnabled=false"],
    ],
    async ready(port, pid, signal) {
      await until(() => isListening(port), signal);
      const prepare = async (admin: Db): Promise<void> => {
        await ensureServiceUser(admin, password);
        await raiseDataVersion(admin, progress);
      };
      await becomePrimary(port, pid, signal, { key, prepare });
    },
    explain: wrongDataVersion,
    uri: (port) => uriOf(port, password),
  };
}

/**
 * Finds or fetches a mongod and starts it on the data in `dataDir/mongodb`; it is a primary when this resolves, and
 * ends with `stop()` or with this process, however that ends. Its log is `dataDir/mongod.log`.
 * Fails with one line for people: no mongod to be had, the data folder in use, or what mongod said.
 */
export async function startMongod(options: EmbeddedOptions): Promise<EmbeddedServer> {
  return startServer(await mongodOn(options.dataDir, options.progress), await findMongod(options), options);
}

/** The URI of the mongod of the data folder at this port; undefined where its credentials cannot be read. */
export async function mongodUri(dataDir: string, port: number): Promise<string | undefined> {
  const password = await readSecret(dataDir, "mongodb-password").catch(() => undefined);
  return password === undefined ? undefined : uriOf(port, password);
}

/** As a client of a real replica set, so that the driver does here what it does in production. */
function uriOf(port: number, password: string): string {
  return `mongodb://${serviceUser}:${password}@127.0.0.1:${port}/records?replicaSet=${REPLICA_SET}&authSource=admin`;
}

/** A quarter of the memory that we may use, 1 GB at most; mongod takes no less than 0.25. */
function cacheGigabytes(): number {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(1, Math.max(0.25, bytes / 4 / 1024 ** 3));
}
