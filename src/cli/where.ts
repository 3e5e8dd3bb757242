// Finds the service's internal listener and the service token, from options, the environment or the demo.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { tokenForm } from "../config/config.ts";
import { isLoopback } from "../config/loopback.ts";
import { readSecret, withSecretFiles } from "../config/secret-files.ts";
import { rejectUsage } from "./exit.ts";

/** The options for the address and the token. */
export interface WhereOptions {
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** The address of the service and its token. */
export interface Where {
  /** The URL of the internal listener, without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

/**
 * Finds the service. The address is `--url`, else RECORDS_INTERNAL_URL, else INTERNAL_HOST and INTERNAL_PORT. Otherwise
 * it is the one that the running service wrote to its data folder, or else the default. The token is that of
 * `--token-file`, else the first of SERVICE_TOKENS or its file, else that of the data folder. Fails with a usage error
 * that names the missing or invalid setting, and never repeats a token.
 */
export function findService(options: WhereOptions, environment: NodeJS.ProcessEnv): Where {
  const complete = withSecretFiles(
    environment,
    options.tokenFile === undefined ? ["SERVICE_TOKENS"] : [],
    (variable, problem) => rejectUsage(`${variable}: ${problem}.`),
  );
  const env = (name: string): string | undefined => complete[name]?.trim() || undefined;
  const dataDir = resolve(env("DATA_DIR") ?? "data");
  const demo = readDemo(dataDir);
  const port = env("INTERNAL_PORT") === "0" ? undefined : env("INTERNAL_PORT");
  const listener =
    (env("INTERNAL_HOST") ?? port) === undefined
      ? undefined
      : `http://${reachable(env("INTERNAL_HOST") ?? "127.0.0.1")}:${port ?? "8081"}`;
  const url = origin(
    options.url ?? env("RECORDS_INTERNAL_URL") ?? listener ?? demo.internal_url ?? "http://127.0.0.1:8081",
  );

  const given =
    options.tokenFile === undefined
      ? env("SERVICE_TOKENS")
          ?.split(",")
          .map((token) => token.trim())
          .find((token) => token !== "")
      : readToken(options.tokenFile);
  // The token of the data folder is sent only to this machine.
  const kept = isLoopback(new URL(url).hostname)
    ? (demo.service_token ?? readIfThere(join(dataDir, "service-token")))
    : undefined;
  const token = given ?? kept;
  if (token === undefined) {
    rejectUsage(
      `There is no service token for ${url}. Set SERVICE_TOKENS or --token-file FILE, or set DATA_DIR to the service's data folder (it is ${dataDir}).`,
    );
  }
  if (!tokenForm.test(token))
    rejectUsage(
      "The service token contains spaces or characters other than printable ASCII. It must be one line of text.",
    );
  return { url, token };
}

/** Returns the host to connect to. A listener on all addresses is reached at the loopback address. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

function origin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    rejectUsage(`The address of the service must be a URL such as http://127.0.0.1:8081, not "${value}".`);
  if (url.username !== "" || url.password !== "")
    rejectUsage("The address of the service must not contain a password. Use the service token.");
  return url.href.replace(/(?<!\/)\/+$/, "");
}

function readToken(file: string): string {
  const token = readIfThere(file);
  return token === undefined || token === ""
    ? rejectUsage(`--token-file: ${file} cannot be read, is empty or is too long.`)
    : token;
}

/** Returns the secret in a file, without the space around it; undefined if it cannot be read, or is too long. */
export function readIfThere(file: string): string | undefined {
  try {
    return readSecret(file)?.trim();
  } catch {
    return undefined;
  }
}

/** Returns the address of the MCP surface: RECORDS_MCP_URL, else the public address with /mcp. */
export function findMcpUrl(environment: NodeJS.ProcessEnv): string {
  return environment["RECORDS_MCP_URL"]?.trim() || `${findPublicUrl(environment)}/mcp`;
}

/** Returns the public address: RECORDS_URL, else that of the running demo, else the default. */
export function findPublicUrl(environment: NodeJS.ProcessEnv): string {
  const env = (name: string): string | undefined => environment[name]?.trim() || undefined;
  return env("RECORDS_URL") ?? readDemo(resolve(env("DATA_DIR") ?? "data")).base_url ?? "http://localhost:8080";
}

/** The contents of `demo.json`, the addresses and the token of a demo. */
interface DemoFile {
  readonly base_url?: string;
  readonly internal_url?: string;
  readonly service_token?: string;
}

/**
 * Reads the demo file of a data folder. Returns an empty object if there is none. Ignores fields that are not strings.
 */
export function readDemo(dataDir: string): DemoFile {
  try {
    const shown = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as unknown;
    return Object.fromEntries(Object.entries(shown ?? {}).filter(([, value]) => typeof value === "string"));
  } catch {
    return {};
  }
}
