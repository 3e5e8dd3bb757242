// One stream of an import: collects records into batches, writes them and reports the progress.
import type { ImportRequest, ImportResponse, Rejection } from "../gen/records/ingest/v1/import_pb.ts";
import { ImportRestart } from "../gen/records/ingest/v1/import_pb.ts";
import type { Change, Outcome, RecordName } from "../db/named.ts";
import { Failure, rejectInput } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import { contactFields } from "../contacts/document.ts";
import { maxPaths } from "../guards/mask.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { Batch, Item } from "./batches.ts";
import type { BulkKind } from "./bulk.ts";
import { createBatches, idByPosition } from "./batches.ts";
import type { ImportProgress, ProgressStore } from "./progress-store.ts";
import type { RecordKindName } from "./record-kinds.ts";
import { itemErrorOf } from "./itemwise.ts";
import { openRejections } from "./rejections.ts";
import type { Upsert, Upserts } from "./upserts.ts";

/** The options and dependencies of a stream. */
export interface StreamTarget {
  readonly importId: string;
  /** Whether an item whose names match no contact updates the contact with its email. */
  readonly byEmail: boolean;
  /** Whether to begin at position 0, whatever is stored. */
  readonly restart: ImportRestart;
  /**
   * Returns the right to write to the account. Called for every batch, because the account may be deleted meanwhile.
   */
  scope(): Promise<WriteScope>;
  readonly upserts: Upserts;
  readonly store: ProgressStore;
  /** Called with the number of items that were written or rejected. */
  onItems(outcome: "written" | "rejected", count: number): void;
}

/** One stream of an import, which begins or resumes it. */
export interface ImportStream {
  /**
   * Yields the first responses, with the position to resume at and the rejections that the client has not acknowledged.
   */
  begin(first: Pick<ImportRequest, "acknowledgedPosition">): Iterable<ImportResponse>;
  /** Adds the records of a message and yields the batches that are full. Skips records that are already settled. */
  take(request: Omit<ImportRequest, "accountId" | "importId" | "updateByEmail" | "restart">): Iterable<Batch>;
  write(batch: Batch): Promise<void>;
  /** Returns the number of contacts that this stream has created, or of notes that it has written. */
  newlyIndexed(kind: BulkKind): number;
  isReportDue(): boolean;
  /**
   * Writes all received records, stores the progress and returns it. The client resends only records from the reported
   * position on. `finished` is true at the end of the import.
   */
  settle(finished?: boolean): Promise<ImportResponse>;
}

/** The interval between two reports of progress. */
export const reportEveryMs = 1_000;
const maxNameLength = 200;

async function progressAtBegin({ importId, restart, store }: StreamTarget, scope: WriteScope): Promise<ImportProgress> {
  const stored = restart === ImportRestart.ALWAYS ? undefined : await store.read(scope, importId);
  const isResumed = stored !== undefined && (restart !== ImportRestart.IF_FINISHED || !stored.finished);
  return isResumed ? stored : store.restart(scope, importId);
}

/** Reads the progress of the import with this id, and opens a stream at its position. */
export async function openImportStream(target: StreamTarget): Promise<ImportStream> {
  const { importId, scope, store, onItems } = target;
  const begunAt = performance.now();
  const begun = await scope();
  const before = await progressAtBegin(target, begun);
  const batches = createBatches(idByPosition(begun.accountId, importId));
  const written: Record<RecordKindName, number> = { ...before.written };
  const contactChanges: Record<Change, number> = { ...before.contactChanges };
  const rejections = await openRejections(before.unacknowledged);
  let { position, rejected } = before;
  let received = 0;
  let fields: ReadonlySet<string> | undefined;
  let reportedAt = begunAt;

  async function write({ kind, items, positions }: Batch): Promise<void> {
    const outcomes = await outcomesOf(target, fields, { kind, items, positions });
    for (const change of outcomes.flatMap(changeOf)) contactChanges[change] += 1;
    const rejectedNow = rejectionsOf(outcomes, items, positions);
    const writtenNow = outcomes.length - rejectedNow.length;
    if (kind !== undefined) written[kind] += writtenNow;
    rejected += rejectedNow.length;
    rejections.add(rejectedNow);
    onItems("rejected", rejectedNow.length);
    onItems("written", writtenNow);
  }

  function report(reported: Rejection[]): ImportResponse {
    reportedAt = performance.now();
    const rate = (position - before.position) / (reportedAt - begunAt);
    return responseOf({ importId, position, written, rejected, contactChanges }, reported, rate);
  }

  return {
    *begin({ acknowledgedPosition }) {
      rejections.acknowledge(Number(acknowledgedPosition));
      const repeated = rejections.repeated();
      for (const [at, piece] of repeated.entries())
        yield { ...report(piece), moreRejections: at < repeated.length - 1 };
    },
    *take({ position: place, records, acknowledgedPosition, contactFields: listed, ...rest }) {
      requireAllRead(rest);
      if (listed !== undefined) fields = fieldsOf(listed, received > 0);
      rejections.acknowledge(Number(acknowledgedPosition));
      if (place !== undefined) received = placeOf(place, received, before.position);
      for (const record of records) {
        const at = received++;
        if (at >= before.position) yield* batches.add(record, at);
      }
    },
    write,
    newlyIndexed: (kind) =>
      kind === "note"
        ? notesIn(written) - notesIn(before.written)
        : contactChanges.created - before.contactChanges.created,
    isReportDue: () => performance.now() - reportedAt >= reportEveryMs || rejections.isLarge(),
    async settle(finished = false) {
      for (const batch of batches.rest()) await write(batch);
      position = Math.max(received, before.position);
      const reported = rejections.take();
      const unacknowledged = await rejections.stored();
      const progress = { position, rejected, written, contactChanges, unacknowledged, finished };
      await store.write(await scope(), importId, progress);
      return report(reported);
    },
  };
}

