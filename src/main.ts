// Starts an instance from the environment, prints where everything is, and stops it on a signal.
import { join } from "node:path";
import type { App } from "./app.ts";
import { startApp } from "./app.ts";
import type { Config } from "./config.ts";
import { ConfigError, readConfig } from "./config.ts";
import { createDemo } from "./embedded/demo.ts";
import type { Embedded } from "./embedded/parts.ts";
import { startEmbedded } from "./embedded/parts.ts";
import { setLogLevel } from "./instance/log-level.ts";
import { createLog } from "./log.ts";
import { shownError } from "./logged-error.ts";

/** How long one that is replaced still answers on its idle connections: a person who stops it is not kept waiting. */
const lastRequestsMs = 2_000;
const started = performance.now();
await main().catch((error: unknown) => {
  // One line for people: what was wrong, and what would be right.
  const line = error instanceof ConfigError ? error.message : `cannot start: ${shownError(error)}`;
  // What was opened before may still hold the process.
  process.stderr.write(`records: ${line}\n`, () => process.exit(1));
});

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, undefined, config.logAddresses);
  process.on("SIGUSR2", () =>
    setLogLevel(log, log.level === "debug" ? config.logLevel : "debug", { signal: "SIGUSR2" }),
  );
  if (config.mongodbUri !== undefined && config.redisUrl === undefined)
    log.warn(
      "REDIS_URL is not set: this instance starts a Redis of its own, so each of several instances throttles separately",
    );
  const embedded = await startEmbedded(config, say);
  const forgetSignals = onSignal(() => embedded.stop());
  try {
    const { demo: parts } = embedded;
    const demo = parts && createDemo(config.dataDir, parts.provider.issuer, parts.people, say);
    const app = await startApp(config, embedded, log, async (services) => demo?.fill(services));
    forgetSignals();
    onSignal(async (signal) => {
      await app.stop(signal === "SIGTERM" ? lastRequestsMs : 0);
      await embedded.stop();
    });
    parts?.provider.serve(app);
    const internalUrl = `http://localhost:${app.internalPort}`;
    const {
      serviceTokens: [serviceToken = ""],
      mongodbUri,
      redisUrl,
    } = embedded;
    const key = await demo?.announce({ baseUrl: app.baseUrl, internalUrl, serviceToken, mongodbUri, redisUrl });
    announce(app, internalUrl, config, embedded, key);
  } catch (error) {
    forgetSignals();
    await embedded.stop();
    throw error;
  }
}

function announce(
  { baseUrl, mcpUrl }: App,
  internalUrl: string,
  { dataDir }: Config,
  { mongod, redis, oidc, demo }: Embedded,
  key: string | undefined,
): void {
  say("");
  say(`Records is up after ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  say(`  dashboard             ${oidc === undefined ? "sign-in is off: set OIDC_ISSUER" : baseUrl}`);
  say(`  REST, Connect, gRPC   ${baseUrl}`);
  say(`  API reference         ${baseUrl}/docs`);
  say(`  OpenAPI               ${baseUrl}/openapi.json`);
  if (oidc !== undefined) say(`  MCP, for assistants   ${mcpUrl}`);
  say(`  internal              ${internalUrl}`);
  if (mongod !== undefined) say(`  MongoDB               ${mongod.shownUri} (${mongod.version}, ${mongod.source})`);
  if (redis !== undefined) say(`  Redis                 ${redis.shownUri} (${redis.version}, ${redis.source})`);
  if (demo !== undefined) say(`  identity provider     ${demo.provider.issuer} (for development)`);
  if (demo === undefined || key === undefined) return;
  say("");
  say(`  demo API key          ${key}`);
  say(`  try                   curl -H 'Authorization: Bearer ${key}' '${baseUrl}/v1/contacts?query=ann'`);
  say(
    `  make a key            sign in as ${demo.people.find(({ access, enrolled }) => access === null && enrolled)?.email ?? ""}; the passwords are in ${join(dataDir, "demo.json")}`,
  );
  say("");
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Runs `stop` on the first SIGINT or SIGTERM, then exits with 0; a second one ends at once. Returns how to take it
 * back.
 */
function onSignal(stop: (signal: NodeJS.Signals) => Promise<void>): () => void {
  let stopping = false;
  const receive = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`records: stopped with an error: ${shownError(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", receive).on("SIGTERM", receive);
  return () => void process.off("SIGINT", receive).off("SIGTERM", receive);
}
