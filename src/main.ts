// Entry point: starts an instance from the environment, prints its addresses, and stops it on a signal.
import { isAbsolute, relative } from "node:path";
import { portsOf, startApp } from "./app/app.ts";
import { bannerLines } from "./app/banner.ts";
import { ConfigError } from "./config/config-error.ts";
import { readConfig } from "./config/config.ts";
import { createDemo } from "./embedded/demo.ts";
import { startEmbedded } from "./embedded/dependencies.ts";
import { requireFree } from "./http/ports.ts";
import { setLogLevel } from "./instance/log-level.ts";
import { createLog } from "./log/log.ts";
import { shownError } from "./log/logged-error.ts";
import { ignoreClosedReaders } from "./process/output-errors.ts";
import { onSignals } from "./process/signals.ts";

/** How long a stop by SIGTERM still serves idle connections, in milliseconds. Ctrl-C does not wait for them. */
const lastRequestsMs = 2_000;
const started = performance.now();
const onTerminal = process.stdout.isTTY;
// The service continues if nobody reads its banner, or if the disk is full.
ignoreClosedReaders(() => undefined);
await main().catch((error: unknown) => {
  // One line for the operator: the problem, and how to fix it.
  const line = error instanceof ConfigError ? error.message : `cannot start: ${shownError(error)}`;
  // Open handles could keep the process running.
  process.stderr.write(`records: ${line}\n`, () => process.exit(1));
});

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, undefined, config.logAddresses);
  process.on("SIGUSR2", () =>
    setLogLevel(log, log.level === "debug" ? config.logLevel : "debug", { signal: "SIGUSR2" }),
  );
  for (const { variable, meant } of config.misspelt)
    log.warn(`${variable} is not a setting and has no effect. If you meant ${meant}, rename it.`);
  if (config.mongodbUri !== undefined && config.redisUrl === undefined)
    log.warn(
      "REDIS_URL is not set: this instance starts a Redis of its own, so each of several instances throttles separately",
    );
  // Checked before anything is fetched, started or written, because the listeners open only once they can serve.
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

/**
 * Runs `stop` on the first signal, then exits with 0, or with 1 if it fails. A second signal exits at once, with 1.
 * Returns a function that removes the handlers.
 */
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

/** Returns the folder as an operator would write it in the current directory. */
function shownFolder(folder: string): string {
  const path = relative(process.cwd(), folder);
  return path.startsWith("..") || isAbsolute(path) ? folder : `./${path}`;
}
