// The only reader of the environment: returns one frozen Config, or fails with one line that names the variable.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError } from "./config-error.ts";
import { isLocalName } from "./loopback.ts";
import type { MisspeltName } from "./misspelt-names.ts";
import { misspeltNames } from "./misspelt-names.ts";
import { parseInstant } from "../text/instant.ts";
import { parseRedisUrl } from "./redis-url.ts";
import { fileVariable, withSecretFiles } from "./secret-files.ts";
import { baseAddress, tracesAddress, webAddress } from "./url-setting.ts";

/** The configuration of one instance (contract §10). */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly internalPort: number;
  readonly internalHost: string;
  /** The public base URL, without a trailing slash. Unset: `http://localhost:` and the port of the listener. */
  readonly baseUrl: string | undefined;
  /** The URL of the MCP surface. Unset: `/mcp` under the base URL. */
  readonly mcpUrl: string | undefined;
  /** The audiences of access tokens that the MCP surface accepts. Empty: any audience. */
  readonly mcpAudiences: readonly string[];
  /** The scopes that the protected resource metadata names to assistants. Unset: those that every provider accepts. */
  readonly mcpScopes: readonly string[] | undefined;
  /** Unset: a mongod is embedded. */
  readonly mongodbUri: string | undefined;
  /** The maximum number of connections for requests to each MongoDB server. Unset: the URI's, or the driver's 100. */
  readonly mongodbMaxPool: number | undefined;
  /** Unset: a redis-server is embedded. */
  readonly redisUrl: string | undefined;
  /** The OpenID Connect provider. If neither it nor `mongodbUri` is set, the demo is on. */
  readonly oidc: OidcConfig | undefined;
  readonly dataDir: string;
  /** The folder for fetched programs; unset if the user has no home directory. */
  readonly cacheDir: string | undefined;
  /** The tokens of internal callers. Unset: one is generated and kept in `dataDir`. */
  readonly serviceTokens: readonly string[] | undefined;
  /**
   * The secrets that encrypt dashboard sessions, the same on all instances. Unset: one is generated and kept in
   * `dataDir`.
   */
  readonly sessionSecrets: readonly [newest: string, ...older: string[]] | undefined;
  /** The number of requests allowed per second. */
  readonly rateLimit: number;
  /** The number of requests allowed at once. */
  readonly rateBurst: number;
  /** The maximum number of public requests in progress; further ones are rejected (503). */
  readonly maxInFlight: number;
  /** The number of proxies in front of us that append to `X-Forwarded-For`. */
  readonly trustProxy: number;
  readonly documentProvider: string;
  /** The age in days at which an entry of the audit log is deleted; 0 means never. */
  readonly auditRetentionDays: number;
  readonly logLevel: LogLevel;
  readonly logAddresses: LogAddresses;
  readonly corsOrigins: readonly string[];
  /** Set when /v1 is retired (RFC 9745, RFC 8594). */
  readonly retirement: Retirement | undefined;
  /** The destination of spans. Unset: nothing is traced. */
  readonly tracing: TracingConfig | undefined;
  readonly misspelt: readonly MisspeltName[];
}

/** The OpenTelemetry collector, set by OpenTelemetry's own variables. */
export interface TracingConfig {
  /** The endpoint for OTLP over HTTP: the configured base, followed by `/v1/traces`. */
  readonly url: string;
  /** The headers of every export, which may include a collector's credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** The share of traces that is recorded, unless the caller's `traceparent` decides. */
  readonly ratio: number;
}

/** The identity provider, and our client credentials there. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The deprecation and the end of a retired version. */
export interface Retirement {
  readonly deprecatedAt: Date;
  readonly sunsetAt: Date;
}

export type LogLevel = (typeof logLevels)[number];

/** How the log shows client addresses. */
export type LogAddresses = (typeof logAddresses)[number];

/** Every level of the log from the quietest on, with `silent` last. */
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const logAddresses = ["full", "truncated", "none"] as const;

