// The numbers that this instance shows to Prometheus. Every label has a bound that no caller can move.
import { Counter, Gauge, Registry, collectDefaultMetrics } from "prom-client";
import type { PoolState } from "../db/pool.ts";
import type { CapacityState } from "../guards/capacity.ts";
import type { ImportWatch } from "../ingest/import.ts";
import type { CommandObserver } from "./commands.ts";
import type { Handles } from "./handles.ts";
import { createHandles } from "./handles.ts";
import type { ListenerName, RequestRecord } from "./record.ts";

/** What an instance is, and how it stands; asked whenever the numbers are. */
export interface InstanceState {
  /** The release, and the version of the interface's description. */
  readonly version: string;
  readonly interfaceVersion: string;
  ready(): boolean;
  mongodbReachable(): boolean;
  /** Whether the lease on MongoDB's primary is held, and since when it is so, in milliseconds since 1970. */
  lease(): { readonly held: boolean; readonly since: number };
  /** The switches by the names that they have outside; true for on. */
  switches(): Readonly<Record<string, boolean>>;
  /** How many callers have a bucket in this instance's own memory. */
  fallbackBuckets(): number;
  /** The connections to MongoDB. */
  pool(): PoolState;
  /** The public requests that are worked on, and those that wait. */
  work(): CapacityState;
  /** The erasures of accounts that are not finished, and the documents that this instance has deleted for them. */
  erasures(): { readonly running: number; readonly deleted: number };
}

/** What is counted and measured. */
export interface Metrics {
  /** A request that the bucket of this instance decided, because Redis did not. */
  readonly throttleFallbacks: Counter;
  /** A request that was refused with 429 without asking Redis, because its bucket was known to be empty. */
  readonly throttledFromMemory: Counter;
  /** A request whose credential was not looked up, because too many look-ups for its address had failed. */
  readonly refusedLookUps: Counter;
  /** A request that was refused because there was too much to do. */
  readonly overloaded: Counter;
  /** A command that MongoDB denied for want of a right; by the command's name. */
  readonly deniedCommands: Counter;
  /** 1 while Redis answers. */
  readonly redisUp: Gauge;
  /** A task in the background that failed; by its name. */
  readonly backgroundFailures: Counter;
  readonly imports: ImportWatch;
  /** A request to the identity provider is over. */
  identityProvider(answered: boolean): void;
  /** Counts the commands to MongoDB and Redis. */
  readonly commands: CommandObserver;
  /** A request came in. */
  begin(listener: ListenerName): void;
  /** It is over. */
  end(record: RequestRecord): void;
  /** The HTTP parser refused a message with this status. */
  refused(listener: ListenerName, status: number): void;
  /** From now on the numbers tell how the instance stands. */
  show(state: InstanceState): void;
  text(): Promise<{ readonly type: string; readonly text: string }>;
}

