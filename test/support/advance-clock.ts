// Advances the monotonic clock of this process, by which the service measures ages.
import type { MongoClient } from "mongodb";
import { onTestFinished, vi } from "vitest";
import { primaryOf } from "../../src/db/primary.ts";

const now = performance.now.bind(performance);
let ahead = 0;

/**
 * Advances it by so many seconds until the test has finished. The wall clock stays as it is. Resolves when the client
 * has its lease again, which has expired.
 */
export function advanceClock(seconds: number, client: MongoClient): Promise<void> {
  ahead += seconds;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + ahead * 1_000);
  onTestFinished(async () => {
    clock.mockRestore();
    ahead = 0;
    // Until its next proof, the client takes the database's clock for one that is behind.
    await primaryOf(client).prove();
  });
  return primaryOf(client).waitUntilHeld(5_000);
}
