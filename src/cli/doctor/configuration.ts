// Checks the configuration: every invalid variable, and valid values that are probably mistakes.
import type { Config } from "../../config/config.ts";
import { isLoopback } from "../../config/loopback.ts";
import { isLow, openFilesLimit, raiseLimit } from "../../process/open-files.ts";
import type { Finding, Verdict } from "./check.ts";
import { fault, note, ok, warning } from "./check.ts";
import type { DoctorContext } from "./doctor-context.ts";

const oldestNode: readonly [number, number] = [20, 19];

/**
 * Returns findings on Node's version, each invalid variable and each piece of advice. If all variables are valid, one
 * finding says so.
 */
export function checkConfiguration({ config, wrong, unusable, now }: DoctorContext): Finding[] {
  const faults = [...wrong].map(([name, message]) => ({
    check: `configuration.${name}`,
    ...fault(
      `${name} ${message}.`,
      /^is required/.test(message) ? `Set ${name}.` : `Correct ${name}, or remove it if it is optional.`,
    ),
  }));
  const all =
    faults.length > 0 ? [] : [{ check: "configuration.settings", ...ok("Every variable has a valid value.") }];
  return [
    { check: "configuration.node", ...nodeVersion(process.versions.node) },
    { check: "configuration.open_files", ...openFiles(openFilesLimit()) },
    ...all,
    ...faults,
    ...[...advice(config, now())].flatMap(([name, verdict]) =>
      unusable(name) ? [] : [{ check: `configuration.${name}`, ...verdict }],
    ),
  ];
}

function nodeVersion(version: string): Verdict {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return ok(`Node ${version}.`);
  return fault(`Node ${version} is too old.`, `Install Node ${oldestNode.join(".")} or later.`);
}

function openFiles(limit: number | undefined): Verdict {
  if (isLow(limit))
    return warning(`The limit of open files is ${limit}: connections beyond it are closed.`, raiseLimit);
  return ok(limit === undefined ? "Open files have no limit." : `The limit of open files is ${limit}.`);
}

/** Advice on a variable. */
type Advice = readonly [variable: string, verdict: Verdict];

const warn = (variable: string, message: string, fix: string): Advice => [variable, warning(message, fix)];

/** Yields advice that follows from the settings alone. */
function* advice(config: Config, now: number): Iterable<Advice> {
  yield* onAddresses(config);
  yield* onDependencies(config);
  for (const { variable, meant } of config.misspelt)
    yield warn(variable, `${variable} is not a setting and has no effect.`, `If you meant ${meant}, rename it.`);
  const { serviceTokens, sessionSecrets, retirement } = config;
  if (sessionSecrets?.some((secret) => serviceTokens?.includes(secret)) === true)
    yield warn(
      "SESSION_SECRET",
      "SESSION_SECRET is also in SERVICE_TOKENS: clients of the internal listener could forge sessions.",
      "Generate another one: openssl rand -base64 32.",
    );
  if (retirement !== undefined && retirement.sunsetAt.getTime() < now)
    yield warn(
      "V1_SUNSET_AT",
      `V1_SUNSET_AT ${retirement.sunsetAt.toISOString()} is in the past, but /v1 is still served.`,
      "Set a later date, or switch the interface off.",
    );
}

function* onAddresses({ baseUrl, host, internalHost, trustProxy, mcpUrl }: Config): Iterable<Advice> {
  const base = baseUrl === undefined ? undefined : new URL(baseUrl);
  if (base === undefined && !isLoopback(host))
    yield warn(
      "BASE_URL",
      `BASE_URL is not set, and HOST ${host} is open to other machines: sign-in, links and MCP use http://localhost.`,
      "Set BASE_URL to the public address of the service, such as https://records.example.com.",
    );
  if (base?.protocol === "http:" && !isLoopback(base.hostname))
    yield warn(
      "BASE_URL",
      "BASE_URL is http: keys and cookies are sent unencrypted, and assistants do not sign in.",
      "Put a proxy with TLS in front, and set BASE_URL to its https address.",
    );
  if (base?.protocol === "https:" && trustProxy === 0)
    yield warn(
      "TRUST_PROXY",
      "BASE_URL is https, so there is a proxy, but TRUST_PROXY is 0. All clients without a key share the bucket of the proxy's address.",
      "Set TRUST_PROXY to the number of proxies that append to X-Forwarded-For, usually 1.",
    );
  if (base === undefined && trustProxy > 0)
    yield warn(
      "TRUST_PROXY",
      `TRUST_PROXY is ${trustProxy}, but BASE_URL is not set: without a proxy, any client can claim an address in X-Forwarded-For.`,
      "Set BASE_URL to the proxy's address, or TRUST_PROXY to 0.",
    );
  if (mcpUrl !== undefined && new URL(mcpUrl).protocol === "http:" && !isLoopback(new URL(mcpUrl).hostname))
    yield warn("MCP_URL", "MCP_URL is http: assistants do not sign in.", "Set MCP_URL to an https address.");
  if (!isLoopback(internalHost))
    yield warn(
      "INTERNAL_HOST",
      `INTERNAL_HOST ${internalHost} exposes the internal listener to other machines, unencrypted.`,
      "Restrict it to the network of your own services, or set INTERNAL_HOST to 127.0.0.1.",
    );
}

function* onDependencies({ mongodbUri, redisUrl, oidc, mcpAudiences }: Config): Iterable<Advice> {
  if (mongodbUri !== undefined && redisUrl === undefined)
    yield warn(
      "REDIS_URL",
      "REDIS_URL is not set: each instance starts its own Redis, and throttles separately.",
      "Set REDIS_URL to one Redis for all instances.",
    );
  if (mongodbUri === undefined && oidc !== undefined)
    yield [
      "MONGODB_URI",
      note(
        "OIDC_ISSUER is set but MONGODB_URI is not: records are stored in an embedded MongoDB in DATA_DIR.",
        "Set MONGODB_URI to a replica set for production.",
      ),
    ];
  if (mongodbUri !== undefined && oidc === undefined)
    yield [
      "OIDC_ISSUER",
      note(
        "OIDC_ISSUER is not set: sign-in and MCP are off.",
        "Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET to turn them on.",
      ),
    ];
  if (oidc !== undefined && mcpAudiences.length === 0)
    yield warn(
      "MCP_AUDIENCE",
      "MCP_AUDIENCE is not set: the MCP surface also accepts access tokens that the provider issued for your other applications.",
      "Configure the provider to issue tokens for an audience of this service, and set MCP_AUDIENCE to that audience.",
    );
}
