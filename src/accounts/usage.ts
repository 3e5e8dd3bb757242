// Requests of each account: counted by UTC day, the newest ones kept, and all added to the database every few seconds.
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

/** A finished request, without anything of its content. */
export interface RecentRequest {
  readonly id: string;
  readonly at: Date;
  /** Such as `GET`. */
  readonly method: string;
  /** The template of the path, and the tools that an assistant called. */
  readonly route: string;
  /** The status on REST of its outcome. */
  readonly status: number;
  readonly ms: number;
}

/** The requests of an account. */
export interface AccountUsage {
  /** The last 30 days, oldest first, including those without requests. */
  readonly days: readonly DayOfUse[];
  /** The last 50 requests, newest first. */
  readonly requests: readonly RecentRequest[];
}

/** The requests of all accounts. They are approximate: an instance that is killed loses those of the last seconds. */
export interface Usage {
  /** Counts a finished request of the account with this id, in memory, and keeps it among the newest ones. */
  count(account: string, request: RecentRequest): void;
  /** Counts a request that was rejected with 429 at once. Only its number is known. */
  countRejected(account: string): void;
  /** Returns the requests of an account as written so far. */
  last(accountId: UUID, deadline: Deadline): Promise<AccountUsage>;
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

/** The stored newest requests of an account, beside its days. */
interface RecentDocument {
  _id: { account_id: UUID; day: null };
  recent: RecentRequest[];
}

type Stored = UsageDocument | RecentDocument;

/** Requests of an account that this instance adds in one write. */
interface Part {
  readonly id: UUID;
  readonly account: string;
  readonly day: number;
  requests: number;
  rejected: number;
  /** Oldest first. */
  readonly recent: RecentRequest[];
}

const [shownDays, shownRequests] = [30, 50];
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
  const stored = db.collection<Stored>(collections.requestCounts);
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
    await write(db.client, deadline, (options, fence) => {
      const updates = kept.flatMap((part) =>
        [adding(part), ...addingRecent(part)].map(({ _id, stage }) => ({
          updateOne: { filter: { _id }, update: [stage, fenceStage(fence)], upsert: true },
        })),
      );
      return stored.bulkWrite(updates, { ordered: false, comment: "watch", ...options }).catch(rethrowTooLate);
    });
  }

  const parts = createBatchWriter<Part>(writeAfterMs, addAll, (error) =>
    onTrouble("counts of requests were lost", error),
  );

  /** Returns today's open part of an account; undefined if there are too many. */
  function partOf(account: string): Part | undefined {
    const day = Math.floor(Date.now() / dayMs);
    const known = open.get(account);
    if (known?.day === day) return known;
    if (open.size >= maxAccounts) return undefined;
    const part = { id: new UUID(), account, day, requests: 0, rejected: 0, recent: [] };
    open.set(account, part);
    parts.add(part);
    return part;
  }

  return {
    count(account, request) {
      const part = partOf(account);
      if (part === undefined) return;
      part.requests += 1;
      if (request.status === 429) part.rejected += 1;
      if (part.recent.push(request) > shownRequests) part.recent.shift();
    },
    countRejected(account) {
      const part = partOf(account);
      if (part === undefined) return;
      part.requests += 1;
      part.rejected += 1;
    },
    async last(accountId, deadline) {
      const today = Math.floor(Date.now() / dayMs);
      // The document with the newest requests comes before the days.
      const [first, last] = [null, new Date(today * dayMs)].map((day) => ({ account_id: accountId, day }));
      const found = await findAll<Stored>(stored, { _id: { $gte: first, $lte: last } }, { deadline });
      const counts = new Map(found.flatMap((one) => ("recent" in one ? [] : [[one._id.day.getTime(), one] as const])));
      const days = Array.from({ length: shownDays }, (_, at) => {
        const day = new Date((today - shownDays + 1 + at) * dayMs);
        const { requests, rejected } = counts.get(day.getTime()) ?? { requests: 0, rejected: 0 };
        return { day, requests, rejected };
      });
      return { days, requests: found.flatMap((one) => ("recent" in one ? one.recent : [])) };
    },
    flush: parts.flush,
    close: parts.close,
  };
}

/** An update of one document. */
interface Addition {
  readonly _id: Stored["_id"];
  readonly stage: object;
}

/** Returns the update that adds a part, unless the document has it already. */
function adding({ id, account, day, requests, rejected }: Part): Addition {
  const known = { $ifNull: ["$parts", []] };
  const isNew = { $not: { $in: [id, known] } };
  const sum = (field: string, count: number) => ({ $add: [{ $ifNull: [field, 0] }, { $cond: [isNew, count, 0] }] });
  return {
    _id: { account_id: UUID.createFromHexString(account), day: new Date(day * dayMs) },
    stage: {
      $set: {
        requests: sum("$requests", requests),
        rejected: sum("$rejected", rejected),
        parts: { $cond: [isNew, { $slice: [{ $concatArrays: [known, [id]] }, -maxParts] }, known] },
      },
    },
  };
}

/** Returns the update that keeps the requests of a part among the newest ones. A repeated update changes nothing. */
function addingRecent({ account, recent }: Part): readonly Addition[] {
  if (recent.length === 0) return [];
  const added = { $literal: recent };
  // Not by their ids, which clients may choose and repeat.
  const others = { $filter: { input: { $ifNull: ["$recent", []] }, cond: { $not: { $in: ["$$this", added] } } } };
  const all = { $concatArrays: [others, added] };
  const newestFirst = { $sortArray: { input: all, sortBy: { at: -1 } } };
  return [
    {
      _id: { account_id: UUID.createFromHexString(account), day: null },
      stage: { $set: { recent: { $slice: [newestFirst, shownRequests] } } },
    },
  ];
}
