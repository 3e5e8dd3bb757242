// Lease on an account's erasure, stored in its document: one sweeper at a time, replaced when the lease expires.
import type { Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { countUpTo } from "../db/aggregate.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs, isPast } from "../call/deadline.ts";

/** The stored lease. Times are by the database's clock. */
export interface LeaseDocument {
  owner: UUID;
  expires_at: Date;
}

/** The lease on one account's erasure, held by this sweeper. */
export interface HeldErasureLease {
  /**
   * Returns the deadline of the next command, and renews the lease in time. A delete with this deadline matches nothing
   * afterwards (`Fence`). Returns undefined once the lease is lost or `isStopped` returns true: nothing more may be
   * deleted then.
   */
  permit(): Promise<Deadline | undefined>;
  /** Counts deleted documents. The next renewal writes the counts. */
  count(place: string, deleted: number): void;
  /** Ends the lease, and also the erasure if `finished`. Does nothing if the lease is lost. */
  release(finished: boolean): Promise<void>;
}

/** Acquires the lease on an erasure. Returns undefined if another sweeper holds it or the erasure is finished. */
export type AcquireErasureLease = (id: UUID, isStopped: () => boolean) => Promise<HeldErasureLease | undefined>;

/** Long enough for a slow command, and short enough that an erasure resumes soon after an instance is killed. */
const erasureLeaseMs = 10_000;
/** Also the interval at which an instance writes its progress. */
const renewAfterMs = 1_000;

/** Whether any sweeper holds a lease. */
export async function isAnyErasing(client: MongoClient): Promise<boolean> {
  const held = { finished_at: { $exists: false }, $expr: { $gt: ["$lease.expires_at", "$$NOW"] } };
  return (
    (await countUpTo(client.db().collection(collections.erasures), 1, held, {
      comment: "watch",
      deadline: undefined,
    })) > 0
  );
}

/** Creates the function that acquires leases in this database. */
export function createErasureLeases(client: MongoClient): AcquireErasureLease {
  const erasures = client.db().collection<Document & { _id: UUID }>(collections.erasures);
  const expires_at = { $add: ["$$NOW", erasureLeaseMs] };

  return async (_id, isStopped) => {
    const owner = new UUID();
    const deleted = new Map<string, number>();
    let takenAt = performance.now();
    let lease: Deadline | undefined;
    let renewing: Promise<void> | undefined;

    /** Updates the document, including the counts. Returns false if the filter no longer matches. */
    async function update(deadline: Deadline, filter: Document, stages: readonly Document[]): Promise<boolean> {
      const counted = [...deleted];
      const pipeline = [...progressStages(counted), ...stages];
      const { matchedCount } = await write(client, deadline, (options, fence) =>
        // The filter and the fence both have an `$expr`, which a spread would overwrite.
        erasures.updateOne({ $and: [{ _id, ...filter }, fence] }, pipeline, options),
      );
      if (matchedCount === 1)
        for (const [place, count] of counted) deleted.set(place, (deleted.get(place) ?? 0) - count);
      return matchedCount === 1;
    }

    /** Acquires or renews the lease. It begins before the command, so it never ends later than in the database. */
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
        // Concurrent deletes share one renewal, so their counts are written only once.
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

/** Returns the stages that add to the counts of deleted documents by place. */
function progressStages(counted: readonly (readonly [place: string, count: number])[]): Document[] {
  if (counted.length === 0) return [];
  const sum = ([place, count]: (typeof counted)[number]) =>
    [`deleted.${place}`, { $add: [{ $ifNull: [`$deleted.${place}`, 0] }, count] }] as const;
  return [{ $set: Object.fromEntries(counted.map(sum)) }];
}
