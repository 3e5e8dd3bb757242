// Wires the log, metrics and traces of an instance for its listeners and clients.
import type { Cluster, Redis } from "ioredis";
import type { MongoClient } from "mongodb";
import type { Logger } from "pino";
import type { TracingConfig } from "../config/config.ts";
import type { ListenerOptions } from "../call/exchange.ts";
import type { OnTrouble } from "../db/run-periodically.ts";
import type { ImportWatch } from "../ingest/import.ts";
import type { DeniedListener } from "./commands.ts";
import { allOf, watchMongo, watchRedis } from "./commands.ts";
import { reportFailures } from "./failures.ts";
import type { Metrics } from "./metrics.ts";
import { createMetrics } from "./metrics.ts";
import type { ListenerName } from "./record.ts";
import type { CountUse } from "./requests.ts";
import { watchRequests } from "./requests.ts";

/** Observes the work of the services outside requests. */
export interface ServiceWatch {
  /** Returns the callback for failures of a background task. */
  trouble(task: string): OnTrouble;
  readonly imports: ImportWatch;
}

/** The observers of an instance. */
export type Observability = Awaited<ReturnType<typeof createObservability>>;

/** Creates the observers. Without `tracingConfig`, no part of OpenTelemetry is loaded. */
export async function createObservability(tracingConfig: TracingConfig | undefined, log: Logger) {
  const metrics = createMetrics();
  const tracing = tracingConfig && (await import("./tracing.ts")).startTracing(tracingConfig, log);
  const commands = allOf(tracing === undefined ? [metrics.commands] : [metrics.commands, tracing.commands]);
  return {
    metrics,
    watchMongo: (client: MongoClient) => watchMongo(client, commands, reportDenied(metrics, log)),
    watchRedis: (client: Redis | Cluster) => watchRedis(client, commands),
    /** Returns the observer of a listener's requests, which writes their log lines, metrics and spans. */
    requests: (listener: ListenerName, countUse?: CountUse) => watchRequests(listener, log, metrics, tracing, countUse),
    /** Called for failed requests. */
    onError: reportFailures(log),
    /** Observes background tasks and imports of the services. */
    services: { trouble: reportTrouble(metrics, log), imports: metrics.imports },
    /** Returns options with which a listener runs each request in its own span. Without tracing, returns its argument. */
    around: (options: ListenerOptions) => tracing?.around(options) ?? options,
    /** Returns headers that link a call to another service with the request that causes it; undefined without tracing. */
    outgoing: tracing?.outgoing,
    /** Sends the remaining spans. */
    close: async () => tracing?.close(),
  };
}

/** The log repeats a problem at most once a minute: every request or run of a task may have it. */
const reportEveryMs = 60_000;

function onceAWhile(): (what: string) => boolean {
  const reported = new Map<string, number>();
  return (what) => {
    const now = performance.now();
    if (now - (reported.get(what) ?? -Infinity) < reportEveryMs) return false;
    reported.set(what, now);
    return true;
  };
}

/** Counts every failure of a background task, and logs it at most once per interval. */
function reportTrouble(metrics: Metrics, log: Logger): ServiceWatch["trouble"] {
  const isTime = onceAWhile();
  return (task) => {
    metrics.backgroundFailures.inc({ task }, 0);
    return (what, error) => {
      metrics.backgroundFailures.inc({ task });
      if (isTime(what)) log.error({ task, err: error }, what);
    };
  };
}

function reportDenied(metrics: Metrics, log: Logger): DeniedListener {
  const isTime = onceAWhile();
  return ({ name: command, database, collection }) => {
    metrics.deniedCommands.inc({ command });
    if (isTime(`${command} ${collection ?? ""}`))
      log.error(
        { command, database, collection },
        "MongoDB denies this command to the user of MONGODB_URI: grant it the role readWrite on the database",
      );
  };
}
