// Prometheus metrics of an instance. No caller can increase the number of label values without bound.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Limited } from "../call/exchange.ts";
import type { ImportWatch } from "../ingest/import.ts";
import type { CommandObserver } from "./commands.ts";
import type { InstanceState } from "./gauges.ts";
import { addGauge, showInstance } from "./gauges.ts";
import type { ListenerName, RequestRecord, Wire } from "./record.ts";

/** What the metrics distinguish of requests that were rejected at once. */
export interface ShedKind {
  readonly listener: ListenerName;
  readonly wire: Wire;
  readonly method: string;
  readonly status: number;
}

/** In seconds. The first bounds separate reads from memory and from disk, and the last ones are near the deadline. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const commandBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The metrics of an instance. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of one instance in their own registry, separate from those of the process. */
export function createMetrics() {
  const shared = processMetrics();
  const registry = new Registry();
  const registers = [registry];
  const counter: MakeCounter = (name, help, labelNames = []) => new Counter({ name, help, labelNames, registers });
  return {
    ...requestMetrics(registry, counter),
    ...failureCounters(counter),
    redisUp: new Gauge({ name: "records_redis_up", help: "1 while Redis responds, else 0.", registers }),
    imports: importMetrics(counter),
    identityProvider: identityProviderMetrics(registry, counter),
    commands: commandMetrics(registry, counter),
    /** Registers the metrics that show the state of the instance. */
    show: (state: InstanceState) => showInstance(registry, state),
    text: async () => ({
      type: registry.contentType,
      text: (await Promise.all([shared.metrics(), registry.metrics()])).join("\n"),
    }),
  };
}

type MakeCounter = (name: string, help: string, labelNames?: string[]) => Counter;

function requestMetrics(registry: Registry, counter: MakeCounter) {
  const running = { public: 0, internal: 0 };
  const help = "Requests in progress.";
  addGauge(registry, ["records_requests_in_flight", help, (counts) => counts, "listener"], running);
  const labelNames = ["listener", "wire", "method", "route", "status"];
  const requests = counter(
    "records_requests_total",
    "Finished requests. The label status is the REST status for the same outcome, or 499 if the client disconnected.",
    labelNames,
  );
  const durations = new Histogram({
    name: "records_request_duration_seconds",
    help: "Time from the head of a request to the end of its response.",
    buckets: requestBuckets,
    labelNames,
    registers: [registry],
  });
  const throttled = counter("records_throttled_total", "Requests rejected with 429.", ["listener", "wire"]);
  const replays = counter(
    "records_idempotent_replays_total",
    "Writes that got the response of the first request with their idempotency key.",
    ["wire"],
  );
  const rejectedMessages = counter("records_refused_messages_total", "Messages that the HTTP parser rejected.", [
    "listener",
    "status",
  ]);
  const limited = counter(
    "records_rejected_connections_total",
    "Connections and HTTP/2 streams that were rejected because too many were open.",
    ["listener", "what"],
  );
  for (const listener of ["public", "internal"])
    for (const what of ["connection", "stream"]) limited.inc({ listener, what }, 0);
  return {
    /** Call it when a request arrives. */
    begin(listener: ListenerName) {
      running[listener] += 1;
    },
    /** Call it when the response of the request is closed. */
    end({ listener, wire, method, route, outcome, replayed, ms }: RequestRecord) {
      running[listener] -= 1;
      const labels = { listener, wire, method, route, status: outcome };
      requests.inc(labels);
      durations.observe(labels, ms / 1000);
      if (outcome === 429) throttled.inc({ listener, wire });
      if (replayed) replays.inc({ wire });
    },
    /** Counts requests that were rejected before anything else was done for them. */
    shed({ listener, wire, method, status }: ShedKind, count: number) {
      requests.inc({ listener, wire, method, route: "-", status }, count);
      if (status === 429) throttled.inc({ listener, wire }, count);
    },
    /** Call it when a listener rejects a connection or a stream. */
    limited: (listener: ListenerName, what: Limited) => limited.inc({ listener, what }),
    /** Call it when the HTTP parser rejects a message with this status. */
    rejected: (listener: ListenerName, status: number) => rejectedMessages.inc({ listener, status }),
  };
}

