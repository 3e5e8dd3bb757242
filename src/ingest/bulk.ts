// Drops the search indexes of contacts and notes for bulk imports and erasures, and rebuilds them afterwards.
import type { Collection, Db, Document, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { countUpTo } from "../db/aggregate.ts";
import { indexesOf } from "../db/indexes.ts";
import { ignoreMissingIndex, isAway, recordsIndex } from "../db/mongo.ts";
import { primaryOf } from "../db/primary.ts";
import type { Background, OnTrouble } from "../db/run-periodically.ts";
import { runPeriodically } from "../db/run-periodically.ts";
import type { Deadline } from "../call/deadline.ts";
import { searchIndex, termsIndex } from "../db/search-index.ts";
import type { WriteScope } from "../call/scope.ts";
import type { ProgressStore } from "./progress-store.ts";

/** The kinds of records whose search index a large import drops. */
export type BulkKind = "contact" | "note";

/** Manages the search indexes while one account with nearly all contacts or notes is imported or erased. */
export interface BulkLoading {
  /** Drops the index of a kind if that saves time, after a stream has written this number of records of the kind. */
  dropIndexIfWorthwhile(scope: WriteScope, kind: BulkKind, written: number): Promise<void>;
  /**
   * Drops the index of notes if that saves time, before all notes of an account are deleted. Removing a note from the
   * index costs ten times as much as the rest of its deletion.
   */
  dropIndexBeforeErasure(accountId: UUID): Promise<void>;
  /** Whether an index is missing or its build is incomplete. */
  isIndexMissing(): Promise<boolean>;
  /** Whether an import or an erasure is running, which may have dropped an index. */
  isBusy(): Promise<boolean>;
  build(): Promise<void>;
  /**
   * Builds missing indexes in the background if no import or erasure is running. An interrupted one may never resume.
   * `onChange` is called when an index was dropped or built, for the log.
   */
  follow(onChange: (what: "dropped" | "built", kind: BulkKind) => void, onTrouble: OnTrouble): Background;
}

/**
 * The minimum number of records to write or erase before a rebuild of the index saves time. The records of a stream
 * must also be at least a third of all records of the kind.
 */
const worthwhile = 5_000;
/** The maximum number of records of other accounts. Without the index, their searches scan these. */
const maxOfOthers = 10_000;
export const bulkKinds: readonly BulkKind[] = ["contact", "note"];
const { name: hint } = recordsIndex;
const lookEveryMs = 10_000;
/**
 * An import without progress for this long counts as ended. A running import writes its progress about once a second.
 */
const silentMs = 60_000;

/** Creates the manager for a database. `isErasing` returns whether any sweeper is at work. */
export function createBulkLoading(db: Db, progress: ProgressStore, isErasing: () => Promise<boolean>): BulkLoading {
  let notify: (what: "dropped" | "built", kind: BulkKind) => void = () => undefined;
  const kinds = {
    contact: of("contact", db.collection(collections.contacts)),
    note: of("note", db.collection(collections.notes)),
  };

  function of(kind: BulkKind, records: Collection<Document>) {
    async function isBuilt(): Promise<boolean> {
      const present = await indexesOf(db, records.collectionName);
      return present.some(({ name, building }) => name === searchIndex && !building);
    }
    return {
      records,
      isBuilt,
      async drop(): Promise<void> {
        await records.dropIndex(searchIndex).catch(ignoreMissingIndex);
        notify("dropped", kind);
      },
      /** Resolves when the index can be used. Concurrent builds become one. */
      async build(): Promise<void> {
        await records.createIndexes([termsIndex]);
        notify("built", kind);
      },
      async hasNearlyAll(accountId: UUID, deadline: Deadline | undefined): Promise<boolean> {
        // Shards may have different indexes.
        if (primaryOf(db.client).sharded()) return false;
        const others = await countUpTo(
          records,
          maxOfOthers + 1,
          { account_id: { $ne: accountId } },
          { hint, deadline },
        );
        return others <= maxOfOthers && (await isBuilt());
      },
    };
  }
  async function missing(): Promise<readonly BulkKind[]> {
    const built = await Promise.all(bulkKinds.map((kind) => kinds[kind].isBuilt()));
    return bulkKinds.filter((_, at) => built[at] === false);
  }
  async function build(): Promise<void> {
    for (const kind of await missing()) await kinds[kind].build();
  }
  const isBusy = async (): Promise<boolean> => (await progress.isAnyLive(silentMs)) || isErasing();

  return {
    async dropIndexIfWorthwhile({ accountId, deadline }, kind, written) {
      const { records, hasNearlyAll, drop } = kinds[kind];
      if (written < worthwhile || (await records.estimatedDocumentCount()) > 3 * written) return;
      if (await hasNearlyAll(accountId, deadline)) await drop();
    },
    async dropIndexBeforeErasure(accountId) {
      const { records, hasNearlyAll, drop } = kinds.note;
      const own = await countUpTo(records, worthwhile, { account_id: accountId }, { hint, deadline: undefined });
      if (own === worthwhile && (await hasNearlyAll(accountId, undefined))) await drop();
    },
    isIndexMissing: async () => (await missing()).length > 0,
    isBusy,
    build,
    follow(onChange, onTrouble) {
      notify = onChange;
      return runPeriodically(
        lookEveryMs,
        async () => {
          if ((await missing()).length > 0 && !(await isBusy())) await build();
        },
        (error) => {
          if (!isAway(error)) onTrouble("a search index cannot be built", error);
        },
      );
    },
  };
}
