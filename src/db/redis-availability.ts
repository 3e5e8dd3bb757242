// Availability of Redis masters: a failing one is not used until it accepts a write in time again.
import { isReply } from "./redis-code.ts";
import type { RedisMasters } from "./redis-client.ts";
import { onlyMaster } from "./redis-client.ts";
import { createOutages } from "./redis-outages.ts";

/**
 * Called when Redis, or one master of a cluster, becomes unavailable, and when all are available again. Also called
 * once for each code by which an unavailable master rejects commands: its closed connection comes first and has none.
 */
export type OnChange = (ready: boolean, error?: Error, master?: string) => void;

/** Tracks which masters are unavailable, and probes them. */
export interface Availability {
  /** Whether a master is in use; undefined for the node that a cluster picks. */
  isAvailable(master: string | undefined): boolean;
  /** Whether all masters are in use. */
  allAvailable(): boolean;
  markUnavailable(master: string, error?: unknown): void;
  /** Call it whenever the client connects. Resolves when no request has to wait for a connection. */
  clientConnected(): Promise<void>;
  close(): void;
}

const probeIntervalMs = 200;
/** The minimum interval between reconnections to a server that responds but rejects writes. */
const lookAgainMs = 1_000;

/** Creates the availability of all masters. Each command may take at most `timeoutMs`. */
export function createAvailability(masters: RedisMasters, onChange: OnChange, timeoutMs: number): Availability {
  const { client } = masters;
  const outages = createOutages();
  let [closed, hasReported] = [false, false];
  let probes: NodeJS.Timeout | undefined;
  let rediscoveredAt = 0;

  function markAvailable(master: string): void {
    if (!outages.end(master) || closed) return;
    clearInterval(probes);
    probes = undefined;
    onChange(true);
  }
  /** Probes with a write: a server that is out of memory, read-only or without its disk still responds to a ping. */
  async function probe(master: string): Promise<void> {
    if (client.status !== "ready") return;
    const key = masters.probeKeyOf(master);
    if (key === undefined) return markAvailable(master);
    try {
      await inTime(client.set(key, "", "PX", 1_000), timeoutMs);
      if (outages.succeeded(master)) markAvailable(master);
    } catch (error) {
      markUnavailable(master, error);
      if (!isReply(error) || performance.now() - rediscoveredAt < lookAgainMs) return;
      rediscoveredAt = performance.now();
      masters.rediscoverMaster();
    }
  }
  function markUnavailable(master: string, error?: unknown): void {
    if (closed || !outages.failed(master, error)) return;
    onChange(false, causeOf(error), master === onlyMaster ? undefined : master);
    probes ??= setInterval(() => void Promise.all(outages.masters().map(probe)), probeIntervalMs).unref();
  }
  return {
    isAvailable: (master) =>
      client.status === "ready" && !outages.has(onlyMaster) && (master === undefined || !outages.has(master)),
    allAvailable: () => client.status === "ready" && outages.masters().length === 0,
    markUnavailable,
    async clientConnected() {
      await masters.connectAll();
      if (outages.has(onlyMaster)) await probe(onlyMaster);
      else if (!hasReported) onChange(outages.masters().length === 0);
      hasReported = true;
    },
    close() {
      closed = true;
      clearInterval(probes);
    },
  };
}

/** Returns the error to report. If no node of a cluster responds, that is the last node's error. */
function causeOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  return "lastNodeError" in error && error.lastNodeError instanceof Error ? error.lastNodeError : error;
}

/**
 * Returns the response, or rejects after `timeoutMs`. Reads the sockets once more before it rejects: on a busy instance
 * the response may already have arrived.
 */
export function inTime<T>(response: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = (): void => reject(new Error(`Redis did not respond within ${timeoutMs} ms`));
    const timer = setTimeout(() => setImmediate(() => setImmediate(tooLate)), timeoutMs);
    response.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
