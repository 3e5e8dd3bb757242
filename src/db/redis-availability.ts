// Availability of Redis masters: a failing one is not used until it accepts a write in time again.
import { isReply, replyCode } from "./redis-code.ts";
import type { RedisMasters } from "./redis-client.ts";
import { onlyMaster } from "./redis-client.ts";

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

/** An unavailable master. */
interface Outage {
  /** The codes that were reported. */
  readonly codes: Set<string | undefined>;
  /** How long its probes must succeed before it is used again, and since when they do. */
  readonly steadyMs: number;
  succeedsSince: number | undefined;
}

const probeIntervalMs = 200;
/** How long the probes must succeed of a server that rejected a command. */
const rejectedMs = 2_000;
/** The same for a server that fails again soon after its return, doubled each time up to the maximum. */
const repeatedMs = 1_000;
const maxSteadyMs = 8_000;
const soonMs = 10_000;
/** The minimum interval between reconnections to a server that responds but rejects writes. */
const lookAgainMs = 1_000;

/** Creates the availability of all masters. Each command may take at most `timeoutMs`. */
export function createAvailability(masters: RedisMasters, onChange: OnChange, timeoutMs: number): Availability {
  const { client } = masters;
  const outages = new Map<string, Outage>();
  /** The last outage of each master, and when it ended. */
  const ended = new Map<string, { readonly steadyMs: number; readonly at: number }>();
  let [closed, hasReported] = [false, false];
  let probes: NodeJS.Timeout | undefined;
  let rediscoveredAt = 0;

  /** A server near its limits accepts a probe and rejects the next request, so each of its returns takes longer. */
  function steadyMsOf(master: string, error: unknown): number {
    const last = ended.get(master);
    const isRepeated = last !== undefined && performance.now() - last.at < soonMs;
    const doubled = isRepeated ? Math.min(maxSteadyMs, Math.max(repeatedMs, 2 * last.steadyMs)) : 0;
    return Math.max(doubled, isReply(error) ? rejectedMs : 0);
  }
  function markAvailable(master: string): void {
    const outage = outages.get(master);
    if (outage === undefined || closed) return;
    outages.delete(master);
    ended.set(master, { steadyMs: outage.steadyMs, at: performance.now() });
    if (outages.size > 0) return;
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
      const outage = outages.get(master);
      if (outage === undefined) return;
      outage.succeedsSince ??= performance.now();
      if (performance.now() - outage.succeedsSince >= outage.steadyMs) markAvailable(master);
    } catch (error) {
      markUnavailable(master, error);
      if (!isReply(error) || performance.now() - rediscoveredAt < lookAgainMs) return;
      rediscoveredAt = performance.now();
      masters.rediscoverMaster();
    }
  }
  function markUnavailable(master: string, error?: unknown): void {
    if (closed) return;
    const code = replyCode(error);
    const known = outages.get(master);
    if (known === undefined)
      outages.set(master, { codes: new Set([code]), steadyMs: steadyMsOf(master, error), succeedsSince: undefined });
    else {
      known.succeedsSince = undefined;
      if (code === undefined || known.codes.has(code)) return;
      known.codes.add(code);
    }
    onChange(false, causeOf(error), master === onlyMaster ? undefined : master);
    probes ??= setInterval(() => void Promise.all([...outages.keys()].map(probe)), probeIntervalMs).unref();
  }
  return {
    isAvailable: (master) =>
      client.status === "ready" && !outages.has(onlyMaster) && (master === undefined || !outages.has(master)),
    allAvailable: () => client.status === "ready" && outages.size === 0,
    markUnavailable,
    async clientConnected() {
      await masters.connectAll();
      if (outages.has(onlyMaster)) await probe(onlyMaster);
      else if (!hasReported) onChange(outages.size === 0);
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
