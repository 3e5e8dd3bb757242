// Starts a server program on a free port, waits until it is ready, and stops it.
import { readFile, rename } from "node:fs/promises";
import { resolve } from "node:path";
import { runSupervised, type SupervisedProcess } from "./supervisor.ts";
import { keepRunning, type Run } from "./keep-running.ts";
import { endOrphanedServers, noteServer } from "./data-dir.ts";
import { freePort } from "./port.ts";
import { messageOf, type Program } from "./program.ts";
import { makeFolder } from "../process/make-folder.ts";

/** A server that runs alongside the service and ends with it. */
export interface EmbeddedServer {
  /** Includes the credentials: do not print it. */
  readonly uri: string;
  /** The URI without credentials and options, which is safe to print. */
  readonly shownUri: string;
  /** Changes when the server is restarted. */
  readonly pid: number;
  /** The version of the program: "6.0.5". */
  readonly version: string;
  /** The origin of the program, for people: "PATH (/usr/bin/mongod)". */
  readonly source: string;
  /**
   * Stops the server, and kills it if it has not ended after 10 seconds. None of its processes is left when this
   * resolves.
   */
  stop(): Promise<void>;
}

/** Options for starting an embedded server. */
export interface EmbeddedOptions {
  /** Holds the server's data, its log and the record of its process. The caller locks it with `lockDataDir`. */
  readonly dataDir: string;
  /** Holds fetched programs. */
  readonly cacheDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Receives a readable line when something takes long or does not go as expected. */
  readonly progress: (line: string) => void;
  /** Whether to restart the server with its port and data when it ends unexpectedly. */
  readonly restart?: boolean;
}

/** How to run one kind of server. */
export interface ServerKind {
  /** Also the name of its log and of its process records in DATA_DIR. */
  readonly role: "mongod" | "redis";
  /** The name of its data folder within DATA_DIR. */
  readonly folder: string;
  arguments(folder: string, logFile: string, port: number): string[];
  /** Resolves when the server with this pid serves on this port. Fails once the signal is aborted. */
  ready(port: number, pid: number, signal: AbortSignal, logFile: string): Promise<void>;
  /**
   * Explains a failed start from the log of a server of this version. Without an explanation, the log's last error or
   * line is shown.
   */
  explain?(log: string, version: string): string | undefined;
  /** Returns the environment of the program. */
  environment?(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
  /** Returns whether the log of a failed start shows that the program cannot run on this machine at all. */
  cannotRun?(log: string): boolean;
  /** Includes the credentials that the server requires. */
  uri(port: number): string;
}

/** A program cannot run on this machine, although it reports its version. Another one may. */
export class CannotRun extends Error {}

/** The time limit of a start. A crash with much to recover is repaired within it. */
const START_LIMIT_MS = 120_000;
const STOP_PATIENCE_MS = 10_000;

/**
 * Ends the servers that an earlier service left running. Then starts the program on a free port of 127.0.0.1 and waits
 * until it is ready. If another process takes the port first, tries another one, up to 5 in all. Fails with one line
 * that has the server's error and the path of its log.
 */
export async function startServer(
  kind: ServerKind,
  program: Program,
  options: EmbeddedOptions,
  pickPort: () => Promise<number> = freePort,
): Promise<EmbeddedServer> {
  const { dataDir, progress } = options;
  await endOrphanedServers(dataDir, kind.role, progress);
  await makeFolder(resolve(dataDir, kind.folder), 0o700);
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

/** The signals by which a program ends that this machine cannot run. One that aborts has found something itself. */
const faults: ReadonlySet<string> = new Set(["SIGILL", "SIGSEGV", "SIGBUS"]);

/** Another process listens on the port. */
class PortTaken extends Error {}

/**
 * Runs the program until it is ready. On failure, or once `stopped` is aborted, stops it and leaves no process running.
 */
async function startOnce(
  kind: ServerKind,
  program: Program,
  { dataDir, env }: EmbeddedOptions,
  port: number,
  stopped?: AbortSignal,
): Promise<Run> {
  const logFile = resolve(dataDir, `${kind.role}.log`);
  // Each start has a new log, which bounds its size, and whose last line belongs to this start.
  await rename(logFile, resolve(dataDir, `${kind.role}.before.log`)).catch(() => undefined);
  // mongod does not start with an unknown locale.
  const server = await runSupervised(
    [program.path, ...kind.arguments(resolve(dataDir, kind.folder), logFile, port)],
    logFile,
    { ...(kind.environment?.(env) ?? env), LC_ALL: "C" },
  );
  const forget = await noteServer(dataDir, kind.role, server.pid).catch(async (error: unknown) => {
    await server.end(STOP_PATIENCE_MS);
    throw error;
  });
  const stop = async (): Promise<void> => {
    await server.end(STOP_PATIENCE_MS);
    await forget();
  };
  const readLog = (): Promise<string> => readFile(logFile, "utf8").catch(() => "");
  let end: string | undefined;
  void server.ended.then((how) => (end = how));
  const problem = await startupProblem(kind, port, server, logFile, stopped);
  if (problem === undefined) {
    // A process that SIGKILL ends cannot log the reason.
    const ended = server.ended.then(async (how) => (how === "SIGKILL" ? how : (lastLogError(await readLog()) ?? how)));
    return { pid: server.pid, ended, stop };
  }
  // Read before the stop, which ends the program by a signal as well.
  const isFaulty = faults.has(end ?? "");
  await stop();
  const log = await readLog();
  const message = `${kind.role} ${program.version} (${program.source}) does not start: ${kind.explain?.(log, program.version) ?? lastLogError(log) ?? problem} (log: ${logFile})`;
  if (/address already in use/i.test(log)) throw new PortTaken(message);
  throw isFaulty || kind.cannotRun?.(log) === true ? new CannotRun(message) : new Error(message);
}

function withoutCredentials(uri: string): string {
  const { protocol, host, pathname } = new URL(uri);
  return `${protocol}//${host}${pathname}`;
}

/** Returns the reason why the server did not become ready, or undefined once it is. */
async function startupProblem(
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

/**
 * Returns the last error of mongod's log, which is lines of JSON, or the last line of any other log. A full disk can
 * cut the last line of mongod.
 */
export function lastLogError(log: string): string | undefined {
  const lines = log.trim().split("\n").reverse();
  for (const line of lines) {
    if (!/"s":"[EF]"/.test(line)) continue;
    const { s: severity, msg, attr } = entryIn(line);
    if (severity !== "E" && severity !== "F") continue;
    const cause = attr?.error ?? attr?.message;
    return cause === undefined ? msg : `${msg}: ${typeof cause === "string" ? cause.trim() : JSON.stringify(cause)}`;
  }
  const [last = ""] = lines;
  return last === "" || last.startsWith("{") ? undefined : last.trim();
}

function entryIn(line: string): {
  readonly s?: string;
  readonly msg?: string;
  readonly attr?: { error?: unknown; message?: unknown };
} {
  try {
    return (JSON.parse(line) as object | null) ?? {};
  } catch {
    return {};
  }
}
