// Drops the search index of notes for bulk imports and erasures, and rebuilds it afterwards.
import type { Collection, Db, Document, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { countUpTo } from "../db/aggregate.ts";
import { isAway, recordsIndex } from "../db/mongo.ts";
import { primaryOf } from "../db/primary.ts";
import type { Background, OnTrouble } from "../db/run-periodically.ts";
import { runPeriodically } from "../db/run-periodically.ts";
import type { Deadline } from "../call/deadline.ts";
import type { SearchIndex } from "../db/search-index.ts";
import { createSearchIndex, termsIndex } from "../db/search-index.ts";
import type { WriteScope } from "../call/scope.ts";
import type { ProgressStore } from "./progress-store.ts";

/** Manages the search index of notes while one account with nearly all notes is imported or erased. */
export interface BulkLoading {
  /** Drops the index if that saves time, after a stream has written this number of notes. */
  dropIndexIfWorthwhile(scope: WriteScope, notes: number): Promise<void>;
  /**
   * Drops the index if that saves time, before all notes of an account are deleted. Removing a note from the index
   * costs ten times as much as the rest of its deletion.
   */
  dropIndexBeforeErasure(accountId: UUID): Promise<void>;
  /** Whether the index is missing or its build is incomplete. */
  isIndexMissing(): Promise<boolean>;
  /** Whether an import or an erasure is running, which may have dropped the index. */
  isBusy(): Promise<boolean>;
  build(): Promise<void>;
  /**
   * Builds the index in the background if it is missing and no import or erasure is running. An interrupted one may
   * never resume. `onChange` is called when the index was dropped or built, for the log.
   */
  follow(onChange: (what: "dropped" | "built") => void, onTrouble: OnTrouble): Background;
}

/**
 * The minimum number of notes to write or erase before a rebuild of the index saves time. The notes of a stream must
 * also be at least a third of all notes.
 */
const worthwhile = 5_000;
/** The maximum number of notes of other accounts. Without the index, their searches scan these. */
const maxOfOthers = 10_000;
const { name: hint } = recordsIndex;
const lookEveryMs = 10_000;
/**
 * An import without progress for this long counts as ended. A running import writes its progress about once a second.
 */
const silentMs = 60_000;

/** Creates the manager for a database. `isErasing` returns whether any sweeper is at work. */
export function createBulkLoading(db: Db, progress: ProgressStore, isErasing: () => Promise<boolean>): BulkLoading {
  let notify: (what: "dropped" | "built") => void = () => undefined;
  const notes = db.collection(collections.notes) as Collection<Document>;
  const index: SearchIndex = createSearchIndex(notes, termsIndex);

  async function isWorthwhile({ accountId, deadline }: WriteScope, written: number): Promise<boolean> {
    if (written < worthwhile || (await notes.estimatedDocumentCount()) > 3 * written) return false;
    return hasNearlyAll(accountId, deadline);
  }
  async function hasNearlyAll(accountId: UUID, deadline: Deadline | undefined): Promise<boolean> {
    // Shards may have different indexes.
    if (primaryOf(db.client).sharded()) return false;
    const others = await countUpTo(notes, maxOfOthers + 1, { account_id: { $ne: accountId } }, { hint, deadline });
    return others <= maxOfOthers && (await index.isBuilt());
  }
  const drop = (): Promise<void> => index.drop().then(() => notify("dropped"));
  const build = (): Promise<void> => index.build().then(() => notify("built"));
  const isBusy = async (): Promise<boolean> => (await progress.isAnyLive(silentMs)) || isErasing();

  return {
    async dropIndexIfWorthwhile(scope, written) {
      if (!(await isWorthwhile(scope, written))) return;
      await drop();
    },
    async dropIndexBeforeErasure(accountId) {
      const own = await countUpTo(notes, worthwhile, { account_id: accountId }, { hint, deadline: undefined });
      if (own === worthwhile && (await hasNearlyAll(accountId, undefined))) await drop();
    },
    isIndexMissing: async () => !(await index.isBuilt()),
    isBusy,
    build,
    follow(onChange, onTrouble) {
      notify = onChange;
      return runPeriodically(
        lookEveryMs,
        async () => {
          if (!(await index.isBuilt()) && !(await isBusy())) await build();
        },
        (error) => {
          if (!isAway(error)) onTrouble("the search index of notes cannot be built", error);
        },
      );
    },
  };
}
