// Waits after a nemesis until the plain client and every instance are served again.
import { setTimeout as sleep } from "node:timers/promises";
import type { History } from "./operation.ts";
import { now } from "./operation.ts";
import type { Site } from "./site.ts";

/** How long everything must be served without a failure. */
const calmMs = 1_500;
const givesUpAfterMs = 60_000;

/**
 * Resolves once nothing has failed for a while, with the start of the recovery: the end of the nemesis, or when MongoDB
 * served its plain client again, whichever came later.
 */
export async function settled({ plain, instances }: Site, { operations }: History, over: number): Promise<number> {
  let recoveredAt = over;
  for (const end = over + givesUpAfterMs; now() < end; await sleep(50)) {
    const served = plain.served.find((at) => at > over);
    if (served === undefined) continue;
    recoveredAt = served;
    if (now() - recoveredAt < calmMs) continue;
    const recent = operations.filter(({ completed }) => completed > now() - calmMs);
    const calm =
      recent.every(({ outcome }) => outcome !== "unknown") &&
      instances.every((name) =>
        recent.some(({ instance, kind, outcome }) => instance === name && kind === "set" && outcome === "ok"),
      );
    if (calm) return recoveredAt;
  }
  return recoveredAt;
}
