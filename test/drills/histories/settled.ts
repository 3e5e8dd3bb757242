// Waits after a nemesis until everything is served again, by the plain client and by every instance.
import { setTimeout as sleep } from "node:timers/promises";
import type { History } from "./operation.ts";
import { now } from "./operation.ts";
import type { Site } from "./site.ts";

/** Everything was served for so long. */
const calmMs = 1_500;
const givesUpAfterMs = 60_000;

/**
 * Resolves when nothing failed for a while, with the time from which everything has to recover: when the nemesis was
 * over, or when MongoDB served its plain client again, whichever came later.
 */
export async function settled({ plain, instances }: Site, { operations }: History, over: number): Promise<number> {
  let whole = over;
  for (const end = over + givesUpAfterMs; now() < end; await sleep(50)) {
    const served = plain.served.find((at) => at > over);
    if (served === undefined) continue;
    whole = served;
    if (now() - whole < calmMs) continue;
    const recent = operations.filter(({ completed }) => completed > now() - calmMs);
    const calm =
      recent.every(({ outcome }) => outcome !== "unknown") &&
      instances.every((name) =>
        recent.some(({ instance, kind, outcome }) => instance === name && kind === "set" && outcome === "ok"),
      );
    if (calm) return whole;
  }
  return whole;
}