/** The settings that are or contain a secret. */
export const secretSettings: readonly string[] = [
  ...["MONGODB_URI", "REDIS_URL", "SERVICE_TOKENS", "SESSION_SECRET", "SESSION_SECRETS"],
  ...["OIDC_CLIENT_SECRET", "OTEL_EXPORTER_OTLP_HEADERS"],
];

/** Returns the environment for child processes, without our secrets and the variables that name their files. */
export function withoutSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = secretSettings.flatMap((name) => [name, fileVariable(name)]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ours.includes(name)));
}

/**
 * Reads the environment, and the files that it names for secrets (`SERVICE_TOKENS_FILE`). Throws ConfigError for the
 * first invalid value. An empty variable counts as unset.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const complete = withSecretFiles(environment, secretSettings, wrong);
  const names = new Set(secretSettings.flatMap((name) => [name, fileVariable(name)]));
  const env = (name: string): string | undefined => {
    names.add(name);
    return complete[name] || undefined;
  };
  const mongodbUri = mongodb(env("MONGODB_URI"));
  const oidcIssuer = issuer(webAddress("OIDC_ISSUER", env("OIDC_ISSUER")));
  const real = mongodbUri !== undefined || oidcIssuer !== undefined;
  const serviceTokens = list(env("SERVICE_TOKENS")).map(serviceToken);
  if (serviceTokens.length === 0 && real)
    wrong(
      "SERVICE_TOKENS",
      `is required when MONGODB_URI or OIDC_ISSUER is set: one or more, each a ${secretForm}, separated by commas`,
    );
  const sessionSecrets = readSessionSecrets(env("SESSION_SECRET"), env("SESSION_SECRETS"));
  if (sessionSecrets === undefined && real)
    wrong(
      "SESSION_SECRET",
      `is required when MONGODB_URI or OIDC_ISSUER is set: a ${secretForm}, the same on all instances`,
    );
  const rateLimit = integer("RATE_LIMIT", env("RATE_LIMIT"), 10, 1, 1_000_000);
  const documentProvider = env("DOC_PROVIDER") ?? "google";
  if (!/^[a-z][a-z0-9_]{0,30}$/.test(documentProvider)) wrong("DOC_PROVIDER", "must match ^[a-z][a-z0-9_]{0,30}$");
  return Object.freeze({
    port: integer("PORT", env("PORT"), 8080, 0, 65535),
    host: env("HOST") ?? "127.0.0.1",
    internalPort: integer("INTERNAL_PORT", env("INTERNAL_PORT"), 8081, 0, 65535),
    internalHost: env("INTERNAL_HOST") ?? "127.0.0.1",
    baseUrl: baseAddress("BASE_URL", env("BASE_URL")),
    mcpUrl: webAddress("MCP_URL", env("MCP_URL")),
    mcpAudiences: list(env("MCP_AUDIENCE")),
    mcpScopes: scopes(env("MCP_SCOPES")),
    mongodbUri,
    mongodbMaxPool:
      env("MONGODB_MAX_POOL") === undefined
        ? undefined
        : integer("MONGODB_MAX_POOL", env("MONGODB_MAX_POOL"), 100, 4, 10_000),
    redisUrl: redisUrl(env("REDIS_URL")),
    oidc: oidcIssuer === undefined ? undefined : { issuer: oidcIssuer, ...clientOf(env) },
    dataDir: resolve(env("DATA_DIR") ?? "data"),
    cacheDir: cacheFolder(env("XDG_CACHE_HOME")),
    serviceTokens: serviceTokens.length === 0 ? undefined : serviceTokens,
    sessionSecrets,
    rateLimit,
    rateBurst: integer("RATE_BURST", env("RATE_BURST"), 20, 1, 1_000_000),
    maxInFlight: integer("MAX_IN_FLIGHT", env("MAX_IN_FLIGHT"), 64, 1, 1_000_000),
    trustProxy: integer("TRUST_PROXY", env("TRUST_PROXY"), 0, 0, 100),
    documentProvider,
    auditRetentionDays: integer("AUDIT_RETENTION_DAYS", env("AUDIT_RETENTION_DAYS"), 400, 0, 20_000),
    logLevel: oneOf("LOG_LEVEL", env("LOG_LEVEL"), logLevels, "info"),
    logAddresses: oneOf("LOG_ADDRESSES", env("LOG_ADDRESSES"), logAddresses, "full"),
    corsOrigins: list(env("CORS_ORIGINS")).map((origin) => corsOrigin(origin)),
    retirement: retirement(env("V1_DEPRECATED_AT"), env("V1_SUNSET_AT")),
    tracing: tracing(
      tracesAddress("OTEL_EXPORTER_OTLP_ENDPOINT", env("OTEL_EXPORTER_OTLP_ENDPOINT")),
      env("OTEL_EXPORTER_OTLP_HEADERS"),
      env("OTEL_SERVICE_NAME"),
      env("OTEL_TRACES_SAMPLER_ARG"),
    ),
    // The last one: by now, `names` has every setting.
    misspelt: misspeltNames(complete, names),
  });
}

function cacheFolder(named: string | undefined): string | undefined {
  try {
    return join(named ?? join(homedir(), ".cache"), "records");
  } catch {
    // In many containers, the user has no entry in /etc/passwd.
    return undefined;
  }
}

function clientOf(env: (name: string) => string | undefined): Record<"clientId" | "clientSecret", string> {
  const required = (name: string): string =>
    env(name) ?? wrong(name, "is required when OIDC_ISSUER is set: the value from the identity provider");
  return { clientId: required("OIDC_CLIENT_ID"), clientSecret: required("OIDC_CLIENT_SECRET") };
}

/** What a caller can send as a token in a header. */
export const tokenForm = /^[\x21-\x7e]+$/;
const secretForm = "random secret of at least 32 characters";

