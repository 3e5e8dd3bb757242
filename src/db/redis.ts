// The connection to Redis, which holds only what may vanish: nobody waits for it longer than 50 ms.
import { Redis } from "ioredis";
import type { Tally } from "../tally.ts";
import { timed } from "../tally.ts";

/** A connection that is used while it answers and left alone while it does not. */
export interface RedisLink {
  readonly client: Redis;
  /** Settles when Redis answers for the first time, or after a second: nobody waits longer for it to start. */
  readonly firstReady: Promise<void>;
  /**
   * False from the first command that failed until Redis takes a write in time again: callers then go on without it.
   */
  ready(): boolean;
  /**
   * Runs a command, whose time counts in the tally; undefined when Redis is away, fails, or takes longer than 50 ms.
   * Never throws.
   */
  attempt<T>(command: (client: Redis) => Promise<T>, tally?: Tally): Promise<T | undefined>;
  close(): void;
}

const commandTimeoutMs = 50;
const probeIntervalMs = 200;
const firstReadyMs = 1_000;

/** Connects in the background. `onChange` is told when Redis goes away and when it is back. */
export function connectRedis(url: string, onChange: (ready: boolean, error?: Error) => void): RedisLink {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    // A host that is lost says nothing: without it the system would hold on to the connection for many minutes.
    socketTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(1_000, 50 * attempt),
  });
  let away = false;
  let closed = false;
  let probe: NodeJS.Timeout | undefined;

  function leave(error?: Error): void {
    if (away || closed) return;
    away = true;
    onChange(false, error);
    probe = setInterval(probeOnce, probeIntervalMs).unref();
  }
  /** By a write: one that is out of memory, a replica or without its disk still answers a ping, and is of no use. */
  function probeOnce(): void {
    void answered(client.set("probe", "", "PX", 1_000)).then(comeBack, () => undefined);
  }
  function comeBack(): void {
    if (!away) return;
    away = false;
    clearInterval(probe);
    onChange(true);
  }

  client.on("error", (error: Error) => leave(error));
  client.on("close", () => leave());
  client.on("ready", () => (away ? probeOnce() : onChange(true)));
  const ready = (): boolean => !away && client.status === "ready";
  return {
    client,
    firstReady: firstReadyOf(client),
    ready,
    async attempt(command, tally) {
      if (!ready()) return undefined;
      try {
        return await timed(tally, "redisMs", "redis", () => answered(command(client)));
      } catch (error) {
        leave(error instanceof Error ? error : undefined);
        return undefined;
      }
    },
    close() {
      closed = true;
      clearInterval(probe);
      client.disconnect();
    },
  };
}

function firstReadyOf(client: Redis): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, firstReadyMs);
    client.once("ready", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * The answer, or a rejection after 50 ms. When the time is up the sockets are read once more before it counts: on a
 * busy instance the answer may have been waiting there all along.
 */
function answered<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = (): void => reject(new Error(`Redis did not answer within ${commandTimeoutMs} ms`));
    const timer = setTimeout(() => setImmediate(() => setImmediate(tooLate)), commandTimeoutMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
