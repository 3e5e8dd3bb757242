// Checks the final state of the database: as many documents as acknowledged, and the same in both versions.
import { UUID } from "mongodb";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { Scene, Story } from "./stories/story.ts";
import { Unexpected } from "./traffic.ts";

/** The collections whose documents are counted. */
const counted = ["contacts", "notes", "sessions", "idempotency"] as const;

/** Reports violations to the traffic. Both versions must be running. */
export async function checkStories(
  { client }: Fixture,
  { account, traffic }: Scene,
  stories: readonly Story[],
): Promise<void> {
  const checks = await Promise.allSettled(stories.map((story) => story.check().catch(unlessUnexpected)));
  for (const check of checks) if (check.status === "rejected") throw check.reason;
  const id = new UUID(account.id);
  for (const collection of counted) {
    const filter = collection === "idempotency" ? { "_id.account_id": id } : { account_id: id };
    const held = await client
      .db()
      .collection(collection)
      .countDocuments(filter, { readConcern: { level: "majority" } });
    const acknowledged = stories.reduce((sum, story) => sum + (story.left()[collection] ?? 0), 0);
    if (held !== acknowledged)
      traffic.violation(`${acknowledged} documents were acknowledged in ${collection}, but ${held} exist`);
  }
}

/** `Unexpected` errors are already among the violations. */
export function unlessUnexpected(error: unknown): void {
  if (!(error instanceof Unexpected)) throw error;
}
