// Advances the monotonic clock of this process, with which the service measures ages.
import type { MongoClient } from "mongodb";
import { onTestFinished, vi } from "vitest";
import { primaryOf } from "../../src/db/primary.ts";

const now = performance.now.bind(performance);
let ahead = 0;

/**
 * Advances it by some seconds until the test has finished. The wall clock is unchanged. Resolves when the client has
 * renewed its lease, which has expired.
 */
export function advanceClock(seconds: number, client: MongoClient): Promise<void> {
  ahead += seconds;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + ahead * 1_000);
  onTestFinished(async () => {
    clock.mockRestore();
    ahead = 0;
    // Until it proves the primary again, the client considers the database's clock to be behind.
    await primaryOf(client).prove();
  });
  return primaryOf(client).waitUntilHeld(5_000);
}
