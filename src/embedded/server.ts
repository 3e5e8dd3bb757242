// Starts a server program on a free port, waits until it is ready, and stops it.
import { mkdir, readFile, rename } from "node:fs/promises";
import { resolve } from "node:path";
import { runSupervised, type SupervisedProcess } from "./supervisor.ts";
import { keepRunning, type Run } from "./keep-running.ts";
import { endLeftovers, noteServer } from "./leftovers.ts";
import { freePort } from "./port.ts";
import { messageOf, type Program } from "./program.ts";

/** A server that runs beside the service and ends with it. */
export interface EmbeddedServer {
  /** Includes its credentials: do not print it. */
  readonly uri: string;
  /** The URI without credentials and options, to print. */
  readonly shownUri: string;
  /** Another one where it was started again. */
  readonly pid: number;
  /** Of the program: "6.0.5". */
  readonly version: string;
  /** Where the program came from, for people: "PATH (/usr/bin/mongod)". */
  readonly source: string;
  /** Ends it: it has 10 seconds to do so by itself. No process of it is left when this resolves. */
  stop(): Promise<void>;
}

/** What starting an embedded server needs. */
export interface EmbeddedOptions {
  /** Holds the server's data, its log and its process note. The caller locks it with `lockDataDir`. */
  readonly dataDir: string;
  /** Where fetched programs are kept. */
  readonly cacheDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Takes a line for people whenever something takes its time or goes another way than expected. */
  readonly progress: (line: string) => void;
  /** Whether a server that ends by itself is started again, on its port and its data. */
  readonly restart?: boolean;
}

/** How one kind of server is run. */
export interface ServerKind {
  /** Also the name of its log and of its process note in DATA_DIR. */
  readonly role: "mongod" | "redis";
  /** Its folder within DATA_DIR. */
  readonly folder: string;
  arguments(folder: string, logFile: string, port: number): string[];
  /** Resolves when the server with this pid serves on this port; fails once the signal is aborted. */
  ready(port: number, pid: number, signal: AbortSignal, logFile: string): Promise<void>;
  /** Explains a failed start by the log of this version; without an explanation the last line of the log is shown. */
  explain?(log: string, version: string): string | undefined;
  /** Includes the credentials that the server requires. */
  uri(port: number): string;
}

/** A crash with a lot to recover is repaired within this time; whoever has not come up by then will not. */
const START_LIMIT_MS = 120_000;
const STOP_PATIENCE_MS = 10_000;

/**
 * Ends what an earlier service left behind, then runs the program on a free port of 127.0.0.1 until it is ready.
 * Another port is tried, up to 5 in all, where somebody takes it first. Fails with one line: what the server said, and
 * where its log is.
 */
export async function startServer(
  kind: ServerKind,
  program: Program,
  options: EmbeddedOptions,
  pickPort: () => Promise<number> = freePort,
): Promise<EmbeddedServer> {
  const { dataDir, progress } = options;
  await endLeftovers(dataDir, kind.role, progress);
  await mkdir(resolve(dataDir, kind.folder), { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt++) {
    const port = await pickPort();
    try {
      const start = (stopped?: AbortSignal): Promise<Run> => startOnce(kind, program, options, port, stopped);
      const run = await start();
      const kept = options.restart === true ? keepRunning(kind.role, run, start, progress) : run;
      const uri = kind.uri(port);
      const { version, source } = program;
      let stopped: Promise<void> | undefined;
      return {
        uri,
        shownUri: withoutCredentials(uri),
        get pid() {
          return kept.pid;
        },
        version,
        source,
        stop: () => (stopped ??= kept.stop()),
      };
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 5) throw error;
    }
  }
}

/** Somebody else listens on the port. */
class PortTaken extends Error {}

/** Runs the program until it is ready; nothing of it is left where it fails, or once `stopped` is aborted. */
async function startOnce(
  kind: ServerKind,
  program: Program,
  { dataDir, env }: EmbeddedOptions,
  port: number,
  stopped?: AbortSignal,
): Promise<Run> {
  const logFile = resolve(dataDir, `${kind.role}.log`);
  // A log of its own for each start: it cannot grow from start to start, and its last words are of this one.
  await rename(logFile, resolve(dataDir, `${kind.role}.before.log`)).catch(() => undefined);
  // An unknown locale in the environment would stop mongod.
  const server = await runSupervised(
    [program.path, ...kind.arguments(resolve(dataDir, kind.folder), logFile, port)],
    logFile,
    { ...env, LC_ALL: "C" },
  );
  const forget = await noteServer(dataDir, kind.role, server.pid);
  const stop = async (): Promise<void> => {
    await server.end(STOP_PATIENCE_MS);
    await forget();
  };
  const readLog = (): Promise<string> => readFile(logFile, "utf8").catch(() => "");
  const problem = await whyNotReady(kind, port, server, logFile, stopped);
  if (problem === undefined) {
    // Who is killed has no last words.
    const ended = server.ended.then(async (how) => (how === "SIGKILL" ? how : (lastWords(await readLog()) ?? how)));
    return { pid: server.pid, ended, stop };
  }
  await stop();
  const log = await readLog();
  const message = `${kind.role} ${program.version} (${program.source}) does not start: ${kind.explain?.(log, program.version) ?? lastWords(log) ?? problem} (log: ${logFile})`;
  throw /address already in use/i.test(log) ? new PortTaken(message) : new Error(message);
}

function withoutCredentials(uri: string): string {
  const { protocol, host, pathname } = new URL(uri);
  return `${protocol}//${host}${pathname}`;
}

/** What kept the server from becoming ready; undefined when it is. */
async function whyNotReady(
  kind: ServerKind,
  port: number,
  server: SupervisedProcess,
  logFile: string,
  stopped?: AbortSignal,
): Promise<string | undefined> {
  const given = new AbortController();
  const giveUp = (problem: string): void => given.abort(new Error(problem));
  const limit = setTimeout(giveUp, START_LIMIT_MS, `it was not ready after ${START_LIMIT_MS / 1000} seconds`);
  void server.ended.then(() => giveUp("it ended at once"));
  const stop = (): void => giveUp("the service stops");
  stopped?.addEventListener("abort", stop);
  if (stopped?.aborted === true) stop();
  const givenUp = new Promise<never>((_, reject) =>
    given.signal.addEventListener("abort", () => reject(given.signal.reason as Error)),
  );
  try {
    await Promise.race([kind.ready(port, server.pid, given.signal, logFile), givenUp]);
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    clearTimeout(limit);
    stopped?.removeEventListener("abort", stop);
  }
}

/** Of mongod's log, which is lines of JSON, its last error; of any other the last line. */
function lastWords(log: string): string | undefined {
  const lines = log.trim().split("\n").reverse();
  const errors = lines.filter((line) => /^\{.*"s":"[EF]"/.test(line));
  const last = errors[0] ?? (lines[0]?.startsWith("{") ? undefined : lines[0]);
  if (last === undefined || last === "") return undefined;
  if (!last.startsWith("{")) return last.trim();
  const { msg, attr } = JSON.parse(last) as { msg: string; attr?: { error?: unknown } };
  return attr?.error === undefined
    ? msg
    : `${msg}: ${typeof attr.error === "string" ? attr.error : JSON.stringify(attr.error)}`;
}
