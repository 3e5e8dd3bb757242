// Which masters of Redis are used: one that fails is left alone until it takes a write in time again.
import { isReply } from "./redis-code.ts";
import type { RedisMasters } from "./redis-client.ts";
import { whole } from "./redis-client.ts";

/** Called when Redis, or a master of a cluster, goes away, and when everything is back. */
export type OnChange = (ready: boolean, error?: Error, master?: string) => void;

/** The masters that are away, each of which is probed. */
export interface Availability {
  /** Whether a master is used; undefined for the node that a cluster picks. */
  has(master: string | undefined): boolean;
  /** Whether all are. */
  hasAll(): boolean;
  leave(master: string, error?: unknown): void;
  /** Runs whenever the client is connected; resolves when no request has to wait for a connection. */
  greet(): Promise<void>;
  close(): void;
}

const probeIntervalMs = 200;
/** For a connection that responds and takes no writes: a new one is not made more often. */
const lookAgainMs = 1_000;

/** Nothing is waited for longer than `timeoutMs`. */
export function createAvailability(masters: RedisMasters, onChange: OnChange, timeoutMs: number): Availability {
  const { client } = masters;
  const away = new Set<string>();
  let [closed, greeted] = [false, false];
  let probes: NodeJS.Timeout | undefined;
  let lookedAt = 0;

  function comeBack(master: string): void {
    if (!away.delete(master) || away.size > 0 || closed) return;
    clearInterval(probes);
    probes = undefined;
    onChange(true);
  }
  /**
   * By a write: one that is out of memory, a replica or without its disk still responds to a ping, and is of no use.
   */
  async function probe(master: string): Promise<void> {
    if (client.status !== "ready") return;
    const key = masters.probeKeyOf(master);
    if (key === undefined) return comeBack(master);
    try {
      await inTime(client.set(key, "", "PX", 1_000), timeoutMs);
      comeBack(master);
    } catch (error) {
      if (!isReply(error) || performance.now() - lookedAt < lookAgainMs) return;
      lookedAt = performance.now();
      masters.lookAgain();
    }
  }
  return {
    has: (master) => client.status === "ready" && !away.has(whole) && (master === undefined || !away.has(master)),
    hasAll: () => client.status === "ready" && away.size === 0,
    leave(master, error) {
      if (away.has(master) || closed) return;
      away.add(master);
      onChange(false, causeOf(error), master === whole ? undefined : master);
      probes ??= setInterval(() => void Promise.all([...away].map(probe)), probeIntervalMs).unref();
    },
    async greet() {
      await masters.connectAll();
      if (away.has(whole)) await probe(whole);
      else if (!greeted) onChange(away.size === 0);
      greeted = true;
    },
    close() {
      closed = true;
      clearInterval(probes);
    },
  };
}

/** Of a cluster that no node reports, why the last of them did not. */
function causeOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  return "lastNodeError" in error && error.lastNodeError instanceof Error ? error.lastNodeError : error;
}

/**
 * The response, or a rejection after so long. When the time is up the sockets are read once more before it counts: on a
 * busy instance the response may have been waiting there all along.
 */
export function inTime<T>(response: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = (): void => reject(new Error(`Redis did not respond within ${timeoutMs} ms`));
    const timer = setTimeout(() => setImmediate(() => setImmediate(tooLate)), timeoutMs);
    response.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
