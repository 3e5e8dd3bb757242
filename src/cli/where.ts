// Finds out where the service's internal listener is, and the service token: from options, the environment, or the
// demo.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isLoopback } from "../loopback.ts";
import { withSecretFiles } from "../secret-files.ts";
import { rejectUsage } from "./exit.ts";

/** The options that say where. */
export interface WhereOptions {
  readonly url?: string;
  readonly tokenFile?: string;
}

/** Where the service is, and what opens it. */
export interface Where {
  /** The internal listener, an origin. */
  readonly url: string;
  readonly token: string;
}

/** A token as it may be in a header. */
const tokenForm = /^[\x21-\x7e]+$/;

/**
 * The address: `--url`, else RECORDS_INTERNAL_URL, else INTERNAL_HOST and INTERNAL_PORT, else what the running service
 * wrote to its data folder, else the default port. The token: `--token-file`, else the first of SERVICE_TOKENS or of
 * its file, else the data folder's. Fails with what is missing; never repeats a token.
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
  // The demo's token is no secret to send anywhere else than to this machine.
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

/** What listens on every address is reached on this machine's own. */
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
    ? rejectUsage(`--token-file: ${file} cannot be read, or is empty.`)
    : token;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

/**
 * The address of the MCP surface: RECORDS_MCP_URL, else RECORDS_URL with /mcp, else what the running demo wrote to its
 * data folder, else the default one.
 */
export function findMcpUrl(environment: NodeJS.ProcessEnv): string {
  const env = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const demo = readDemo(resolve(env("DATA_DIR") ?? "data"));
  return env("RECORDS_MCP_URL") ?? `${env("RECORDS_URL") ?? demo.base_url ?? "http://localhost:8080"}/mcp`;
}

/** What a demo shows of itself. */
interface DemoFile {
  readonly base_url?: string;
  readonly internal_url?: string;
  readonly service_token?: string;
}

/** What the demo of a data folder shows; empty where it has none. A field that is no text counts as missing. */
export function readDemo(dataDir: string): DemoFile {
  try {
    const shown = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as unknown;
    return Object.fromEntries(Object.entries(shown ?? {}).filter(([, value]) => typeof value === "string"));
  } catch {
    return {};
  }
}
