// Starts the dependencies that are not configured, and keeps the secrets that they need.
import type { Config, OidcConfig } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { withoutSecrets } from "../config/config.ts";
import { lockDataDir } from "./data-dir.ts";
import type { DemoUser } from "./demo-users.ts";
import { demoUsers } from "./demo-users.ts";
import { startMongod } from "./mongod.ts";
import type { DevelopmentProvider } from "./provider/provider.ts";
import { startProvider } from "./provider/provider.ts";
import { startRedis } from "./redis.ts";
import { loadOrCreateSecret } from "./secrets.ts";
import type { EmbeddedServer } from "./server.ts";
import { makeFolder } from "../process/make-folder.ts";

/** The dependencies of the service, embedded or configured. */
export interface Embedded {
  readonly mongodbUri: string;
  readonly redisUrl: string | undefined;
  readonly serviceTokens: readonly string[];
  readonly sessionSecrets: NonNullable<Config["sessionSecrets"]>;
  /** The identity provider, configured or for development; undefined without either. */
  readonly oidc: OidcConfig | undefined;
  /** Undefined if MongoDB or an identity provider is configured, because there is no demo then. */
  readonly demo: { readonly users: readonly DemoUser[]; readonly provider: DevelopmentProvider } | undefined;
  /** The embedded servers. Undefined if the server is configured, or if no Redis could be started. */
  readonly mongod: EmbeddedServer | undefined;
  readonly redis: EmbeddedServer | undefined;
  stop(): Promise<void>;
}

/** Starts all dependencies that are not configured, concurrently. Rejects with one line if MongoDB is not available. */
export async function startEmbedded(config: Config, progress: (line: string) => void): Promise<Embedded> {
  const { dataDir, cacheDir, mongodbUri, redisUrl, serviceTokens, sessionSecrets, oidc } = config;
  const nothing = { mongod: undefined, redis: undefined, demo: undefined };
  if (
    mongodbUri !== undefined &&
    redisUrl !== undefined &&
    serviceTokens !== undefined &&
    sessionSecrets !== undefined
  ) {
    return { mongodbUri, redisUrl, serviceTokens, sessionSecrets, oidc, ...nothing, stop: () => Promise.resolve() };
  }
  if (cacheDir === undefined)
    throw new ConfigError(
      "XDG_CACHE_HOME",
      "is required when MONGODB_URI or REDIS_URL is not set and the user has no home directory: a folder for fetched programs",
    );
  const lock = await makeFolder(dataDir, 0o700)
    .then(() => lockDataDir(dataDir))
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code === undefined) throw error;
      throw new Error(`DATA_DIR: ${dataDir} cannot be created or written (${error.code})`);
    });
  const options = { dataDir, cacheDir, env: withoutSecrets(process.env), progress, restart: true };
  const parts = await Promise.allSettled([
    mongodbUri === undefined ? startMongod(options) : undefined,
    redisUrl === undefined ? startRedis(options) : undefined,
    // A development provider never serves a configured database, and never runs together with a configured provider.
    mongodbUri === undefined && oidc === undefined ? startDemo(dataDir) : undefined,
  ]);
  const [mongod, redis, demo] = parts.map((part) => (part.status === "fulfilled" ? part.value : undefined)) as [
    EmbeddedServer?,
    EmbeddedServer?,
    Embedded["demo"]?,
  ];
  const stop = async (): Promise<void> => {
    await Promise.all([mongod?.stop(), redis?.stop(), demo?.provider.stop()]);
    await lock.release();
  };
  const failed = parts.find((part) => part.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  const { client, issuer } = demo?.provider ?? {};
  return {
    mongodbUri: mongodbUri ?? mongod?.uri ?? "",
    redisUrl: redisUrl ?? redis?.uri,
    serviceTokens: serviceTokens ?? [await loadOrCreateSecret(dataDir, "service-token")],
    sessionSecrets: sessionSecrets ?? [await loadOrCreateSecret(dataDir, "session-secret")],
    oidc:
      client === undefined || issuer === undefined
        ? oidc
        : { issuer, clientId: client.id, clientSecret: client.secret },
    demo,
    mongod,
    redis,
    stop,
  };
}

async function startDemo(dataDir: string): Promise<Embedded["demo"]> {
  const users = demoUsers(await loadOrCreateSecret(dataDir, "demo-secret"));
  return { users, provider: await startProvider({ dataDir, users }) };
}
