// Checks the settings against the contract's table: defaults, what is taken, and what stops the start with one line.
import { syncBuiltinESMExports } from "node:module";
import os, { homedir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { rejection } from "../support/rejected-settings.ts";

const token = "a-service-token-of-32-characters-or-more";
const secret = "a-session-secret-of-32-characters-or-more";
const secrets = { SERVICE_TOKENS: token, SESSION_SECRET: secret };
const mongodb = { MONGODB_URI: "mongodb://db.example/records", ...secrets };
const oidc = {
  OIDC_ISSUER: "https://id.example.com",
  OIDC_CLIENT_ID: "records",
  OIDC_CLIENT_SECRET: "of-the-client",
  ...secrets,
};

test("without any setting the contract's defaults apply: 8080 and 8081 on loopback, info, 10 a second, 20 at once, no proxy, google [OPS-11, OPS-12, RTE-15, RTE-12]", () => {
  expect(readConfig({})).toEqual({
    port: 8080,
    host: "127.0.0.1",
    internalPort: 8081,
    internalHost: "127.0.0.1",
    baseUrl: undefined,
    mcpUrl: undefined,
    mcpAudiences: [],
    mcpScopes: undefined,
    mongodbUri: undefined,
    mongodbMaxPool: undefined,
    redisUrl: undefined,
    oidc: undefined,
    dataDir: resolve("data"),
    cacheDir: join(homedir(), ".cache", "records"),
    serviceTokens: undefined,
    sessionSecrets: undefined,
    rateLimit: 10,
    rateBurst: 20,
    maxInFlight: 64,
    trustProxy: 0,
    documentProvider: "google",
    auditRetentionDays: 400,
    logLevel: "info",
    logAddresses: "full",
    corsOrigins: [],
    retirement: undefined,
    misspelt: [],
  });
});

test("a user without a home directory has no cache folder unless it is set, and can configure what needs none [OPS-11]", () => {
  vi.spyOn(os, "homedir").mockImplementation(() => {
    throw new Error("A system error occurred: uv_os_homedir returned ENOENT");
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  expect(readConfig(mongodb).cacheDir).toBeUndefined();
  expect(readConfig({ XDG_CACHE_HOME: "/var/cache" }).cacheDir).toBe("/var/cache/records");
});

test("reads every variable as it is set [OPS-11, OPS-12, OPS-13]", () => {
  const config = readConfig({
    ...mongodb,
    PORT: "0",
    HOST: "0.0.0.0",
    INTERNAL_PORT: "65535",
    INTERNAL_HOST: "::1",
    BASE_URL: "https://api.example.com/",
    REDIS_URL: "rediss://:secret@cache.example:6380/1",
    MCP_URL: "https://mcp.example.com/mcp",
    MCP_AUDIENCE: "https://mcp.example.com/mcp, other",
    MCP_SCOPES: " openid  api://records/read ",
    ...oidc,
    DATA_DIR: "/var/lib/records",
    SERVICE_TOKENS: `${token}, ${token}2,`,
    RATE_LIMIT: "7",
    RATE_BURST: "3",
    MAX_IN_FLIGHT: "50",
    MONGODB_MAX_POOL: "40",
    AUDIT_RETENTION_DAYS: "30",
    TRUST_PROXY: "2",
    DOC_PROVIDER: "acme_docs2",
    LOG_LEVEL: "silent",
    LOG_ADDRESSES: "truncated",
    CORS_ORIGINS: "https://a.example, http://localhost:3000",
    V1_DEPRECATED_AT: "2026-01-31T00:00:00Z",
    V1_SUNSET_AT: "2026-07-31T02:00:00+02:00",
    XDG_CACHE_HOME: "/var/cache",
  });
  expect(config).toEqual({
    port: 0,
    host: "0.0.0.0",
    internalPort: 65535,
    internalHost: "::1",
    baseUrl: "https://api.example.com",
    mcpUrl: "https://mcp.example.com/mcp",
    mcpAudiences: ["https://mcp.example.com/mcp", "other"],
    mcpScopes: ["openid", "api://records/read"],
    mongodbUri: "mongodb://db.example/records",
    mongodbMaxPool: 40,
    redisUrl: "rediss://:secret@cache.example:6380/1",
    oidc: { issuer: "https://id.example.com", clientId: "records", clientSecret: "of-the-client" },
    dataDir: "/var/lib/records",
    cacheDir: "/var/cache/records",
    serviceTokens: [token, `${token}2`],
    sessionSecrets: [secret],
    rateLimit: 7,
    rateBurst: 3,
    maxInFlight: 50,
    trustProxy: 2,
    documentProvider: "acme_docs2",
    auditRetentionDays: 30,
    logLevel: "silent",
    logAddresses: "truncated",
    corsOrigins: ["https://a.example", "http://localhost:3000"],
    retirement: { deprecatedAt: new Date("2026-01-31T00:00:00Z"), sunsetAt: new Date("2026-07-31T00:00:00Z") },
    misspelt: [],
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test.each([
  ["MONGO_URL", "MONGODB_URI"],
  ["REDIS_URI", "REDIS_URL"],
  ["SERVICE_TOKEN_FILE", "SERVICE_TOKENS_FILE"],
  ["RATE_LIMITS", "RATE_LIMIT"],
  ["CORS_ORGINS", "CORS_ORIGINS"],
  ["log_level", "LOG_LEVEL"],
])("%s is found to be a misspelt %s [OPS-11]", (variable, meant) => {
  expect(readConfig({ [variable]: "x" }).misspelt).toEqual([{ variable, meant }]);
});

test("variables of the system, of Kubernetes and beside the right one are not found to be misspelt settings [OPS-11]", () => {
  const names = ["HOSTNAME", "HOME", "MONGODB_PORT", "MONGODB_SERVICE_HOST", "REDIS_PORT", "XDG_DATA_HOME", "SITE_URL"];
  expect(readConfig(Object.fromEntries(names.map((name) => [name, "x"]))).misspelt).toEqual([]);
  expect(readConfig({ ...mongodb, MONGO_URL: "x", RATE_LIMIT: "5", RATE_LIMITS: "6" }).misspelt).toEqual([]);
});

test("an empty variable counts as unset [OPS-11]", () => {
  const empty = Object.fromEntries(
    ["PORT", "HOST", "MONGODB_URI", "REDIS_URL", "SERVICE_TOKENS", "LOG_LEVEL", "V1_SUNSET_AT", "BASE_URL"].map(
      (name) => [name, ""],
    ),
  );
  expect(readConfig(empty)).toEqual(readConfig({}));
});

const deprecated = "2026-01-31T00:00:00Z";

test.each([
  ["PORT", "http", {}],
  ["PORT", "-1", {}],
  ["PORT", "65536", {}],
  ["PORT", "080", {}],
  ["PORT", "8080.0", {}],
  ["PORT", " 8080", {}],
  ["INTERNAL_PORT", "1e3", {}],
  ["RATE_LIMIT", "0", {}],
  ["RATE_LIMIT", "ten", {}],
  ["RATE_LIMIT", "1000001", {}],
  ["RATE_BURST", "0", {}],
  ["RATE_BURST", "0x14", {}],
  ["MAX_IN_FLIGHT", "0", {}],
  ["MAX_IN_FLIGHT", "many", {}],
  ["MONGODB_MAX_POOL", "3", {}],
  ["MONGODB_MAX_POOL", "all", {}],
  ["MONGODB_MAX_POOL", "10001", {}],
  ["AUDIT_RETENTION_DAYS", "-1", {}],
  ["AUDIT_RETENTION_DAYS", "a year", {}],
  ["AUDIT_RETENTION_DAYS", "20001", {}],
  ["TRUST_PROXY", "true", {}],
  ["TRUST_PROXY", "-1", {}],
  ["TRUST_PROXY", "101", {}],
  ["BASE_URL", "api.example.com", {}],
  ["BASE_URL", "ftp://api.example.com", {}],
  ["BASE_URL", "https://", {}],
  ["MONGODB_URI", "localhost:27017", secrets],
  ["MONGODB_URI", "https://db.example", secrets],
  ["MONGODB_URI", "mongodb://", secrets],
  ["MONGODB_URI", "mongodb:db.example/records", secrets],
  ["REDIS_URL", "cache.example:6379", {}],
  ["REDIS_URL", "http://cache.example", {}],
  ["OIDC_ISSUER", "id.example.com", secrets],
  ["OIDC_ISSUER", "ftp://id.example.com", secrets],
  ["DOC_PROVIDER", "Google", {}],
  ["DOC_PROVIDER", "1docs", {}],
  ["DOC_PROVIDER", "a-b", {}],
  ["DOC_PROVIDER", `a${"b".repeat(31)}`, {}],
  ["LOG_LEVEL", "verbose", {}],
  ["LOG_LEVEL", "INFO", {}],
  ["LOG_ADDRESSES", "short", {}],
  ["CORS_ORIGINS", "*", {}],
  ["CORS_ORIGINS", "app.example.com", {}],
  ["CORS_ORIGINS", "https://app.example.com/", {}],
  ["CORS_ORIGINS", "https://good.example,https://bad.example/path", {}],
  ["CORS_ORIGINS", "null", {}],
  ["SERVICE_TOKENS", "too-short", {}],
  ["SERVICE_TOKENS", `${token},short`, {}],
  ["SERVICE_TOKENS", `${token} ${token}2`, {}],
  ["SERVICE_TOKENS", `${token}\n${token}2`, {}],
  ["SERVICE_TOKENS", "change-me-change-me-change-me-change-me", {}],
  ["SERVICE_TOKENS", "x".repeat(64), {}],
  ["SESSION_SECRET", "too-short", {}],
  ["SESSION_SECRET", "Replace this with 32 random characters", {}],
  ["SESSION_SECRET", "abcabcabcabcabcabcabcabcabcabcabcabc", {}],
  ["MCP_URL", "mcp.example.com", {}],
  ["MCP_SCOPES", "email,profile", {}],
  ["MCP_SCOPES", 'email a"b', {}],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key", {}],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=100%", {}],
  ["V1_DEPRECATED_AT", "yesterday", { V1_SUNSET_AT: "2026-12-31T00:00:00Z" }],
  ["V1_DEPRECATED_AT", "2026-01-31", { V1_SUNSET_AT: "2026-12-31T00:00:00Z" }],
  ["V1_DEPRECATED_AT", "2026-01-31T00:00:00", { V1_SUNSET_AT: "2026-12-31T00:00:00Z" }],
  ["V1_DEPRECATED_AT", "2026-02-30T00:00:00Z", { V1_SUNSET_AT: "2026-12-31T00:00:00Z" }],
  ["V1_SUNSET_AT", "1801526400", { V1_DEPRECATED_AT: deprecated }],
] as const)("%s=%s stops the start with one line that names the variable [OPS-14]", (name, value, others) => {
  expectRejected(name, { ...others, [name]: value });
});

test.each([
  "http://id.example.com",
  "http://10.0.0.7:8080/realms/records",
  "http://localhost.example.com",
  "http://keycloak:8080",
  "http://127.0.0.1.example.com",
])("rejects the issuer %s by its name: http is accepted for loopback only [OPS-22]", (issuer) => {
  expectRejected("OIDC_ISSUER", { ...oidc, OIDC_ISSUER: issuer });
});

test.each([
  "https://id.example.com",
  "http://localhost:8082",
  "http://id.localhost:8082/realms/records",
  "http://127.0.0.1:9",
  "http://[::1]:9",
])("accepts the issuer %s [OPS-22]", (issuer) => {
  expect(readConfig({ ...oidc, OIDC_ISSUER: issuer }).oidc?.issuer).toBe(issuer);
});

test.each([
  ["V1_SUNSET_AT", { V1_DEPRECATED_AT: deprecated }],
  ["V1_DEPRECATED_AT", { V1_SUNSET_AT: "2026-12-31T00:00:00Z" }],
  ["V1_SUNSET_AT", { V1_DEPRECATED_AT: deprecated, V1_SUNSET_AT: "2026-07-30T23:59:59Z" }],
  ["V1_SUNSET_AT", { V1_DEPRECATED_AT: deprecated, V1_SUNSET_AT: "2026-01-31T00:00:00Z" }],
  ["V1_SUNSET_AT", { V1_DEPRECATED_AT: deprecated, V1_SUNSET_AT: "2025-12-31T00:00:00Z" }],
] as const)(
  "rejects a retirement without its other half, or shorter than 6 months, by the name of %s: %j [VER-04, OPS-14]",
  (name, environment) => {
    expectRejected(name, environment);
  },
);

test.each([
  ["2026-01-31T00:00:00Z", "2026-07-31T00:00:00Z"],
  ["2026-02-28T12:00:00+01:00", "2026-08-28T11:00:00Z"],
  ["2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"],
  ["2026-08-31T00:00:00Z", "2027-02-28T00:00:00Z"],
])("accepts a retirement from %s to %s: 6 months or more [VER-04]", (from, to) => {
  expect(readConfig({ V1_DEPRECATED_AT: from, V1_SUNSET_AT: to }).retirement).toEqual({
    deprecatedAt: new Date(from),
    sunsetAt: new Date(to),
  });
});

test.each([[{ MONGODB_URI: "mongodb://db.example/records" }], [{ OIDC_ISSUER: "https://id.example.com" }]])(
  "with %j the service tokens are required, and the error names them [OPS-13, OPS-14]",
  (environment) => {
    expectRejected("SERVICE_TOKENS", environment);
  },
);

test.each([
  ["SESSION_SECRET", { MONGODB_URI: "mongodb://db.example/records", SERVICE_TOKENS: token }],
  ["SESSION_SECRET", { OIDC_ISSUER: "https://id.example.com", SERVICE_TOKENS: token }],
  ["OIDC_CLIENT_ID", { ...oidc, OIDC_CLIENT_ID: "" }],
  ["OIDC_CLIENT_SECRET", { ...oidc, OIDC_CLIENT_SECRET: "" }],
])("rejects a production start without %s, by its name [OPS-13, OPS-14]", (name, environment) => {
  expectRejected(name, environment);
});

test("an error never repeats a URI, which may contain a password [OPS-14]", () => {
  for (const name of ["MONGODB_URI", "REDIS_URL", "BASE_URL"]) {
    expect(rejection({ ...mongodb, [name]: "x://user:hunter2@db.example" })).not.toContain("hunter2");
  }
  for (const name of ["SERVICE_TOKENS", "SESSION_SECRET"])
    expect(rejection({ ...mongodb, [name]: "hunter2" })).not.toContain("hunter2");
});

function expectRejected(name: string, environment: NodeJS.ProcessEnv): void {
  const message = rejection(environment);
  expect(message.startsWith(`${name}: `), message).toBe(true);
  expect(message).not.toContain("\n");
}