async function outcomesOf(
  { upserts, byEmail, scope }: StreamTarget,
  fields: ReadonlySet<string> | undefined,
  { kind, items, positions }: Pick<Batch, "kind" | "items" | "positions">,
): Promise<readonly Outcome[]> {
  if (kind === undefined) return positions.map(() => ({ failure: empty }));
  const isMerged = kind === "contacts" && (byEmail || fields !== undefined);
  const upsert = (isMerged ? upserts.mergedContacts({ byEmail, fields }) : upserts[kind]) as Upsert<Item>;
  return upsert(await scope(), items);
}

const fieldNames: ReadonlySet<string> = new Set([
  ...Object.values(contactFields.texts),
  ...Object.values(contactFields.times),
]);

/**
 * Returns the listed fields. Fails with INVALID_REQUEST if the list comes too late, is too long, or has an unknown
 * field.
 */
function fieldsOf({ paths }: { readonly paths: readonly string[] }, isLate: boolean): ReadonlySet<string> {
  const reject = (rule: string, message: string): never => rejectInput([{ field: "contact_fields", rule, message }]);
  if (isLate) reject("order", "must be in a message before the first record, or with it");
  if (paths.length > maxPaths) reject("update_mask", `must have at most ${maxPaths} paths`);
  if (!paths.every((path) => fieldNames.has(path)))
    reject("in", `must contain only fields of a contact: ${[...fieldNames].join(", ")}`);
  return new Set(paths);
}

function changeOf(outcome: Outcome): readonly Change[] {
  return "failure" in outcome || outcome.change === undefined ? [] : [outcome.change];
}

/**
 * Returns the progress as a message. `perMs` is the number of settled records per millisecond. It is not finite if no
 * time has passed.
 */
function responseOf(
  {
    importId,
    position,
    written,
    rejected,
    contactChanges,
  }: Omit<ImportProgress, "finished"> & {
    readonly importId: string;
  },
  rejections: Rejection[],
  perMs: number,
): ImportResponse {
  return {
    $typeName: "records.ingest.v1.ImportResponse",
    importId,
    position: BigInt(position),
    written: {
      $typeName: "records.ingest.v1.RecordCounts",
      contacts: BigInt(written.contacts),
      sessions: BigInt(written.sessions),
      transcripts: BigInt(written.transcripts),
      sessionNotes: BigInt(written.session_notes),
      contactNotes: BigInt(written.contact_notes),
    },
    rejected: BigInt(rejected),
    rate: Number.isFinite(perMs) ? perMs * 1_000 : 0,
    rejections,
    contactChanges: {
      $typeName: "records.ingest.v1.ContactChanges",
      created: BigInt(contactChanges.created),
      updated: BigInt(contactChanges.updated),
      unchanged: BigInt(contactChanges.unchanged),
    },
    done: false,
    indexing: false,
    moreRejections: false,
  };
}

const empty = new Failure(Reason.INVALID_REQUEST, {
  message: "must contain one record: contact, session, transcript, session_note or contact_note",
});

/** Returns the position of a message. A stream begins at or before the settled position, and skips no record. */
function placeOf(position: bigint, received: number, settled: number): number {
  const place = Number(position);
  if (received === 0 && place <= settled) return place;
  if (place !== received)
    rejectInput([
      {
        field: "position",
        rule: "order",
        message:
          received === 0
            ? `must be at most ${settled}, the current position of the import`
            : `must be ${received}, the position after the previous record`,
      },
    ]);
  return place;
}

function notesIn(counts: ImportProgress["written"]): number {
  return counts.session_notes + counts.contact_notes;
}

function namesOf(item: Item | undefined): RecordName {
  return item === undefined || item.$typeName === "records.ingest.v1.TranscriptItem" ? {} : item;
}

function rejectionsOf(
  outcomes: readonly Outcome[],
  items: readonly Item[],
  positions: readonly number[],
): readonly Rejection[] {
  return outcomes.flatMap((outcome, at) =>
    "failure" in outcome ? [rejection(positions[at] ?? 0, items[at], outcome.failure)] : [],
  );
}

function rejection(position: number, item: Item | undefined, failure: Failure): Rejection {
  const { id, externalId } = namesOf(item);
  return {
    $typeName: "records.ingest.v1.Rejection",
    position: BigInt(position),
    ...(isShort(id) ? { id } : {}),
    ...(isShort(externalId) ? { externalId } : {}),
    error: itemErrorOf(failure),
  };
}

/** Whether a name is short enough for a record. A longer, rejected name could be as long as a message. */
function isShort(name: string | undefined): name is string {
  return name !== undefined && name.length <= maxNameLength;
}
