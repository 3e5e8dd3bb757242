// Where tests wait and measure, each with its reason: a new place is a decision.

/**
 * The files that wait until something is so, and how often. Each waits for what a server, another process or a task in
 * the background does by itself, of which no event comes; the runner's own time limit ends it.
 */
export const waits: readonly string[] = [
  "test/accounts/erasing.ts (1)",
  "test/accounts/erasure-lease.test.ts (1)",
  "test/accounts/erasure.test.ts (1)",
  "test/accounts/nothing-left.test.ts (2)",
  "test/audit/retention.test.ts (1)",
  "test/browser/dashboard-states.test.ts (2)",
  "test/browser/dashboard.test.ts (5)",
  "test/browser/reference.test.ts (1)",
  "test/cases/internal.test.ts (2)",
  "test/cli/import-continued.test.ts (3)",
  "test/client/retries.test.ts (3)",
  "test/cost/every-operation.test.ts (1)",
  "test/db/redis-groups.test.ts (7)",
  "test/db/redis.test.ts (2)",
  "test/db/undone.test.ts (5)",
  "test/db/write.test.ts (1)",
  "test/deploy/image.test.ts (1)",
  "test/deploy/proxy/caddy.test.ts (3)",
  "test/deploy/proxy/proxied.ts (3)",
  "test/embedded/life.test.ts (1)",
  "test/embedded/supervisor.test.ts (4)",
  "test/examples/curl.test.ts (1)",
  "test/faults/interrupted.test.ts (1)",
  "test/guards/credentials.test.ts (3)",
  "test/guards/public-policy-limits.test.ts (1)",
  "test/health/health.test.ts (3)",
  "test/http/large.test.ts (3)",
  "test/http/session-end.test.ts (2)",
  "test/http/slow.test.ts (2)",
  "test/http/surfaces.test.ts (1)",
  "test/idempotency/at-once.test.ts (1)",
  "test/idempotency/claims.test.ts (1)",
  "test/idempotency/erased.test.ts (3)",
  "test/idempotency/in-flight.test.ts (2)",
  "test/idempotency/redis-down.test.ts (1)",
  "test/idempotency/replay.test.ts (1)",
  "test/ingest/bulk.test.ts (3)",
  "test/ingest/streams-rejected.test.ts (1)",
  "test/mcp/oauth/checked-tokens.test.ts (1)",
  "test/mcp/oauth/keys.test.ts (1)",
  "test/mcp/oauth/server-document.test.ts (1)",
  "test/mcp/oauth/session-end.test.ts (1)",
  "test/mcp/tools/audit.test.ts (1)",
  "test/rpc/deadlines.test.ts (7)",
  "test/sign-in/provider-away.test.ts (1)",
  "test/sign-in/states.test.ts (1)",
];

const refills = "a bucket refills with the time that passed: the bound grows where a machine is slow";
const never = "a timer never fires early: slower machines take longer";
const apart = "the instants are minutes apart, and tell which of two rules set them";

/** The comparisons with a clock, and why each is true on any machine that runs the suite. */
export const times: readonly (readonly [comparison: string, why: string])[] = [
  ["test/drills/network.test.ts: greater (1)", never],
  ["test/embedded/fetch.test.ts: less (1)", "the download ends at the limit that was given, and not at the usual one"],
  ["test/embedded/servers.test.ts: less (1)", "a start with data waits for no election, which takes 10 s"],
  ["test/embedded/supervisor.test.ts: greater (1)", never],
  ["test/guards/bucket.test.ts: less (1)", refills],
  ["test/guards/dashboard.test.ts: less (1)", refills],
  ["test/guards/documents.test.ts: less (1)", refills],
  ["test/guards/limits.test.ts: less (1)", refills],
  ["test/guards/look-ups.test.ts: less (2)", refills],
  ["test/guards/redis-away.test.ts: less (1)", refills],
  ["test/guards/throttle.test.ts: greater (1)", "what is due grows with the time that passed, with a fifth to spare"],
  ["test/guards/throttle.test.ts: less (2)", refills],
  ["test/http/stalled.test.ts: greater (1)", "the reader pauses longer than may be read nothing, by its own timers"],
  ["test/idempotency/expiry.test.ts: less (1)", apart],
  [
    "test/mcp/oauth/throttle.test.ts: greater (1)",
    "a bucket refills with the time that passed: the least wait falls where a machine is slow",
  ],
  ["test/mcp/oauth/throttle.test.ts: less (2)", refills],
  ["test/search/size.test.ts: less (2)", "linear time is a twentieth of the bound, and quadratic time is seconds"],
  ["test/sign-in/back-channel.test.ts: greater (1)", apart],
  ["test/sign-in/back-channel.test.ts: less (1)", apart],
  ["test/sign-in/states.test.ts: greater (1)", apart],
];