/** Checks a secret. The message does not repeat it. */
function secret(name: string, value: string): string {
  if (value.length < 32) wrong(name, `must be a ${secretForm}`);
  // A secret from an example or of few characters was not generated at random.
  if (new Set(value).size < 8 || /^(change|replace|default|example|your)/i.test(value))
    wrong(name, `must be a ${secretForm}, not a placeholder`);
  return value;
}

/** Checks a service token, which callers must be able to send. The message does not repeat it. */
function serviceToken(value: string): string {
  if (!tokenForm.test(value))
    wrong("SERVICE_TOKENS", "must be printable ASCII without spaces; separate several tokens by commas");
  return secret("SERVICE_TOKENS", value);
}

/** Reads one secret from the first variable, or several from the second. */
function readSessionSecrets(one: string | undefined, several: string | undefined): Config["sessionSecrets"] {
  if (one !== undefined && several !== undefined)
    wrong("SESSION_SECRETS", "cannot be set together with SESSION_SECRET: set one of them");
  const [newest, ...older] =
    one === undefined
      ? list(several).map((value) => secret("SESSION_SECRETS", value))
      : [secret("SESSION_SECRET", one)];
  return newest === undefined ? undefined : [newest, ...older];
}

function wrong(name: string, message: string): never {
  throw new ConfigError(name, message);
}

function integer(name: string, value: string | undefined, fallback: number, min: number, max: number): number {
  if (value === undefined) return fallback;
  const number = /^(0|[1-9][0-9]*)$/.test(value) ? Number(value) : Number.NaN;
  return number >= min && number <= max
    ? number
    : wrong(name, `must be a whole number from ${min} to ${max}, not "${value}"`);
}

function oneOf<T extends string>(name: string, value: string | undefined, values: readonly T[], fallback: T): T {
  if (value === undefined) return fallback;
  return values.find((known) => known === value) ?? wrong(name, `must be one of ${values.join(", ")}, not "${value}"`);
}

