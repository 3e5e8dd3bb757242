// Starts an instance from the environment, prints where everything is, and stops it on a signal.
import { startApp } from "./app.ts";
import type { Config } from "./config.ts";
import { ConfigError, readConfig } from "./config.ts";
import { createDemo } from "./embedded/demo.ts";
import type { Embedded } from "./embedded/parts.ts";
import { startEmbedded } from "./embedded/parts.ts";
import { createLog } from "./log.ts";

const started = performance.now();
await main().catch((error: unknown) => {
  // One line for people: what was wrong, and what would be right.
  const message = error instanceof Error ? error.message : String(error);
  // What was opened before may still hold the process.
  process.stderr.write(`records: ${error instanceof ConfigError ? "" : "cannot start: "}${message}\n`, () => process.exit(1));
});

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const embedded = await startEmbedded(config, say);
  const forgetSignals = onSignal(() => embedded.stop());
  try {
    const demo = isDemo(config) ? createDemo(config.dataDir, say) : undefined;
    const app = await startApp(config, embedded, log, async (services) => demo?.fill(services));
    forgetSignals();
    onSignal(async () => {
      await app.stop();
      await embedded.stop();
    });
    const internalUrl = `http://localhost:${app.internalPort}`;
    const key = await demo?.announce({ baseUrl: app.baseUrl, internalUrl, serviceToken: embedded.serviceTokens[0] ?? "" });
    announce(app.baseUrl, internalUrl, embedded, key);
  } catch (error) {
    forgetSignals();
    await embedded.stop();
    throw error;
  }
}

/** The demo exists only where neither a real database nor a real identity provider is configured (contract §10). */
function isDemo({ mongodbUri, oidcIssuer }: Config): boolean {
  return mongodbUri === undefined && oidcIssuer === undefined;
}

function announce(baseUrl: string, internalUrl: string, { mongod, redis }: Embedded, key: string | undefined): void {
  say("");
  say(`Records is up after ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  say(`  REST, Connect, gRPC   ${baseUrl}`);
  say(`  OpenAPI               ${baseUrl}/openapi.json`);
  say(`  internal              ${internalUrl}`);
  if (mongod !== undefined) say(`  MongoDB               ${mongod.uri} (${mongod.version}, ${mongod.source})`);
  if (redis !== undefined) say(`  Redis                 ${redis.uri} (${redis.version}, ${redis.source})`);
  if (key === undefined) return;
  say("");
  say(`  demo API key          ${key}`);
  say(`  try                   curl -H 'Authorization: Bearer ${key}' '${baseUrl}/v1/contacts?query=ann'`);
  say("");
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs `stop` on the first SIGINT or SIGTERM, then exits with 0; a second one ends at once. Returns how to take it back. */
function onSignal(stop: () => Promise<void>): () => void {
  let stopping = false;
  const receive = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`records: stopped with an error: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", receive).on("SIGTERM", receive);
  return () => void process.off("SIGINT", receive).off("SIGTERM", receive);
}
