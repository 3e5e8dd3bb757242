// Mutation groups: files that are mutated together, and the tests that must detect the mutants.

/**
 * Files that are mutated in one run, and the tests that run against each mutant. Paths are relative to the repository.
 */
export interface Group {
  readonly name: string;
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /** Whether the tests need the mongod of a test run. */
  readonly mongod?: boolean;
}

const gateway = (...names: string[]): string[] => names.map((name) => `gateway/${name}.ts`);
const http = (...names: string[]): string[] => names.map((name) => `src/http/${name}.ts`);
const guards = (...names: string[]): string[] => names.map((name) => `src/guards/${name}.ts`);
const tests = (folder: string, ...names: string[]): string[] => names.map((name) => `test/${folder}/${name}.test.ts`);

/** The groups, each with the most specific tests for its files. */
export const groups: readonly Group[] = [
  {
    name: "validation",
    mutate: guards("list-limits", "validate", "mask", "per-message", "representable"),
    tests: tests("guards", "validation", "long-lists", "representable"),
  },
  {
    name: "access policies",
    mutate: [
      "src/call/scope.ts",
      ...guards(
        "assistant",
        "authenticate",
        "call",
        "chain",
        "access-policies",
        "internal",
        "session",
        "stream",
        "switches",
      ),
    ],
    tests: [
      ...tests("call", "scope"),
      ...tests(
        "guards",
        "public-policy",
        "public-policy-limits",
        "session-policy",
        "other-policies",
        "assistant",
        "call",
        "stale-switches",
        "stale-switches-assistant",
        "overload",
        ...["order", "order-unreadable", "keys", "paused-writes"],
      ),
      ...tests("api-keys", "access"),
      ...tests("ingest", "streams-rejected"),
      ...tests("mcp", "oauth/challenge", "oauth/known-token"),
    ],
    mongod: true,
  },
  {
    name: "admission",
    mutate: [
      "src/call/deadline.ts",
      "src/call/shared-total.ts",
      ...guards("capacity", "limits", "shedding", "throttle"),
    ],
    tests: [
      ...tests("call", "deadline", "shared-total"),
      ...tests("guards", "deadline", "capacity-slots", "limits", "overload", "public-policy", "public-policy-limits"),
      ...tests("guards", "capacity", "documents", "look-ups", "redis-unavailable"),
    ],
    mongod: true,
  },
  {
    name: "messages",
    mutate: [
      "src/rpc/connect.ts",
      "src/rpc/plain-grpc.ts",
      "src/rpc/unary.ts",
      "src/rpc/json-flaws.ts",
      ...http("json-undecoded"),
    ],
    tests: tests("rpc", "unreadable", "compressed", "message-size"),
    mongod: true,
  },
  {
    name: "request",
    mutate: [...gateway("request"), ...http("body", "collect", "continue", "integer-bounds", "unknown-names")],
    tests: [
      ...tests("gateway", "parameters", "body"),
      ...tests("http", "receive", "collect"),
      ...tests("cases", "bodies", "parameters"),
    ],
    mongod: true,
  },
  {
    name: "parameters",
    mutate: http("query", "percent", "scalar", "echoed-name"),
    tests: [...tests("gateway", "parameters"), ...tests("http", "query", "percent"), ...tests("cases", "parameters")],
    mongod: true,
  },
  {
    name: "router",
    mutate: gateway("router", "path-template"),
    tests: [...tests("gateway", "router", "path-template"), ...tests("cases", "envelope"), ...tests("http", "headers")],
    mongod: true,
  },
  { name: "gzip", mutate: http("gzip"), tests: tests("http", "gzip") },
  {
    name: "documents",
    mutate: [
      ...gateway("openapi", "openapi-template"),
      ...http("openapi-settings", "provider-mark"),
      ...["src/mcp/tool-schema.ts", "src/mcp/arguments.ts"],
    ],
    tests: [...tests("gateway", "openapi", "tools"), ...tests("mcp", "tools/lenient")],
    mongod: true,
  },
  {
    name: "responses",
    mutate: [...gateway("handler"), ...http("response", "linger", "node-http", "route")],
    tests: [
      ...tests("gateway", "linger", "large-responses", "handler", "connection"),
      ...tests("http", "headers", "large", "stalled"),
      ...tests("cases", "form"),
    ],
    mongod: true,
  },
  {
    name: "json",
    mutate: http("json", "enum-names", "timestamps"),
    tests: tests("http", "json", "enum-names", "timestamps"),
  },
  {
    name: "credentials",
    mutate: ["src/config/address.ts", ...guards("credentials", "logout", "unidentified-body")],
    tests: [...tests("guards", "credentials", "addresses", "logout", "throttle"), ...tests("sign-in", "back-channel")],
    mongod: true,
  },
  {
    name: "buckets",
    mutate: guards("bucket", "known-buckets", "shared-bucket"),
    tests: tests("guards", "bucket", "known-buckets"),
  },
  {
    name: "commit",
    mutate: ["src/db/write.ts", "src/db/insert.ts", "src/db/conflicts.ts"],
    tests: [
      ...tests("db", "write", "insert", "conflicts", "failed-writes", "late-writes"),
      ...tests("faults", "interrupted"),
    ],
    mongod: true,
  },
  {
    name: "idempotency",
    mutate: guards("erased-marks", "erased-responses", "idempotency", "reservations"),
    tests: tests(
      "idempotency",
      "claims",
      "keys",
      "marked-again",
      "erased",
      "expiry",
      "in-flight",
      "replay",
      "reservations",
    ),
    mongod: true,
  },
];
