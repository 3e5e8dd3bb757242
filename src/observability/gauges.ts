// Gauges whose values are read at each scrape, among them those of the instance's state.
import type { Registry } from "prom-client";
import { Counter, Gauge } from "prom-client";
import type { PoolState } from "../db/pool.ts";
import type { CapacityState } from "../guards/capacity.ts";

/** The versions of an instance and its state, read at each scrape. */
export interface InstanceState {
  /** The release, and the version of the interface description. */
  readonly version: string;
  readonly interfaceVersion: string;
  ready(): boolean;
  /** Whether this process can open files and connections. */
  openFilesLeft(): boolean;
  mongodbUp(): boolean;
  /** Whether requests get connections to MongoDB. */
  acceptsConnections(): boolean;
  /** Whether the lease on MongoDB's primary is held, and when this state began, in milliseconds since 1970. */
  lease(): { readonly held: boolean; readonly since: number };
  /** The switches by their public names; true if on. */
  switches(): Readonly<Record<string, boolean>>;
  /** The number of callers' buckets in this instance's memory. */
  fallbackBuckets(): number;
  /** The connection pool of MongoDB. */
  pool(): PoolState;
  /** The public requests in progress, and those waiting for a slot. */
  work(): CapacityState;
  /** The numbers of unfinished erasures of accounts, and of documents that this instance has deleted for erasures. */
  erasures(): { readonly running: number; readonly deleted: number };
}

/**
 * A gauge and the function that reads its value. With a label, the function returns a value for each value of the
 * label.
 */
type ReadGauge<Source> = readonly [
  name: string,
  help: string,
  read: (source: Source) => number | boolean | Readonly<Record<string, number | boolean>>,
  label?: string,
];

/** Registers a gauge whose value is read from `source` at each scrape. */
export function addGauge<Source>(registry: Registry, gauge: ReadGauge<Source>, source: Source): void {
  const [name, help, read, label] = gauge;
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      const found = read(source);
      if (typeof found !== "object") this.set(Number(found));
      else for (const [key, value] of Object.entries(found)) this.set({ [label ?? ""]: key }, Number(value));
    },
  });
}

const instanceGauges: readonly ReadGauge<InstanceState>[] = [
  ["records_ready", "1 while this instance takes requests, else 0.", ({ ready }) => ready()],
  [
    "records_open_files_left",
    "1 while this process can open files and connections, 0 while it has reached its limit of open files.",
    ({ openFilesLeft }) => openFilesLeft(),
  ],
  [
    "records_mongodb_up",
    "1 while MongoDB responds, its primary is confirmed and requests get connections, else 0.",
    ({ mongodbUp }) => mongodbUp(),
  ],
  [
    "records_mongodb_accepts_connections",
    "1 while this instance can open connections to MongoDB, else 0. The password may have been changed.",
    ({ acceptsConnections }) => acceptsConnections(),
  ],
  [
    "records_primary_lease",
    "1 while the primary of MongoDB is confirmed, else 0. Requests that need the primary then get 503.",
    ({ lease }) => lease().held,
  ],
  [
    "records_primary_lease_changed_timestamp_seconds",
    "When the lease on the primary was last gained or lost, in seconds since 1970.",
    ({ lease }) => lease().since / 1_000,
  ],
  [
    "records_throttle_fallback_buckets",
    "Clients with a bucket in this instance's memory. Requests remove expired buckets.",
    ({ fallbackBuckets }) => fallbackBuckets(),
  ],
  [
    "records_mongodb_pool_connections",
    "Open connections to MongoDB, by whether a command uses them.",
    ({ pool }) => ({ in_use: pool().inUse, available: pool().available }),
    "state",
  ],
  [
    "records_work_in_flight",
    "Public requests in progress, by whether their credential is known to be valid.",
    ({ work }) => work().working,
    "credential",
  ],
  [
    "records_work_in_flight_limit",
    "The limit of public requests in progress (MAX_IN_FLIGHT).",
    ({ work }) => work().slots,
  ],
  ["records_work_waiting", "Public requests that wait for a slot.", ({ work }) => work().waiting],
  [
    "records_erasures_running",
    "Unfinished erasures of accounts, when this instance last read them from MongoDB.",
    ({ erasures }) => erasures().running,
  ],
  ["records_switch_enabled", "1 while the operator's switch is on, else 0.", ({ switches }) => switches(), "switch"],
];

/** Registers the metrics that show the state of the instance. */
export function showInstance(registry: Registry, state: InstanceState): void {
  const { version, interfaceVersion: interface_version, erasures, pool } = state;
  const registers = [registry];
  const labels = { version, interface_version, node_version: process.version };
  const help = "Always 1. Its labels show the versions that run.";
  new Gauge({ name: "records_build_info", help, labelNames: Object.keys(labels), registers }).set(labels, 1);
  for (const gauge of instanceGauges) addGauge(registry, gauge, state);
  new Counter({
    name: "records_mongodb_pool_wait_seconds_total",
    help: "How long all commands together have waited for a connection to MongoDB.",
    registers,
    collect() {
      this.reset();
      this.inc(pool().waitedMs / 1_000);
    },
  });
  new Counter({
    name: "records_erasure_deleted_documents_total",
    help: "Documents that this instance deleted to erase accounts.",
    registers,
    collect() {
      this.reset();
      this.inc(erasures().deleted);
    },
  });
}
