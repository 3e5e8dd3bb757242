// Starts the embedded mongod, which keeps its data under DATA_DIR, requires credentials and supports transactions.
import { totalmem } from "node:os";
import { createHmac } from "node:crypto";
import type { Db } from "mongodb";
import { raiseDataVersion, wrongDataVersion } from "./data-version.ts";
import { findMongod } from "./find-mongod.ts";
import { isListening } from "./port.ts";
import { becomePrimary, REPLICA_SET } from "./replica-set.ts";
import { loadOrCreateSecret, readSecret, secretFile } from "./secrets.ts";
import { CannotRun, startServer, type EmbeddedOptions, type EmbeddedServer, type ServerKind } from "./server.ts";
import { until } from "./wait.ts";

/**
 * Returns how to run a mongod on the data folder, with the credentials of that folder. Creates missing credentials.
 * `progress` receives a line when the data is raised to a newer version.
 */
export async function mongodOn(
  dataDir: string,
  progress: EmbeddedOptions["progress"] = () => undefined,
): Promise<ServerKind> {
  const key = await loadOrCreateSecret(dataDir, "mongodb-key");
  const password = await loadOrCreateSecret(dataDir, "mongodb-password");
  return {
    role: "mongod",
    folder: "mongodb",
    arguments: (folder, logFile, port) => [
      ...["--dbpath", folder, "--logpath", logFile, "--logappend", "--quiet"],
      ...["--bind_ip", "127.0.0.1", "--port", String(port), "--nounixsocket"],
      // The oplog can be short, because no second member reads it.
      ...["--replSet", REPLICA_SET, "--oplogSize", "64"],
      ...["--wiredTigerCacheSizeGB", cacheGigabytes().toFixed(2)],
      // With a key file every client has to authenticate. With the bypass disabled, nobody can create the first user
      // without credentials.
      ...["--keyFile", secretFile(dataDir, "mongodb-key"), "--setParameter", "enableLocalhostAuthBypass=false"],
      // mongod's minimum. More iterations only protect guessable passwords, and cost time at every start.
      ...["--setParameter", "scramIterationCount=5000", "--setParameter", "scramSHA256IterationCount=5000"],
      // By default, mongod logs each operation of 100 ms or more with its documents, which are personal data.
      ...["--slowms", String(0x7fffffff)],
      // Disables up to 200 MB of diagnostic data for MongoDB's own support.
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
    environment: (env) => ({ ...env, GLIBC_TUNABLES: registeringRseq(env["GLIBC_TUNABLES"]) }),
    cannotRun: (log) => log.includes(`"id":${incompatibleKernelId},`),
    uri: (port) => uriOf(port, password),
  };
}

/**
 * Finds or fetches a mongod and starts it on the data in `dataDir/mongodb`. Resolves once it is primary. It ends with
 * `stop()` or with this process, even if that is killed. Its log is `dataDir/mongod.log`. A program that cannot run on
 * this machine gives way to the next source. Fails with one readable line if no mongod is available, the data folder is
 * in use or mongod does not start.
 */
export async function startMongod(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const kind = await mongodOn(options.dataDir, options.progress);
  const unusable = new Set<string>();
  for (;;) {
    const program = await findMongod(options, unusable);
    try {
      return await startServer(kind, program, options);
    } catch (error) {
      if (!(error instanceof CannotRun) || options.env["MONGOMS_SYSTEM_BINARY"]) throw error;
      options.progress(`${error.message}; trying the next source`);
      unusable.add(program.path);
    }
  }
}

/** The id of the log line with which a mongod reports a kernel that its allocator does not work with. */
const incompatibleKernelId = 12_257_600;

/**
 * Lets glibc register restartable sequences. Otherwise the allocator of MongoDB 8 does so in a way that corrupts memory
 * on Linux 6.19 to 7.0.13 (SERVER-121912). Keeps the other tunables.
 */
function registeringRseq(tunables = ""): string {
  const others = tunables.split(":").filter((one) => one !== "" && !one.startsWith("glibc.pthread.rseq="));
  return [...others, "glibc.pthread.rseq=1"].join(":");
}

/** Returns the URI of the data folder's mongod at this port, or undefined if its credentials cannot be read. */
export async function mongodUri(dataDir: string, port: number): Promise<string | undefined> {
  const password = await readSecret(dataDir, "mongodb-password").catch(() => undefined);
  return password === undefined ? undefined : uriOf(port, password);
}

/** Names the replica set, so that the driver behaves as in production. */
function uriOf(port: number, password: string): string {
  return `mongodb://${serviceUser}:${password}@127.0.0.1:${port}/records?replicaSet=${REPLICA_SET}&authSource=admin`;
}

/** Returns the cache size: a quarter of the available memory, at most 1 GB. mongod accepts no less than 0.25. */
function cacheGigabytes(): number {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(1, Math.max(0.25, bytes / 4 / 1024 ** 3));
}

const serviceUser = "records";

const roles = [
  { role: "readWrite", db: "records" },
  // For `records doctor`, which checks the members.
  { role: "clusterMonitor", db: "admin" },
];

/**
 * Creates the user, or updates its password and roles if they differ. `admin` belongs to a client with all privileges.
 */
async function ensureServiceUser(admin: Db, password: string): Promise<void> {
  // Shows whether the stored user is up to date, without the cost of a login.
  const mark = createHmac("sha256", password).update(JSON.stringify(roles)).digest("hex");
  const { users } = await admin.command({ usersInfo: serviceUser });
  const [known] = users as readonly { readonly customData?: { readonly mark?: string } }[];
  if (known?.customData?.mark === mark) return;
  const settings = { pwd: password, roles, mechanisms: ["SCRAM-SHA-256"], customData: { mark } };
  await admin.command({ [known === undefined ? "createUser" : "updateUser"]: serviceUser, ...settings });
}
