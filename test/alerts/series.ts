// Time series of a healthy installation of Records, one sample a minute, in the notation of promtool.

/** A series without its job → its values. */
export type Series = Readonly<Record<string, string>>;

type Span = readonly [value: number, minutes: number];

/** A gauge: each value for so many minutes. The last value stays until the end of the test. */
export function gauge(...spans: readonly Span[]): string {
  return spans.map(([value, minutes]) => `${value}x${minutes - 1}`).join(" ");
}

/** A counter: each increase per minute for so many minutes. */
export function counter(...spans: readonly Span[]): string {
  let total = 0;
  return spans
    .map(([rate, minutes]) => {
      const from = total;
      total += rate * minutes;
      return `${from}+${rate}x${minutes - 1}`;
    })
    .join(" ");
}

/** No sample for so many minutes: the series does not exist. */
export function missing(minutes: number): string {
  return `_x${minutes}`;
}

/** Ends a series, as when Prometheus no longer finds its target. */
export const stale = "stale";

/** Longer than every test. */
export const always = 1_000;

const requests = { listener: "public", wire: "rest" };
export const reads = { ...requests, method: "GET", route: "/v1/contacts" };
/** Reads that are no GETs. */
export const rpcReads = {
  ...requests,
  wire: "grpc",
  method: "POST",
  route: "/records.v1.ContactService/SearchContacts",
};
export const writes = { ...requests, method: "POST", route: "/v1/contacts" };

/** The name of a series: the metric and its labels. */
export function named(metric: string, labels: Readonly<Record<string, string>>): string {
  return `${metric}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(", ")}}`;
}

export function both(metric: string, labels: Readonly<Record<string, string>>, values: string): Series {
  return Object.fromEntries(["a", "b"].map((instance) => [named(metric, { instance, ...labels }), values]));
}

/** Requests of both instances with one status, by the minute. */
export function requested(labels: Readonly<Record<string, string>>, status: string, ...spans: readonly Span[]): Series {
  return both("records_requests_total", { ...labels, status }, counter(...spans));
}

/** The bounds of the histogram that the tests use. */
const bounds = ["0.1", "0.5", "1", "2.5", "5", "+Inf"];

/** The histogram of requests: the share of each minute's `count` that took up to each bound. */
export function took(
  labels: Readonly<Record<string, string>>,
  status: string,
  count: number,
  shares: Readonly<Record<string, number>>,
): Series {
  let share = 0;
  const buckets = bounds.map((le) => {
    share = le === "+Inf" ? 1 : (shares[le] ?? share);
    return both("records_request_duration_seconds_bucket", { ...labels, status, le }, counter([count * share, always]));
  });
  return Object.assign(
    {},
    ...buckets,
    both("records_request_duration_seconds_count", { ...labels, status }, counter([count, always])),
  ) as Series;
}

/** Gauges and counters of one instance without labels of their own, with the values of normal operation. */
const plain: Readonly<Record<string, string>> = {
  up: gauge([1, always]),
  records_ready: gauge([1, always]),
  records_mongodb_up: gauge([1, always]),
  records_primary_lease: gauge([1, always]),
  records_redis_up: gauge([1, always]),
  records_mongodb_pool_wait_seconds_total: counter([0, always]),
  records_work_in_flight_limit: gauge([64, always]),
  records_overloaded_total: counter([0, always]),
  records_throttle_fallback_total: counter([0, always]),
  records_identity_provider_failures_total: counter([0, always]),
  records_erasures_running: gauge([0, always]),
  records_erasure_deleted_documents_total: counter([0, always]),
  process_start_time_seconds: gauge([1, always]),
  process_resident_memory_bytes: gauge([200 * 2 ** 20, always]),
  nodejs_eventloop_lag_p99_seconds: gauge([0.02, always]),
};

/** Two instances, a and b, in normal operation: 600 reads and 120 writes a minute each. */
export const healthy: Series = Object.assign(
  {},
  ...Object.entries(plain).map(([metric, values]) => both(metric, {}, values)),
  ...["public_interface", "writes"].map((name) => both("records_switch_enabled", { switch: name }, gauge([1, always]))),
  requested(reads, "200", [600, always]),
  requested(writes, "201", [120, always]),
  requested({ ...reads, route: "/v1/health" }, "200", [60, always]),
  took(reads, "200", 600, { "0.1": 0.99, "1": 1 }),
  took(writes, "201", 120, { "0.1": 0.95, "1": 1 }),
  both("records_throttled_total", { listener: "public", wire: "rest" }, counter([6, always])),
  ...["aggregate", "insert", "hello"].map((command) =>
    both("records_mongodb_commands_total", { command, outcome: "ok" }, counter([600, always])),
  ),
  both("records_work_in_flight", { credential: "verified" }, gauge([4, always])),
  both("records_work_in_flight", { credential: "unverified" }, gauge([1, always])),
  both("records_imports_total", { outcome: "ok" }, counter([1, always])),
) as Series;
