// Checks that new connections to MongoDB can be opened, and that requests get one: open connections hide that the
// password was changed, or that a limit was reached.
import type { MongoClient } from "mongodb";
import { MongoServerSelectionError } from "mongodb";
import { innermostCode } from "./innermost-code.ts";
import { isRejectedHandshake, waitForOpenConnections } from "./rejected-handshakes.ts";
import { watchPool } from "./pool.ts";

/** Why requests get no connection to MongoDB. */
export interface ConnectionFailure {
  /** One word for the log, such as `AuthenticationFailed`. */
  readonly code: string;
  /** One sentence for operators, with what to do. */
  readonly reason: string;
}

/** Whether requests get a connection to MongoDB. */
export interface ConnectionCheck {
  /** Returns why they do not; undefined if they do. */
  failure(): ConnectionFailure | undefined;
  /** Sets the listener that is called when `failure` changes. */
  onChange(listener: (failure: ConnectionFailure | undefined) => void): void;
}

const everyMs = 5_000;
/** The pause after a check that failed or opened no connection. */
const againMs = 1_000;
/** Codes after which the next connection fails too. Any other error may be that of one connection. */
const lasting: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);

const checks = new WeakMap<MongoClient, ConnectionCheck>();

/** Returns the check of a client passed to `checkConnections`. */
export function connectionsOf(client: MongoClient): ConnectionCheck {
  return checks.get(client) ?? { failure: () => undefined, onChange: () => undefined };
}

/**
 * Checks the connections of a client until it is closed. Call it before the clients connect. Opens connections in the
 * pool of `prober`, which closes them again when they are idle.
 */
export function checkConnections(client: MongoClient, prober: MongoClient): void {
  const acceptAgain = waitForOpenConnections(client);
  const opensOne = openConnection(prober);
  const starvation = watchStarvation(client, () => report());
  let rejected: ConnectionFailure | undefined;
  let reported: ConnectionFailure | undefined;
  let [failures, isRunning, isClosed] = [0, false, false];
  let timer: NodeJS.Timeout | undefined;
  let listener: (failure: ConnectionFailure | undefined) => void = () => undefined;
  const failure = (): ConnectionFailure | undefined => rejected ?? starvation();

  function report(): void {
    const now = failure();
    if (now?.reason === reported?.reason || isClosed) return;
    reported = now;
    listener(now);
  }
  async function check(): Promise<void> {
    if (isRunning || isClosed) return;
    isRunning = true;
    clearTimeout(timer);
    let isOpened = false;
    try {
      isOpened = await opensOne();
      if (isOpened) {
        [rejected, failures] = [undefined, 0];
        acceptAgain();
      }
    } catch (error) {
      failures += 1;
      const found = failureOf(error);
      const isLasting = isRejectedHandshake(error) || lasting.has(found?.code ?? "");
      if (found !== undefined && (failures > 1 || isLasting)) rejected = found;
    }
    isRunning = false;
    report();
    if (!isClosed) timer = setTimeout(() => void check(), isOpened ? everyMs : againMs).unref();
  }

  client.once("topologyOpening", () => {
    timer = setTimeout(() => void check(), everyMs).unref();
  });
  for (const one of [client, prober])
    one.on("connectionCheckOutFailed", ({ reason }) => {
      if (reason === "connectionError" && rejected === undefined) void check();
    });
  client.once("topologyClosed", () => {
    isClosed = true;
    clearTimeout(timer);
  });
  checks.set(client, {
    failure,
    onChange(given) {
      listener = given;
    },
  });
}

/**
 * Returns a function that opens a connection in a client's pool by sending more commands than the pool has idle
 * connections. It resolves with whether that opened one, and rejects with the error that prevented it.
 */
function openConnection(client: MongoClient): () => Promise<boolean> {
  const pool = watchPool(client);
  let opened = 0;
  client.on("connectionReady", () => void opened++);
  return async () => {
    const before = opened;
    const { available, inUse } = pool();
    // Unused, the connections of a full pool are closed until the next check.
    if (available + inUse >= client.options.maxPoolSize) return false;
    const pings = Array.from({ length: available + 1 }, () =>
      client.db("admin").command({ ping: 1, comment: "watch" }, { signal: AbortSignal.timeout(everyMs) }),
    );
    const results = await Promise.allSettled(pings);
    for (const result of results) if (result.status === "rejected") throw result.reason;
    return opened > before;
  };
}

/**
 * Returns whether requests are starved of connections: a command waited for one until its time limit, and no other
 * command got one meanwhile. That lasts until a connection becomes free.
 */
function watchStarvation(client: MongoClient, onChange: () => void): () => ConnectionFailure | undefined {
  let [isStarved, freeAt] = [false, performance.now()];
  const free = (): void => {
    freeAt = performance.now();
    if (!isStarved) return;
    isStarved = false;
    onChange();
  };
  client.on("connectionCheckedOut", free);
  client.on("connectionCheckedIn", free);
  client.on("connectionCheckOutFailed", ({ reason, durationMS }) => {
    if (reason !== "timeout" || performance.now() - freeAt < durationMS) return;
    isStarved = true;
    onChange();
  });
  return () => (isStarved ? starved : undefined);
}

const starved: ConnectionFailure = {
  code: "PoolExhausted",
  reason:
    "no connection to MongoDB has become free while requests waited for one: look for slow operations in MongoDB, or raise MONGODB_MAX_POOL",
};

/** Returns what the error of a new connection means; undefined if another primary is being elected. */
function failureOf(error: unknown): ConnectionFailure | undefined {
  if (isRejectedHandshake(error)) {
    const code = error.codeName ?? String(error.code);
    return {
      code,
      reason: `MongoDB rejects the user or the password of MONGODB_URI (${code}): correct them, and restart the instance`,
    };
  }
  const code = codeOf(error);
  if (code === undefined) return undefined;
  const advice = lasting.has(code)
    ? ": raise the limit of open files (ulimit -n; LimitNOFILE of systemd), and restart the instance"
    : "";
  return { code, reason: `connections to MongoDB cannot be opened (${code})${advice}` };
}

/** Returns the code of the error. If no server can be selected, that is the code of the servers' errors. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof MongoServerSelectionError))
    return innermostCode(error) ?? (error instanceof Error ? error.name : undefined);
  const servers = [...(error.reason?.servers.values() ?? [])].map((server) => innermostCode(server.error));
  return servers.every((code) => code !== undefined) ? servers[0] : undefined;
}
