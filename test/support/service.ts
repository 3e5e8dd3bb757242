// A running service for tests: real listeners, a database and a Redis of its own, and accounts with keys.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { inject } from "vitest";
import type { App } from "../../src/app.ts";
import { startApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { startRedis } from "../../src/embedded/redis.ts";
import { createLog } from "../../src/log.ts";
import type { DatabaseUris } from "./database.ts";
import { createDatabase, requireServiceUser } from "./database.ts";
import { testCacheDir } from "./global-setup.ts";
import { findRecordTexts, findSecrets, noteSecret, passwordOf, secretsIn } from "./secrets.ts";

/** An account and its key. */
export interface TestAccount {
  readonly id: string;
  readonly key: string;
}

/** A REST answer, read whole. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests read bodies of every shape.
  // eslint-disable-next-line
  readonly body: any;
}

/** What a REST call may have beside its path. */
export interface RestCall {
  readonly method?: string;
  readonly key?: string | undefined;
  readonly body?: unknown;
  /** A body that is sent as it is. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** A service that a test file runs, with one instance or several. */
export interface TestService {
  readonly app: App;
  readonly base: string;
  readonly internal: string;
  readonly serviceToken: string;
  readonly redis: EmbeddedServer;
  /** For the service's user, who may do no more than docs/production.md asks for. */
  readonly mongodbUri: string;
  /** The same database for somebody who may do everything. */
  readonly administratorUri: string;
  readonly logLines: string[];
  /** How many of these were written when there was no record yet. */
  readonly linesAtStart: number;
  account(access?: "read_write" | "read_only"): Promise<TestAccount>;
  rest(path: string, call?: RestCall): Promise<RestAnswer>;
  /** Calls an internal rpc by Connect's JSON. */
  internalCall(rpc: string, message: unknown, headers?: Record<string, string>): Promise<RestAnswer>;
  /** Another instance over the same database and Redis. */
  another(environment?: Record<string, string>): Promise<TestService>;
  stop(): Promise<void>;
}

const serviceToken = "test-service-token-of-32-characters-or-more";
/** Under which the sessions of the tests are kept. */
export const sessionSecret = "test-session-secret-of-32-characters-or-more";
/** A provider that is asked for nothing: who signs in for real in a test starts one. */
export const testIssuer = "http://127.0.0.1:9/";

/** Starts a service; `environment` adds to or replaces the settings of the test. */
export async function startService(environment: Record<string, string> = {}): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), "records-service-"));
  const redis = await startRedis({
    dataDir: folder,
    cacheDir: testCacheDir(),
    env: process.env,
    progress: () => undefined,
  });
  if (redis === undefined) throw new Error("no redis-server for the tests");
  const database = await createDatabase(inject("administratorUri"));
  const service = await startInstance(database, redis, environment);
  return {
    ...service,
    async stop() {
      await expectNoSecrets(service);
      await service.stop();
      await database.drop();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts an instance over parts that are there. */
export async function startInstance(
  database: DatabaseUris,
  redis: EmbeddedServer,
  environment: Record<string, string>,
): Promise<TestService> {
  const { uri: mongodbUri, administratorUri } = database;
  requireServiceUser(mongodbUri);
  for (const secret of [serviceToken, sessionSecret, passwordOf(mongodbUri), passwordOf(redis.uri)]) noteSecret(secret);
  const config = readConfig({
    PORT: "0",
    INTERNAL_PORT: "0",
    MONGODB_URI: mongodbUri,
    REDIS_URL: redis.uri,
    SERVICE_TOKENS: serviceToken,
    SESSION_SECRET: sessionSecret,
    OIDC_ISSUER: testIssuer,
    OIDC_CLIENT_ID: "records",
    OIDC_CLIENT_SECRET: "client-secret-of-the-tests",
    RATE_LIMIT: "100000",
    RATE_BURST: "100000",
    ...environment,
  });
  const logLines: string[] = [];
  const log = createLog(config.logLevel, { write: (line) => void logLines.push(line) }, config.logAddresses);
  const { oidc, sessionSecrets = [sessionSecret] } = config;
  const redisUrl = environment["REDIS_URL"] === "" ? undefined : config.redisUrl;
  const app = await startApp(
    config,
    { mongodbUri, redisUrl, serviceTokens: [serviceToken], oidc, sessionSecrets },
    log,
  );
  const base = `http://127.0.0.1:${app.port}`;
  const internal = `http://127.0.0.1:${app.internalPort}`;
  return {
    app,
    base,
    internal,
    serviceToken,
    redis,
    mongodbUri,
    administratorUri,
    logLines,
    linesAtStart: logLines.length,
    async account(access = "read_write") {
      const account = await app.services.accounts.create(`${randomUUID()}@example.com`, true);
      const { secret } = await app.services.apiKeys.create(account._id, access);
      noteSecret(secret);
      return { id: account._id.toHexString(), key: secret };
    },
    rest: (path, call) => rest(base, path, call),
    async internalCall(rpc, message, headers = {}) {
      const response = await fetch(`${internal}/${rpc}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${serviceToken}`, ...headers },
        body: JSON.stringify(message),
      });
      return read(response);
    },
    another: (more = {}) => startInstance(database, redis, { ...environment, ...more }),
    stop: () => app.stop(),
  };
}

/** One REST call. */
export async function rest(
  base: string,
  path: string,
  { method, key, body, raw, headers = {} }: RestCall = {},
): Promise<RestAnswer> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(base + path, {
    method: method ?? (payload === undefined ? "GET" : "POST"),
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(payload === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload as never }),
  });
  return read(response);
}

/** A well-formed id of nothing. */
export function randomId(): string {
  return new UUID().toHexString();
}

/** Whatever a test did, nothing that it was given in confidence may lie about afterwards. */
async function expectNoSecrets(service: TestService): Promise<void> {
  const found = [...(await findSecrets(service)), ...(await findRecordTexts(service))];
  if (found.length > 0) throw new Error(`what is confidential got out: ${found.join("; ")}`);
}

async function read(response: Response): Promise<RestAnswer> {
  const text = await response.text();
  const body = text === "" ? undefined : parse(text);
  if (response.status >= 400 && secretsIn(text).length > 0) throw new Error(`an error repeats a secret: ${text}`);
  const key = (body as { data?: { key?: unknown } } | undefined)?.data?.key;
  if (typeof key === "string") noteSecret(key);
  return { status: response.status, headers: response.headers, text, body };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
