// The outages of Redis masters: which codes were reported, and how long a server must accept writes to be used again.
import { isReply, replyCode } from "./redis-code.ts";

/** An unavailable master. */
interface Outage {
  /** The codes that were reported. */
  readonly codes: Set<string | undefined>;
  /** How long its probes must succeed before it is used again, and since when they do. */
  readonly steadyMs: number;
  succeedsSince: number | undefined;
}

/** The unavailable masters. */
export interface Outages {
  has(master: string): boolean;
  masters(): readonly string[];
  /** Notes a failure, with which an outage begins or continues. Returns whether to report it. */
  failed(master: string, error: unknown): boolean;
  /** Notes a successful probe. Returns whether the master may be used again. */
  succeeded(master: string): boolean;
  /** Ends the outage of a master. Returns whether that was the last one. */
  end(master: string): boolean;
}

/** How long the probes must succeed of a server that rejected a command. */
const rejectedMs = 2_000;
/** The same for a server that fails again soon after its return, doubled each time up to the maximum. */
const repeatedMs = 1_000;
const maxSteadyMs = 8_000;
const soonMs = 10_000;

/** Creates the outages: there are none. */
export function createOutages(): Outages {
  const current = new Map<string, Outage>();
  /** The last outage of each master, and when it ended. */
  const ended = new Map<string, { readonly steadyMs: number; readonly at: number }>();

  /** A server near its limits accepts a probe and rejects the next request, so each of its returns takes longer. */
  function steadyMsOf(master: string, error: unknown): number {
    const last = ended.get(master);
    const isRepeated = last !== undefined && performance.now() - last.at < soonMs;
    const doubled = isRepeated ? Math.min(maxSteadyMs, Math.max(repeatedMs, 2 * last.steadyMs)) : 0;
    return Math.max(doubled, isReply(error) ? rejectedMs : 0);
  }
  return {
    has: (master) => current.has(master),
    masters: () => [...current.keys()],
    failed(master, error) {
      const code = replyCode(error);
      const known = current.get(master);
      if (known === undefined) {
        const steadyMs = steadyMsOf(master, error);
        current.set(master, { codes: new Set([code]), steadyMs, succeedsSince: undefined });
        return true;
      }
      known.succeedsSince = undefined;
      if (code === undefined || known.codes.has(code)) return false;
      known.codes.add(code);
      return true;
    },
    succeeded(master) {
      const outage = current.get(master);
      if (outage === undefined) return false;
      outage.succeedsSince ??= performance.now();
      return performance.now() - outage.succeedsSince >= outage.steadyMs;
    },
    end(master) {
      const outage = current.get(master);
      if (outage === undefined) return false;
      current.delete(master);
      ended.set(master, { steadyMs: outage.steadyMs, at: performance.now() });
      return current.size === 0;
    },
  };
}
