// The parts that a fresh machine lacks: starts those that are not configured, and keeps the secrets that they need.
import { mkdir } from "node:fs/promises";
import type { Config, OidcConfig } from "../config.ts";
import { ConfigError } from "../config-error.ts";
import { withoutSecrets } from "../config.ts";
import { lockDataDir } from "./data-dir.ts";
import type { DemoUser } from "./demo-users.ts";
import { demoUsers } from "./demo-users.ts";
import { startMongod } from "./mongod.ts";
import type { DevelopmentProvider } from "./provider/provider.ts";
import { startProvider } from "./provider/provider.ts";
import { startRedis } from "./redis.ts";
import { keptSecret } from "./secrets.ts";
import type { EmbeddedServer } from "./server.ts";

/** Where the parts are, embedded or configured. */
export interface Embedded {
  readonly mongodbUri: string;
  readonly redisUrl: string | undefined;
  readonly serviceTokens: readonly string[];
  readonly sessionSecrets: NonNullable<Config["sessionSecrets"]>;
  /** The identity provider, configured or for development; undefined where there is none. */
  readonly oidc: OidcConfig | undefined;
  /** Undefined where a database or a provider is configured: then there is no demo. */
  readonly demo: { readonly users: readonly DemoUser[]; readonly provider: DevelopmentProvider } | undefined;
  /** The servers that were started here; undefined where one is configured. */
  readonly mongod: EmbeddedServer | undefined;
  readonly redis: EmbeddedServer | undefined;
  stop(): Promise<void>;
}

/** Starts what is not configured, all at once. Rejects with one line when MongoDB cannot be had. */
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
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`DATA_DIR: ${dataDir} cannot be created as a folder (${code})`);
  });
  const lock = await lockDataDir(dataDir);
  const options = { dataDir, cacheDir, env: withoutSecrets(process.env), progress, restart: true };
  const parts = await Promise.allSettled([
    mongodbUri === undefined ? startMongod(options) : undefined,
    redisUrl === undefined ? startRedis(options) : undefined,
    // Never a development provider on a real database, nor beside a real one.
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
    serviceTokens: serviceTokens ?? [await keptSecret(dataDir, "service-token")],
    sessionSecrets: sessionSecrets ?? [await keptSecret(dataDir, "session-secret")],
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
  const users = demoUsers(await keptSecret(dataDir, "demo-secret"));
  return { users, provider: await startProvider({ dataDir, users }) };
}