function failureCounters(counter: MakeCounter) {
  return {
    throttleFallbacks: counter(
      "records_throttle_fallback_total",
      "Requests throttled by this instance's own bucket, because Redis was unavailable or slow.",
    ),
    throttledFromMemory: counter(
      "records_throttled_from_memory_total",
      "Requests rejected with 429 without a call to Redis, because their bucket was known to be empty.",
    ),
    rejectedLookUps: counter(
      "records_refused_lookups_total",
      "Requests rejected with 429 before their credential was looked up, because too many look-ups of their address had failed.",
    ),
    overloaded: counter("records_overloaded_total", "Requests rejected with 503 because too many were in progress."),
    deniedCommands: counter(
      "records_mongodb_denied_commands_total",
      "Commands that MongoDB denied, because the user of MONGODB_URI lacks a privilege.",
      ["command"],
    ),
    backgroundFailures: counter("records_background_failures_total", "Background tasks that failed. Each is retried.", [
      "task",
    ]),
  };
}

function importMetrics(counter: MakeCounter): ImportWatch {
  const imports = counter(
    "records_imports_total",
    "Import streams that ended, by outcome: done, failed, or broken_off by the client.",
    ["outcome"],
  );
  const importItems = counter("records_import_items_total", "Records that imports wrote or rejected.", ["outcome"]);
  // A counter that starts at 0 shows its first event as an increase.
  for (const outcome of ["done", "failed", "broken_off"]) imports.inc({ outcome }, 0);
  for (const outcome of ["written", "rejected"]) importItems.inc({ outcome }, 0);
  return {
    ended: (outcome) => imports.inc({ outcome }),
    items: (outcome, count) => importItems.inc({ outcome }, count),
  };
}

function identityProviderMetrics(registry: Registry, counter: MakeCounter) {
  let [up, rejects] = [true, false];
  const help = "1 if the identity provider responded to the last request and does not reject introspection, else 0.";
  addGauge(registry, ["records_identity_provider_up", help, () => up && !rejects], undefined);
  const failures = counter(
    "records_identity_provider_failures_total",
    "Requests to the identity provider that got no response or an error, and introspections that it rejected.",
  );
  return {
    /** Call it at the end of a request to the identity provider. `responded` is false if the request failed. */
    responded(responded: boolean) {
      up = responded;
      if (!responded) failures.inc();
    },
    /** Call it at the end of an introspection. `rejected` is true if the provider rejected it. */
    rejected(rejected: boolean) {
      rejects = rejected;
      if (rejected) failures.inc();
    },
  };
}

function commandMetrics(registry: Registry, counter: MakeCounter): CommandObserver {
  const labelNames = ["command", "outcome"];
  const of = (system: string, name: string) => ({
    total: counter(`records_${system}_commands_total`, `Commands sent to ${name}.`, labelNames),
    durations: new Histogram({
      name: `records_${system}_command_duration_seconds`,
      help: `Time from a command to ${name} to its reply.`,
      buckets: commandBuckets,
      labelNames,
      registers: [registry],
    }),
  });
  const commands = { mongodb: of("mongodb", "MongoDB"), redis: of("redis", "Redis") };
  return ({ system, name }) => {
    const startedAt = performance.now();
    return (error) => {
      const labels = { command: name, outcome: error === undefined ? "ok" : "failed" };
      commands[system].total.inc(labels);
      commands[system].durations.observe(labels, (performance.now() - startedAt) / 1000);
    };
  };
}

let ofProcess: Registry | undefined;

/**
 * Returns the registry of the process. There is only one, because prom-client never stops the timer and the observer
 * of these metrics: one for each instance would keep stopped instances in memory.
 */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}
