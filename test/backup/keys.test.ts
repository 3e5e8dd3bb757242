// The rounds in which a backup reads the keys of an account.
import { BSON, UUID } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Documents, ReadPage } from "../../src/backup/keys.ts";
import { createReadKeysAndAccount } from "../../src/backup/keys.ts";
import { deadlineIn } from "../../src/call/deadline.ts";

interface Created {
  readonly created_at?: { readonly $gte: Date };
}

test("no round begins before the end of the previous one, although the database's clock steps back [OPS-62]", async () => {
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  // Two rounds that take long, and a short one.
  const rounds = [
    { seconds: 1_000_000, ms: 6_000 },
    { seconds: 900_000, ms: 6_000 },
    { seconds: 1_100_000, ms: 0 },
  ];
  const databaseTime = (): Date => {
    const { seconds = 0, ms = 0 } = rounds.shift() ?? {};
    now += ms;
    return new Date(1_000 * seconds);
  };
  const begun: number[] = [];
  const read: ReadPage = (collection, stages) => {
    const { created_at, $or = [] } = stages[0]?.["$match"] as Created & { readonly $or?: readonly Created[] };
    const begin = (created_at ?? $or[0]?.created_at)?.$gte;
    if (begin !== undefined) begun.push(begin.getTime() / 1_000);
    const account = { collection, bson: BSON.serialize({}) } as Documents[number];
    return Promise.resolve({ documents: collection === "accounts" ? [account] : [], isCut: false });
  };
  const reader = createReadKeysAndAccount(read, databaseTime);
  for await (const page of reader(new UUID(), () => deadlineIn(60_000))) expect(page.length).toBeLessThan(2);
  expect(begun).toEqual([0, 999_700, 999_700, 1_099_700]);
});
