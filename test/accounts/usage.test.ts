// Requests by day: what counts, on which day, and what happens if MongoDB is unavailable or the account is erased.
import { randomUUID } from "node:crypto";
import type { Collection, MongoClient } from "mongodb";
import { MongoNetworkError, UUID } from "mongodb";
import { afterEach, expect, test, vi } from "vitest";
import { createAccountStore } from "../../src/accounts/store.ts";
import type { DayOfUse, RecentRequest, Usage } from "../../src/accounts/usage.ts";
import { createUsage } from "../../src/accounts/usage.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { useOwnDatabase } from "../support/own-database.ts";

let client: MongoClient;
useOwnDatabase((opened) => {
  client = opened;
});
afterEach(() => void vi.restoreAllMocks());

const lost = vi.fn();
const newUsage = (): Usage => createUsage(client.db(), lost);

async function newAccount(): Promise<UUID> {
  return (await createAccountStore(client.db()).create(`${randomUUID()}@example.com`, false))._id;
}

const request = (id: string, given: Partial<RecentRequest> = {}): RecentRequest => ({
  id,
  at: new Date(Date.now()),
  method: "GET",
  route: "/v1/contacts/{contact_id}",
  status: 200,
  ms: 3,
  ...given,
});

/** Counts this many requests, the first of which were rejected, and the first of those at once. */
function countIn(usage: Usage, id: UUID, requests: number, rejected = 0): void {
  const account = id.toHexString();
  for (let at = 0; at < requests; at++)
    if (at === 0 && rejected > 0) usage.countRejected(account);
    else usage.count(account, request(randomUUID(), { status: at < rejected ? 429 : 200 }));
}

/** The days with requests, as texts. */
const usedDays = (days: readonly DayOfUse[]) =>
  days.flatMap(({ day, requests, rejected }) =>
    requests === 0 ? [] : [`${day.toISOString()}: ${requests}, ${rejected} rejected`],
  );
const shown = async (usage: Usage, id: UUID) => {
  await usage.flush();
  return usedDays((await usage.last(id, deadlineIn(5_000))).days);
};
const now = (instant: string) => vi.spyOn(Date, "now").mockReturnValue(Date.parse(instant));
const stored = () => client.db().collection("request_counts");
const bulkWrites = () => {
  const collection = Object.getPrototypeOf(stored()) as Collection;
  return { bulkWrite: collection.bulkWrite, spy: vi.spyOn(collection, "bulkWrite") };
};

test("counts the requests of all instances by UTC day, and shows 30 days with those without requests [OPS-75]", async () => {
  const [one, other, ann, bo] = [newUsage(), newUsage(), await newAccount(), await newAccount()];
  for (const [instant, requests] of [
    ["2026-02-28T23:59:59.999Z", 2],
    ["2026-03-01T00:00:00.000Z", 3],
    ["2026-03-29T12:00:00.000Z", 1],
    ["2026-03-30T12:00:00.000Z", 4],
  ] as const) {
    now(instant);
    countIn(one, ann, requests, 1);
    countIn(other, ann, 1);
    await Promise.all([one.flush(), other.flush()]);
  }
  countIn(one, bo, 1);
  expect(usedDays((await one.last(bo, deadlineIn(5_000))).days)).toEqual([]);
  expect(await shown(one, ann)).toEqual([
    "2026-03-01T00:00:00.000Z: 4, 1 rejected",
    "2026-03-29T00:00:00.000Z: 2, 1 rejected",
    "2026-03-30T00:00:00.000Z: 5, 1 rejected",
  ]);
  const days = (await one.last(bo, deadlineIn(5_000))).days;
  expect(days).toHaveLength(30);
  expect(days.map(({ requests }) => requests)).toEqual([...Array.from({ length: 29 }, () => 0), 1]);
  expect(days[0]?.day.toISOString()).toBe("2026-03-01T00:00:00.000Z");
});

