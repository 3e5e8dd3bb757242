// Imports and erasures of an account with nearly all notes of the database work without the search index of notes,
// which is built afterwards.
import type { Collection, Db, Document, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { countUpTo } from "../db/aggregate.ts";
import { recordsIndex } from "../db/mongo.ts";
import { primaryOf } from "../db/primary.ts";
import type { Background, OnTrouble } from "../db/repeat.ts";
import { repeat } from "../db/repeat.ts";
import type { Deadline } from "../deadline.ts";
import type { SearchIndex } from "../db/search-index.ts";
import { createSearchIndex, termsIndex } from "../db/search-index.ts";
import type { WriteScope } from "../call/scope.ts";
import type { ProgressStore } from "./progress-store.ts";

/** The search index of notes while imports and erasures run. */
export interface BulkLoading {
  /** Takes the index away where that pays, after so many notes of one stream. */
  ease(scope: WriteScope, notes: number): Promise<void>;
  /**
   * The same before all notes of an account are deleted: removing a note from the index costs ten times as much as the
   * rest.
   */
  easeErasure(accountId: UUID): Promise<void>;
  /** Whether the index has to be built. */
  isOwed(): Promise<boolean>;
  /** Whether an import or an erasure runs: it may have dropped the index, and builds it in the end. */
  isBusy(): Promise<boolean>;
  build(): Promise<void>;
  /**
   * Builds the index in the background when it is missing and neither an import nor an erasure runs: one that was
   * interrupted may never continue.
   * `onChange` is called with what happened to the index, for the log.
   */
  follow(onChange: (what: "dropped" | "built") => void, onTrouble: OnTrouble): Background;
}

/** A stream pays for building the index anew once it has written so many notes, and most of all. */
const worthwhile = 5_000;
/** Without the index a search walks the notes of its account: others must not have more than are walked in a moment. */
const mostOfOthers = 10_000;
const { name: hint } = recordsIndex;
const lookEveryMs = 10_000;
/** An import reports about once a second that it lives. */
const silentMs = 60_000;

/** Over the notes of a database; `isErasing` reports whether a sweeper is at work. */
export function createBulkLoading(db: Db, progress: ProgressStore, isErasing: () => Promise<boolean>): BulkLoading {
  let notify: (what: "dropped" | "built") => void = () => undefined;
  const notes = db.collection(collections.notes) as Collection<Document>;
  const index: SearchIndex = createSearchIndex(notes, termsIndex);

  async function isWorthwhile({ accountId, deadline }: WriteScope, written: number): Promise<boolean> {
    if (written < worthwhile || (await notes.estimatedDocumentCount()) > 3 * written) return false;
    return hasNearlyAll(accountId, deadline);
  }
  async function hasNearlyAll(accountId: UUID, deadline: Deadline | undefined): Promise<boolean> {
    // Shards need not agree on which indexes there are.
    if (primaryOf(db.client).sharded()) return false;
    const others = await countUpTo(notes, mostOfOthers + 1, { account_id: { $ne: accountId } }, { hint, deadline });
    return others <= mostOfOthers && (await index.isBuilt());
  }
  const drop = (): Promise<void> => index.drop().then(() => notify("dropped"));
  const build = (): Promise<void> => index.build().then(() => notify("built"));
  const isBusy = async (): Promise<boolean> => (await progress.isAnyLive(silentMs)) || isErasing();

  return {
    async ease(scope, written) {
      if (!(await isWorthwhile(scope, written))) return;
      await drop();
    },
    async easeErasure(accountId) {
      const own = await countUpTo(notes, worthwhile, { account_id: accountId }, { hint, deadline: undefined });
      if (own === worthwhile && (await hasNearlyAll(accountId, undefined))) await drop();
    },
    isOwed: async () => !(await index.isBuilt()),
    isBusy,
    build,
    follow(onChange, onTrouble) {
      notify = onChange;
      return repeat(
        lookEveryMs,
        async () => {
          if (!(await index.isBuilt()) && !(await isBusy())) await build();
        },
        (error) => onTrouble("the search index of notes cannot be built", error),
      );
    },
  };
}
