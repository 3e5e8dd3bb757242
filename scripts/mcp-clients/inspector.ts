// Drives the command line of MCP Inspector, which runs one process per request and keeps its tokens in files.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../src/embedded/port.ts";
import type { McpClient, UserAgent, ToolResult } from "./client.ts";

/** How to run the command line. */
export interface InspectorOptions {
  /** A version of Node that it supports. */
  readonly node: string;
  /** Its launcher. */
  readonly program: string;
  readonly url: string;
  readonly era: "legacy" | "modern";
  /** An empty folder for everything that it stores. */
  readonly folder: string;
}

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly errors: string;
}

/** It signs a user in only on a terminal. With only stderr marked as one, it opens no browser. */
const asOnTerminal = "--import=data:text/javascript,process.stderr.isTTY=true";
const commandMs = 60_000;

export function createInspector({ node, program, url, era, folder }: InspectorOptions): McpClient {
  const secrets = join(folder, "secrets.json");
  const environment = {
    ...process.env,
    HOME: folder,
    NO_COLOR: "1",
    NODE_OPTIONS: asOnTerminal,
    MCP_AUTO_OPEN_ENABLED: "false",
    MCP_STORAGE_DIR: folder,
    MCP_INSPECTOR_SECRET_STORE: "file",
  };

  async function run(args: readonly string[], userAgent: UserAgent): Promise<unknown> {
    const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
    const all = [program, "--cli", "--server-url", url, "--transport", "http", "--protocol-era", era];
    const child = spawn(node, [...all, "--callback-url", callback, "--format", "json", ...args], { env: environment });
    const { status, out, errors } = await finish(child, userAgent);
    if (out.trim() === "") throw new Error(`the Inspector exited with ${status}: ${errors.trim().slice(-400)}`);
    const { result } = JSON.parse(out) as { result?: unknown };
    return result ?? JSON.parse(out);
  }

  return {
    async connect(userAgent) {
      const { protocolVersion } = (await run(["--method", "initialize"], userAgent)) as { protocolVersion?: string };
      return protocolVersion ?? "";
    },
    async listTools(userAgent) {
      const { tools } = (await run(["--method", "tools/list"], userAgent)) as { tools: { name: string }[] };
      return tools.map(({ name }) => name);
    },
    async callTool(name, given, userAgent): Promise<ToolResult> {
      const args = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(given)];
      const { isError, structuredContent } = (await run(args, userAgent)) as {
        isError?: boolean;
        structuredContent?: Record<string, unknown>;
      };
      return { isError: isError === true, structured: structuredContent ?? {} };
    },
    async expireToken() {
      const text = readFileSync(secrets, "utf8");
      writeFileSync(secrets, text.replace(accessTokenIn(text), "expired"));
    },
    async tokenDigest() {
      const token = existsSync(secrets) ? accessTokenIn(readFileSync(secrets, "utf8")) : "";
      return token === "" ? "" : createHash("sha256").update(token).digest("hex");
    },
    end: async () => undefined,
  };
}

/** The access token in the secrets file, which contains JSON within JSON. */
function accessTokenIn(text: string): string {
  return /access_token\\*":\s*\\*"([^"\\]+)/.exec(text)?.[1] ?? "";
}

/** Waits for the process to exit, and visits its callback if it requests a sign-in. */
async function finish(child: ReturnType<typeof spawn>, userAgent: UserAgent): Promise<Ended> {
  let [out, errors, seen] = ["", "", 0];
  let visits = Promise.resolve();
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
    const pages = [...errors.matchAll(/^Please navigate to: (\S+)\n/gm)];
    for (const [, page = ""] of pages.slice(seen)) {
      visits = visits.then(async () => void (await fetch(await userAgent(new URL(page)))));
      visits.catch((error: unknown) => {
        errors += String(error);
        child.kill("SIGKILL");
      });
    }
    seen = pages.length;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), commandMs);
  const [status] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  await visits.catch(() => undefined);
  return { status, out, errors };
}
