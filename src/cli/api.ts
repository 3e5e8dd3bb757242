// `records api`: sends a request to the REST interface and prints the response.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { CommandError, exitCodes, rejectUsage } from "./exit.ts";
import type { Json } from "./output.ts";
import { tlsFailure } from "./link.ts";
import { findPublicUrl, readIfThere } from "./where.ts";

const help = `
The API key is the one in the file of --key-file, or else RECORDS_API_KEY. The
address is --base-url, else RECORDS_URL, else that of the demo in DATA_DIR, else
http://localhost:8080. The response goes to standard output as JSON.

Exit codes: 0 for 2xx, 3 for 429, 5xx and no response, and 1 for the rest.`;

/** The longest that the command waits. The service responds within 5 seconds. */
const timeoutMs = 30_000;

interface ApiOptions {
  readonly data?: string;
  readonly idempotencyKey?: string;
  readonly keyFile?: string;
  readonly baseUrl?: string;
}

/** Adds the command. */
export function addApi(program: Command, environment: NodeJS.ProcessEnv, context: Context): void {
  program
    .command("api")
    .description("send a request to the REST interface and print the response")
    .argument("<method>", "GET, POST, PATCH or DELETE")
    .argument("<path>", "the path with its query, such as /v1/contacts?query=ann")
    .option("--data <json>", "the body; @FILE reads it from a file, and @- from standard input")
    .option("--idempotency-key <key>", "make it safe to repeat a create or an append")
    .option("--key-file <file>", "a file with the API key")
    .option("--base-url <url>", "the address of the service")
    .addHelpText("after", help)
    .action(async (method: string, path: string, options: ApiOptions) => {
      if (!path.startsWith("/")) rejectUsage(`The path must begin with a slash, such as /v1/contacts, not "${path}".`);
      const base = options.baseUrl ?? findPublicUrl(environment);
      if (!URL.canParse(base)) rejectUsage(`--base-url: must be a URL such as http://localhost:8080, not "${base}".`);
      const key = options.keyFile === undefined ? environment["RECORDS_API_KEY"]?.trim() : readIfThere(options.keyFile);
      if (options.keyFile !== undefined && !key)
        rejectUsage(`--key-file: ${options.keyFile} cannot be read, is empty or is too long.`);
      const body = options.data === undefined ? undefined : bodyOf(options.data);
      const response = await send(new URL(new URL(base).origin + path), method.toUpperCase(), body, {
        ...(key ? { Authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(options.idempotencyKey === undefined ? {} : { "Idempotency-Key": options.idempotencyKey }),
      });
      context.output.result(response.json, JSON.stringify(response.json, null, 2).split("\n"));
      if (!response.ok) throw failureOf(response);
    });
}

function bodyOf(data: string): string | Buffer {
  if (!data.startsWith("@")) return data;
  const file = data.slice(1);
  try {
    return readFileSync(file === "-" ? 0 : resolve(file));
  } catch {
    return rejectUsage(`--data: ${file} cannot be read.`);
  }
}

interface ApiResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly json: Json;
}

async function send(
  url: URL,
  method: string,
  body: string | Buffer | undefined,
  headers: Record<string, string>,
): Promise<ApiResponse> {
  const request = requestOf(url, {
    method,
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body }),
  });
  const response = await fetch(request).catch((error: unknown) => {
    const message = `Nothing responds at ${url.origin}. Start the service, or set --base-url.`;
    throw tlsFailure(error, url.origin) ?? new CommandError(exitCodes.unreachable, "unreachable", message);
  });
  const text = await response.text();
  try {
    return { ok: response.ok, status: response.status, json: JSON.parse(text) as Json };
  } catch {
    throw new CommandError(
      exitCodes.failed,
      "not_json",
      `${url.origin} did not respond with JSON (${response.status}). Check --base-url and the path.`,
    );
  }
}

/** Fails without the library's message, which may repeat the key. */
function requestOf(url: URL, init: RequestInit): Request {
  try {
    return new Request(url, init);
  } catch {
    return rejectUsage(
      `${init.method ?? ""}: the method, the key or the body is not valid. A GET has no --data, and a key has 53 letters, digits and underscores.`,
    );
  }
}

function failureOf({ status, json }: ApiResponse): CommandError {
  const { error = {} } = json as { readonly error?: { readonly reason?: string; readonly message?: string } };
  const exitCode = status === 429 || status >= 500 ? exitCodes.unreachable : exitCodes.failed;
  const message =
    error.reason === "MISSING_KEY"
      ? "The API key is missing. Set RECORDS_API_KEY or --key-file."
      : (error.message ?? "without a message");
  return new CommandError(exitCode, error.reason ?? String(status), `${status} ${message}`);
}
