// Starts an instance from the environment, prints where everything is, and stops it on a signal.
import { isAbsolute, relative } from "node:path";
import { portsOf, startApp } from "./app.ts";
import { bannerLines } from "./banner.ts";
import { ConfigError } from "./config-error.ts";
import { readConfig } from "./config.ts";
import { createDemo } from "./embedded/demo.ts";
import { startEmbedded } from "./embedded/parts.ts";
import { requireFree } from "./http/ports.ts";
import { setLogLevel } from "./instance/log-level.ts";
import { createLog } from "./log.ts";
import { shownError } from "./logged-error.ts";
import { outliveReaders } from "./output-errors.ts";
import { onSignals } from "./signals.ts";

/** How long one that is replaced still serves its idle connections: someone who stops it by hand does not wait. */
const lastRequestsMs = 2_000;
const started = performance.now();
const onTerminal = process.stdout.isTTY;
// The service needs nobody who reads its banner, and a disk that is full does not end it.
outliveReaders(() => undefined);
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
  // Before anything is fetched, started or written: the listeners open their ports only once they can serve.
  await requireFree(portsOf(config));
  let report = say;
  const embedded = await startEmbedded(config, (line) => report(line));
  const forgetSignals = onSignal(() => embedded.stop());
  try {
    const { demo: parts } = embedded;
    const demo = parts && createDemo(config.dataDir, parts.provider.issuer, parts.users, say);
    const app = await startApp(config, embedded, log, async (services) => demo?.fill(services));
    forgetSignals();
    report = (line) => log.warn(line);
    onSignal(async (signal) => {
      await app.stop(signal === "SIGTERM" ? lastRequestsMs : 0);
      await embedded.stop();
      if (onTerminal)
        say(`\nStopped.${embedded.mongod === undefined ? "" : ` Data kept in ${shownFolder(config.dataDir)}.`}`);
    });
    parts?.provider.serve(app);
    const internalUrl = `http://localhost:${app.internalPort}`;
    const {
      serviceTokens: [serviceToken = ""],
      mongodbUri,
      redisUrl,
    } = embedded;
    const key = await demo?.announce({ baseUrl: app.baseUrl, internalUrl, serviceToken, mongodbUri, redisUrl });
    const seconds = (performance.now() - started) / 1_000;
    const { dataDir } = config;
    const { baseUrl, mcpUrl } = app;
    bannerLines({ baseUrl, mcpUrl, internalUrl, dataDir, embedded, demoKey: key, seconds, onTerminal }).forEach(say);
    for (const { version, source } of [embedded.mongod, embedded.redis].filter((server) => server !== undefined))
      log.debug({ version, source }, "started a server of this machine");
  } catch (error) {
    forgetSignals();
    await embedded.stop();
    throw error;
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs `stop` on the first signal, then exits with 0; a second one ends at once. Returns how to take it back. */
function onSignal(stop: (signal: NodeJS.Signals) => Promise<void>): () => void {
  return onSignals(
    (signal) =>
      void stop(signal).then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`records: stopped with an error: ${shownError(error)}\n`);
          process.exit(1);
        },
      ),
    () => process.exit(1),
  );
}

/** The folder as an operator here would write it. */
function shownFolder(folder: string): string {
  const path = relative(process.cwd(), folder);
  return path.startsWith("..") || isAbsolute(path) ? folder : `./${path}`;
}
