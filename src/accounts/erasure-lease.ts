// Lease on the erasure of an account, in its document: one sweeper at a time among all instances, taken over when it
// expires.
import type { Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { countUpTo } from "../db/aggregate.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs, isPast } from "../deadline.ts";

/** As it is stored; by the database's clock. */
export interface LeaseDocument {
  owner: UUID;
  expires_at: Date;
}

/** The right to sweep one account. */
export interface ErasureHold {
  /**
   * Until when the next command may run, renewed in time: a delete with this deadline matches nothing afterwards
   * (`Fence`). Undefined once the lease is lost or `isStopped` returns true: nothing more may be deleted.
   */
  permit(): Promise<Deadline | undefined>;
  /** Counts deleted documents; they are written with the next renewal. */
  count(place: string, deleted: number): void;
  /** Ends the lease, and the erasure too where `finished`; does nothing when the lease was lost. */
  release(finished: boolean): Promise<void>;
}

/** Takes the lease on an erasure; undefined while another sweeper has it, or when the erasure is finished. */
export type TakeErasure = (id: UUID, isStopped: () => boolean) => Promise<ErasureHold | undefined>;

/** Long enough for a slow command, short enough that an erasure continues soon after an instance was killed. */
const erasureLeaseMs = 10_000;
/** Also how often an instance writes its progress. */
const renewAfterMs = 1_000;

/** Whether any sweeper has a lease. */
export async function isAnyErasing(client: MongoClient): Promise<boolean> {
  const held = { finished_at: { $exists: false }, $expr: { $gt: ["$lease.expires_at", "$$NOW"] } };
  return (
    (await countUpTo(client.db().collection(collections.erasures), 1, held, {
      comment: "watch",
      deadline: undefined,
    })) > 0
  );
}

/** The leases of a database. */
export function createErasureLeases(client: MongoClient): TakeErasure {
  const erasures = client.db().collection<Document & { _id: UUID }>(collections.erasures);
  const expires_at = { $add: ["$$NOW", erasureLeaseMs] };

  return async (_id, isStopped) => {
    const owner = new UUID();
    const deleted = new Map<string, number>();
    let takenAt = performance.now();
    let lease: Deadline | undefined;
    let renewing: Promise<void> | undefined;

    /** Updates the document with what was deleted since; false where the filter no longer holds. */
    async function update(deadline: Deadline, filter: Document, stages: readonly Document[]): Promise<boolean> {
      const counted = [...deleted];
      const pipeline = [...progressStages(counted), ...stages];
      const { matchedCount } = await write(client, deadline, (options, fence) =>
        // Both have an `$expr`.
        erasures.updateOne({ $and: [{ _id, ...filter }, fence] }, pipeline, options),
      );
      if (matchedCount === 1)
        for (const [place, count] of counted) deleted.set(place, (deleted.get(place) ?? 0) - count);
      return matchedCount === 1;
    }

    /** Counted from before the command: this instance never believes in it for longer than the database does. */
    async function extend(deadline: Deadline, filter: Document): Promise<void> {
      const sentAt = performance.now();
      const held = await update(deadline, filter, [{ $set: { lease: { owner, expires_at } } }]);
      takenAt = sentAt;
      lease = held ? deadlineIn(sentAt + erasureLeaseMs - performance.now()) : undefined;
    }
    const mine = { "lease.owner": owner, $expr: { $gt: ["$lease.expires_at", "$$NOW"] } };

    await extend(deadlineIn(deadlineMs), {
      finished_at: { $exists: false },
      $expr: { $lte: [{ $ifNull: ["$lease.expires_at", new Date(0)] }, "$$NOW"] },
    });
    if (lease === undefined) return undefined;
    return {
      async permit() {
        if (lease === undefined || isStopped() || isPast(lease)) return undefined;
        // Once for all deletes under way: what they have deleted is written once.
        if (performance.now() - takenAt >= renewAfterMs)
          renewing ??= extend(lease, mine).finally(() => (renewing = undefined));
        await renewing;
        return lease;
      },
      count: (place, count) => void deleted.set(place, (deleted.get(place) ?? 0) + count),
      async release(finished) {
        await renewing?.catch(() => undefined);
        if (lease === undefined || isPast(lease)) return;
        const end = finished
          ? [{ $set: { finished_at: "$$NOW" } }, { $unset: ["identities", "lease"] }]
          : [{ $unset: "lease" }];
        await update(lease, mine, end);
        lease = undefined;
      },
    };
  };
}

/** Adds to the counts of deleted documents by place. */
function progressStages(counted: readonly (readonly [place: string, count: number])[]): Document[] {
  if (counted.length === 0) return [];
  const sum = ([place, count]: (typeof counted)[number]) =>
    [`deleted.${place}`, { $add: [{ $ifNull: [`$deleted.${place}`, 0] }, count] }] as const;
  return [{ $set: Object.fromEntries(counted.map(sum)) }];
}