/** Seconds. The first bounds tell a read from memory from one of the disk, the last ones are those of the deadline. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const commandBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The metrics of one instance, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new Gauge({ name, help, labelNames, registers });
  const asked = (name: string, help: string, collect: (self: Gauge) => void, labelNames: string[] = []): Gauge =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        collect(this);
      },
    });

  const running = { public: 0, internal: 0 };
  asked(
    "records_requests_in_flight",
    "Requests that have come in and are not over.",
    (self) => {
      for (const [listener, count] of Object.entries(running)) self.set({ listener }, count);
    },
    ["listener"],
  );
  const requests = createHandles(registry, {
    counter: {
      name: "records_requests_total",
      help: "Requests that are over; status is what REST answers to the same outcome, 499 where the client left.",
    },
    histogram: {
      name: "records_request_duration_seconds",
      help: "From the head of a request to the end of its answer.",
      buckets: requestBuckets,
    },
    labelNames: ["listener", "wire", "method", "route", "status"],
  });
  const throttled = counter("records_throttled_total", "Requests that were refused with 429.", ["listener", "wire"]);
  const replays = counter(
    "records_idempotent_replays_total",
    "Writes that were answered as the first request with their idempotency key was.",
    ["wire"],
  );
  const refusedMessages = counter("records_refused_messages_total", "Messages that the HTTP parser refused.", [
    "listener",
    "status",
  ]);
  const imports = counter(
    "records_imports_total",
    "Streams of imports that ended: done, failed, or broken off by their sender.",
    ["outcome"],
  );
  const importItems = counter("records_import_items_total", "Records that imports wrote or rejected.", ["outcome"]);
  // What did not happen yet is 0, so that its first time shows as an increase.
  for (const outcome of ["done", "failed", "broken_off"]) imports.inc({ outcome }, 0);
  for (const outcome of ["written", "rejected"]) importItems.inc({ outcome }, 0);
  const providerUp = gauge(
    "records_identity_provider_up",
    "0 while the last request to the identity provider was not answered, else 1.",
  );
  providerUp.set(1);
  const providerFailures = counter(
    "records_identity_provider_failures_total",
    "Requests to the identity provider without an answer, or with an error of its own.",
  );
  const commandsOf = (system: string, name: string): Handles =>
    createHandles(registry, {
      counter: { name: `records_${system}_commands_total`, help: `Commands that ${name} was sent.` },
      histogram: {
        name: `records_${system}_command_duration_seconds`,
        help: `From a command to ${name} to its answer.`,
        buckets: commandBuckets,
      },
      labelNames: ["command", "outcome"],
    });
  const commands = { mongodb: commandsOf("mongodb", "MongoDB"), redis: commandsOf("redis", "Redis") };

  return {
    throttleFallbacks: counter(
      "records_throttle_fallback_total",
      "Requests that were throttled by the bucket of this instance, because Redis was away or slow.",
    ),
    throttledFromMemory: counter(
      "records_throttled_from_memory_total",
      "Requests that were refused with 429 without asking Redis, because their bucket was known to be empty.",
    ),
    refusedLookUps: counter(
      "records_refused_lookups_total",
      "Requests that were refused with 429 before their credential was looked up, because too many look-ups for their address had failed.",
    ),
    overloaded: counter(
      "records_overloaded_total",
      "Requests that were refused with 503 because too many were worked on.",
    ),
    deniedCommands: counter(
      "records_mongodb_denied_commands_total",
      "Commands that MongoDB denied, because the user of MONGODB_URI lacks the right.",
      ["command"],
    ),
    redisUp: gauge("records_redis_up", "1 while Redis answers, else 0."),
    backgroundFailures: counter(
      "records_background_failures_total",
      "Tasks in the background that failed; each is tried again.",
      ["task"],
    ),
    imports: {
      ended: (outcome) => imports.inc({ outcome }),
      items: (outcome, count) => importItems.inc({ outcome }, count),
    },
    identityProvider(answered) {
      providerUp.set(answered ? 1 : 0);
      if (!answered) providerFailures.inc();
    },
    commands({ system, name }) {
      const startedAt = performance.now();
      return (error) => {
        const seconds = (performance.now() - startedAt) / 1000;
        if (error === undefined) commands[system].note(name, () => [name, "ok"], seconds);
        else commands[system].note(`${name} failed`, () => [name, "failed"], seconds);
      };
    },
    begin(listener) {
      running[listener] += 1;
    },
    end({ listener, wire, method, route, outcome, replayed, ms }) {
      running[listener] -= 1;
      requests.note(
        `${listener} ${wire} ${method} ${route} ${outcome}`,
        () => [listener, wire, method, route, String(outcome)],
        ms / 1000,
      );
      if (outcome === 429) throttled.inc({ listener, wire });
      if (replayed) replays.inc({ wire });
    },
    refused: (listener, status) => refusedMessages.inc({ listener, status }),
    show({
      version,
      interfaceVersion,
      ready,
      mongodbReachable,
      lease,
      switches,
      fallbackBuckets,
      pool,
      work,
      erasures,
    }) {
      const bit = (on: boolean): number => (on ? 1 : 0);
      gauge("records_build_info", "Always 1; its labels tell what runs.", [
        "version",
        "interface_version",
        "node_version",
      ]).set({ version, interface_version: interfaceVersion, node_version: process.version }, 1);
      asked("records_ready", "1 while this instance takes requests, else 0.", (self) => self.set(bit(ready())));
      asked("records_mongodb_up", "1 while MongoDB answers and its primary is proven to lead, else 0.", (self) =>
        self.set(bit(mongodbReachable())),
      );
      asked(
        "records_primary_lease",
        "1 while the primary of MongoDB is proven to be one, else 0: requests that need it are then answered 503.",
        (self) => self.set(bit(lease().held)),
      );
      asked(
        "records_primary_lease_changed_timestamp_seconds",
        "When the lease on the primary was last gained or lost, in seconds since 1970.",
        (self) => self.set(lease().since / 1_000),
      );
      asked(
        "records_throttle_fallback_buckets",
        "Callers that have a bucket in this instance's memory; swept when requests come.",
        (self) => self.set(fallbackBuckets()),
      );
      asked(
        "records_mongodb_pool_connections",
        "Open connections to MongoDB: those that commands use, and those that are idle.",
        (self) => {
          self.set({ state: "in_use" }, pool().inUse);
          self.set({ state: "available" }, pool().available);
        },
        ["state"],
      );
      asked("records_mongodb_pool_waiting", "Commands that wait for a connection to MongoDB.", (self) =>
        self.set(pool().waiting),
      );
      asked(
        "records_work_in_flight",
        "Public requests that are worked on, by whether their credential is known to be valid.",
        (self) => {
          for (const [standing, count] of Object.entries(work().working)) self.set({ standing }, count);
        },
        ["standing"],
      );
      asked("records_work_in_flight_limit", "Public requests that can be worked on at once (MAX_IN_FLIGHT).", (self) =>
        self.set(work().most),
      );
      asked("records_work_waiting", "Public requests that wait for a place.", (self) => self.set(work().waiting));
      asked(
        "records_erasures_running",
        "Erasures of accounts that are not finished, as this instance last saw them in MongoDB.",
        (self) => self.set(erasures().running),
      );
      const deleted = new Counter({
        name: "records_erasure_deleted_documents_total",
        help: "Documents that this instance deleted for erasures of accounts.",
        registers,
        collect: () => {
          deleted.reset();
          deleted.inc(erasures().deleted);
        },
      });
      asked(
        "records_switch_enabled",
        "1 while the operator's switch is on, else 0.",
        (self) => {
          for (const [name, on] of Object.entries(switches())) self.set({ switch: name }, bit(on));
        },
        ["switch"],
      );
    },
    text: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