test("keeps the last 50 requests of all instances once each, newest first [OPS-75]", async () => {
  const [one, other, id] = [newUsage(), newUsage(), await newAccount()];
  const at = (second: number) => ({ at: new Date(Date.UTC(2026, 2, 1, 12, 0, second)) });
  const account = id.toHexString();
  for (let second = 0; second < 60; second += 2) {
    one.count(account, request(`request ${second}`, at(second)));
    other.count(account, request(`request ${second + 1}`, at(second + 1)));
  }
  for (let second = 60; second < 62; second++) other.count(account, request(`request ${second}`, at(second)));
  const { bulkWrite, spy } = bulkWrites();
  spy.mockImplementationOnce(async function (this: Collection, ...given) {
    await bulkWrite.apply(this, given);
    throw new MongoNetworkError("no response");
  });
  await expect(other.flush()).rejects.toThrow("no response");
  await Promise.all([one.flush(), other.flush()]);
  const last = (await one.last(id, deadlineIn(5_000))).requests;
  expect(last.map((each) => each.id)).toEqual(Array.from({ length: 50 }, (_, nth) => `request ${61 - nth}`));
  expect(last[0]).toEqual(request("request 61", at(61)));
  expect((await one.last(await newAccount(), deadlineIn(5_000))).requests).toEqual([]);
  // A client may send the same id with each request.
  for (const second of [90, 91]) {
    one.count(account, request("the same", at(second)));
    await one.flush();
  }
  expect((await one.last(id, deadlineIn(5_000))).requests.slice(0, 2)).toEqual([
    request("the same", at(91)),
    request("the same", at(90)),
  ]);
  // A thousand requests in memory are not written either.
  for (let nth = 0; nth < 1_000; nth++) one.count(account, request(`later ${nth}`, at(100)));
  await one.flush();
  expect((await one.last(id, deadlineIn(5_000))).requests.map((each) => each.id).sort()).toEqual(
    Array.from({ length: 50 }, (_, nth) => `later ${950 + nth}`),
  );
});

test("a count that is not written yet goes to its own day after midnight [OPS-75]", async () => {
  const [usage, id] = [newUsage(), await newAccount()];
  now("2026-03-01T23:59:59.999Z");
  countIn(usage, id, 2);
  now("2026-03-02T00:00:00.000Z");
  countIn(usage, id, 1);
  expect(await shown(usage, id)).toEqual([
    "2026-03-01T00:00:00.000Z: 2, 0 rejected",
    "2026-03-02T00:00:00.000Z: 1, 0 rejected",
  ]);
});

test("counts each request once, whether MongoDB was unavailable or its response was lost [OPS-75]", async () => {
  const [usage, id] = [newUsage(), await newAccount()];
  now("2026-03-01T12:00:00.000Z");
  const { bulkWrite, spy } = bulkWrites();
  spy.mockRejectedValueOnce(new MongoNetworkError("no response"));
  spy.mockImplementationOnce(async function (this: Collection, ...given) {
    await bulkWrite.apply(this, given);
    throw new MongoNetworkError("no response");
  });
  for (const _ of ["away", "lost"]) {
    countIn(usage, id, 2, 1);
    await expect(usage.flush()).rejects.toThrow("no response");
  }
  countIn(usage, id, 1);
  expect(await shown(usage, id)).toEqual(["2026-03-01T00:00:00.000Z: 5, 2 rejected"]);
  expect(lost).not.toHaveBeenCalled();
});

test("a request that ends after its account was deleted leaves no count [OPS-75, ADM-04]", async () => {
  const [usage, deleted, kept] = [newUsage(), await newAccount(), await newAccount()];
  for (const id of [deleted, kept]) countIn(usage, id, 1);
  await client.db().collection<{ _id: UUID }>("accounts").deleteOne({ _id: deleted });
  await usage.flush();
  expect(await stored().countDocuments({ "_id.account_id": deleted })).toBe(0);
  expect(await stored().countDocuments({ "_id.account_id": kept })).toBe(2);
});

test("between two writes, 10,000 accounts are counted, and the next ones after the write [OPS-75]", async () => {
  const [usage, id] = [newUsage(), await newAccount()];
  for (let others = 0; others < 10_000; others++) countIn(usage, new UUID(), 1);
  countIn(usage, id, 1);
  expect(await shown(usage, id)).toEqual([]);
  countIn(usage, id, 1);
  expect(await shown(usage, id)).toHaveLength(1);
});

test("a stop writes the counts [OPS-75]", async () => {
  const [usage, id] = [newUsage(), await newAccount()];
  countIn(usage, id, 1);
  await usage.close(performance.now());
  expect(await shown(newUsage(), id)).toHaveLength(1);
});
