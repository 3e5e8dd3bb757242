// Drives a client program over its standard streams: one JSON command per line, and one JSON response.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { McpClient, UserAgent, ToolResult } from "./client.ts";

/** A line of the program's output: a page that the user must open first, or the response. */
interface Line {
  readonly authorize?: string;
  readonly result?: unknown;
  readonly error?: string;
}

/** Longer than any command takes, so that a client that signs in again and again is stopped. */
const commandMs = 60_000;
/** More pages for one command are a loop. */
const maxPages = 3;

/** Starts the program; `environment` extends that of this process. */
export function startClientProcess(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): McpClient {
  const child = spawn(program, args, { env: { ...process.env, ...environment } });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2_000)));
  child.on("error", (error) => (errors += error.message));
  child.stdin.on("error", () => undefined);
  const send = (line: object): void => void child.stdin.write(`${JSON.stringify(line)}\n`);

  const nextLine = async (): Promise<Line> => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error(`The client exited: ${errors.trim()}`);
    return JSON.parse(value) as Line;
  };
  const run = async (command: object, userAgent?: UserAgent): Promise<unknown> => {
    send(command);
    for (let pages = 0; pages <= maxPages; pages++) {
      const { authorize, result, error } = await nextLine();
      if (error !== undefined) throw new Error(error);
      if (authorize === undefined) return result;
      if (userAgent === undefined) throw new Error(`The client opened ${authorize} unexpectedly.`);
      send({ callback: (await userAgent(new URL(authorize))).href });
    }
    throw new Error(`The client opened more than ${maxPages} pages for one command.`);
  };
  const runInTime = async (command: object, userAgent?: UserAgent): Promise<unknown> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`The client did not respond within ${commandMs / 1_000} seconds: ${errors.trim()}`));
      }, commandMs);
    });
    try {
      return await Promise.race([run(command, userAgent), late]);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    connect: async (userAgent) => (await runInTime({ command: "connect" }, userAgent)) as string,
    listTools: async (userAgent) => (await runInTime({ command: "list" }, userAgent)) as string[],
    callTool: async (name, given, userAgent) =>
      (await runInTime({ command: "call", name, arguments: given }, userAgent)) as ToolResult,
    expireToken: async () => void (await runInTime({ command: "expire" })),
    tokenDigest: async () => (await runInTime({ command: "token" })) as string,
    async end() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}