/** Checks the scheme; the driver parses the rest. The message does not repeat the value: it may contain a password. */
function mongodb(value: string | undefined): string | undefined {
  if (value === undefined || /^mongodb(\+srv)?:\/\/./.test(value)) return value;
  return wrong("MONGODB_URI", "must be a URL that begins with mongodb:// or mongodb+srv://");
}

function redisUrl(value: string | undefined): string | undefined {
  if (value !== undefined) parseRedisUrl(value);
  return value;
}

/** Without TLS, anyone on the network could replace the provider's keys and tokens. */
function issuer(value: string | undefined): string | undefined {
  if (value === undefined || new URL(value).protocol === "https:" || isLocalName(new URL(value).hostname)) return value;
  return wrong(
    "OIDC_ISSUER",
    "must begin with https:// unless its host is this machine (localhost, *.localhost, 127.0.0.1 or [::1])",
  );
}

function corsOrigin(value: string): string {
  if (URL.canParse(value) && new URL(value).origin === value) return value;
  return wrong("CORS_ORIGINS", `"${value}" is not an origin such as https://app.example.com`);
}

/** Splits scopes as RFC 6749 §3.3 does, but rejects commas: they are more likely the separators of other settings. */
function scopes(value: string | undefined): string[] | undefined {
  const names = (value ?? "").split(" ").filter((name) => name !== "");
  const invalid = names.find((name) => !/^[!#-+\--[\]-~]+$/.test(name));
  if (invalid !== undefined)
    wrong("MCP_SCOPES", `"${invalid}" is not a scope: write scopes with blanks between them, such as email profile`);
  return names.length === 0 ? undefined : names;
}

function list(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function tracing(
  url: string | undefined,
  headers: string | undefined,
  serviceName = "records",
  ratio = "1",
): TracingConfig | undefined {
  if (!/^(0(\.[0-9]+)?|1(\.0+)?)$/.test(ratio))
    wrong("OTEL_TRACES_SAMPLER_ARG", `must be a number from 0 to 1, not "${ratio}"`);
  const sent = Object.fromEntries(list(headers).map(exportHeader));
  if (url === undefined) return undefined;
  return { url, headers: sent, serviceName, ratio: Number(ratio) };
}

/** Parses `name=value`, where the value is percent-encoded. The message does not repeat it: it may be a credential. */
function exportHeader(pair: string): [string, string] {
  const [, name = "", value = ""] =
    /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*((?:[\x21-\x7e][\x20-\x7e]*)?)$/.exec(pair) ??
    wrong("OTEL_EXPORTER_OTLP_HEADERS", "must be name=value pairs, separated by commas");
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    return wrong("OTEL_EXPORTER_OTLP_HEADERS", `the value of ${name} must be percent-encoded: write % as %25`);
  }
}

function retirement(deprecated: string | undefined, sunset: string | undefined): Retirement | undefined {
  if (deprecated === undefined && sunset === undefined) return undefined;
  if (deprecated === undefined) wrong("V1_DEPRECATED_AT", "is required when V1_SUNSET_AT is set");
  if (sunset === undefined) wrong("V1_SUNSET_AT", "is required when V1_DEPRECATED_AT is set");
  const deprecatedAt = instant("V1_DEPRECATED_AT", deprecated);
  const sunsetAt = instant("V1_SUNSET_AT", sunset);
  const earliest = new Date(deprecatedAt);
  earliest.setUTCMonth(earliest.getUTCMonth() + 6);
  // Six months after 31 August is the last day of February, and not a day in March.
  if (earliest.getUTCDate() !== deprecatedAt.getUTCDate()) earliest.setUTCDate(0);
  if (sunsetAt < earliest) wrong("V1_SUNSET_AT", "must be at least 6 months after V1_DEPRECATED_AT");
  return { deprecatedAt, sunsetAt };
}

function instant(name: string, value: string): Date {
  const found = /t/i.test(value) ? parseInstant(value) : undefined;
  return found === undefined
    ? wrong(name, `must be an RFC 3339 date-time such as 2026-01-31T00:00:00Z, not "${value}"`)
    : new Date(found.last);
}
