// Requests of each account by UTC day: counted in memory, and added to the database every few seconds.
import type { Db } from "mongodb";
import { MaxKey, MinKey, UUID } from "mongodb";
import { findAll } from "../db/aggregate.ts";
import { createBatchWriter } from "../db/batch-writer.ts";
import { collections } from "../db/collections.ts";
import { fenceStage, rethrowTooLate } from "../db/fence.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import type { OnTrouble } from "../db/run-periodically.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";

/** The requests of a day. `rejected` are those of them that failed with 429. */
export interface DayOfUse {
  /** The first instant of the day. */
  readonly day: Date;
  readonly requests: number;
  readonly rejected: number;
}

/** The counts of all accounts. They are approximate: an instance that is killed loses those of the last seconds. */
export interface Usage {
  /** Counts a finished request of the account with this id, in memory. */
  count(account: string, isRejected: boolean): void;
  /** Returns the last 30 days as written so far, oldest first, including those without requests. */
  lastDays(accountId: UUID, deadline: Deadline): Promise<DayOfUse[]>;
  /** Writes all counts. Rejects if MongoDB is unavailable. */
  flush(): Promise<void>;
  /**
   * Writes the counts when the instance stops. Tries until `until`, in milliseconds of `performance.now()`, and reports
   * the counts that are lost.
   */
  close(until: number): Promise<void>;
}

/** The stored counts of a day of an account. */
interface UsageDocument {
  _id: { account_id: UUID; day: Date };
  requests: number;
  rejected: number;
  /** The newest parts. A part is written again if its acknowledgement was lost, and must not count twice. */
  parts: UUID[];
}

/** Requests of an account that this instance adds in one write. */
interface Part {
  readonly id: UUID;
  readonly account: string;
  readonly day: number;
  requests: number;
  rejected: number;
}

const shownDays = 30;
const dayMs = 86_400_000;
const writeAfterMs = 5_000;
/** Bounds the memory between two writes. Requests of further accounts are not counted. */
const maxAccounts = 10_000;
/** The number of parts in a command, so that requests do not wait for it. */
const atOnce = 500;
/** More than all instances write while one of them repeats a failed write. */
const maxParts = 20;

export const usageCollection: CollectionSpec = {
  collection: collections.requestCounts,
  erasure: {
    key: "_id",
    hint: "_id_",
    filter: ({ id }) => ({
      _id: { $gte: { account_id: id, day: new MinKey() }, $lte: { account_id: id, day: new MaxKey() } },
    }),
  },
  indexes: [{ key: { "_id.day": 1 }, name: "expiry", expireAfterSeconds: ((shownDays + 1) * dayMs) / 1_000 }],
};

/** Creates the counts. `onTrouble` is called when some are lost. */
export function createUsage(db: Db, onTrouble: OnTrouble): Usage {
  const days = db.collection<UsageDocument>(collections.requestCounts);
  const accounts = db.collection(collections.accounts);
  /** The parts that are not being written yet, by account. */
  const open = new Map<string, Part>();

  async function addAll(parts: readonly Part[]): Promise<void> {
    // From here on, the parts do not change: a repeated write must add the same.
    open.clear();
    for (let at = 0; at < parts.length; at += atOnce) await add(parts.slice(at, at + atOnce));
  }

  async function add(parts: readonly Part[]): Promise<void> {
    const deadline = deadlineIn(deadlineMs);
    const ids = [...new Set(parts.map(({ account }) => account))].map((account) => UUID.createFromHexString(account));
    // A response can end minutes after its account was deleted. An upsert would leave the count there for a month.
    const existing = await findAll(
      accounts,
      { _id: { $in: ids } },
      { projection: { _id: 1 }, comment: "watch", deadline },
    );
    const names = new Set(existing.map(({ _id }) => String(_id)));
    const kept = parts.filter(({ account }) => names.has(account));
    if (kept.length === 0) return;
    await write(db.client, deadline, (options, fence) =>
      days
        .bulkWrite(
          kept.map((part) => ({
            updateOne: { filter: { _id: idOf(part) }, update: [adding(part), fenceStage(fence)], upsert: true },
          })),
          { ordered: false, comment: "watch", ...options },
        )
        .catch(rethrowTooLate),
    );
  }

  const parts = createBatchWriter<Part>(writeAfterMs, addAll, (error) =>
    onTrouble("counts of requests were lost", error),
  );

  return {
    count(account, isRejected) {
      const day = Math.floor(Date.now() / dayMs);
      let part = open.get(account);
      if (part?.day !== day) {
        if (open.size >= maxAccounts) return;
        part = { id: new UUID(), account, day, requests: 0, rejected: 0 };
        open.set(account, part);
        parts.add(part);
      }
      part.requests += 1;
      if (isRejected) part.rejected += 1;
    },
    async lastDays(accountId, deadline) {
      const today = Math.floor(Date.now() / dayMs);
      const [first, last] = [today - shownDays + 1, today].map((day) => ({
        account_id: accountId,
        day: new Date(day * dayMs),
      }));
      const found = await findAll<UsageDocument>(days, { _id: { $gte: first, $lte: last } }, { deadline });
      const counts = new Map(found.map(({ _id, requests, rejected }) => [_id.day.getTime(), { requests, rejected }]));
      return Array.from({ length: shownDays }, (_, at) => {
        const day = new Date((today - shownDays + 1 + at) * dayMs);
        return { day, ...(counts.get(day.getTime()) ?? { requests: 0, rejected: 0 }) };
      });
    },
    flush: parts.flush,
    close: parts.close,
  };
}

function idOf({ account, day }: Part): UsageDocument["_id"] {
  return { account_id: UUID.createFromHexString(account), day: new Date(day * dayMs) };
}

/** Returns the stage that adds a part, unless the document has it already. */
function adding({ id, requests, rejected }: Part) {
  const known = { $ifNull: ["$parts", []] };
  const isNew = { $not: { $in: [id, known] } };
  const sum = (field: string, count: number) => ({ $add: [{ $ifNull: [field, 0] }, { $cond: [isNew, count, 0] }] });
  return {
    $set: {
      requests: sum("$requests", requests),
      rejected: sum("$rejected", rejected),
      parts: { $cond: [isNew, { $slice: [{ $concatArrays: [known, [id]] }, -maxParts] }, known] },
    },
  };
}
