// Import: a stream of records in, a stream of progress out; what was cut off goes on where it was.
import { randomUUID } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ImportRequest, ImportResponse, Rejection } from "../gen/records/ingest/v1/import_pb.ts";
import type {
  ContactItem,
  ContactNoteItem,
  SessionItem,
  SessionNoteItem,
  TranscriptItem,
} from "../gen/records/ingest/v1/items_pb.ts";
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../gen/records/ingest/v1/items_pb.ts";
import type { Violation } from "../errors.ts";
import { Failure, refuse } from "../errors.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { ItemName, Outcome } from "./batch.ts";
import type { Batch, Item } from "./batches.ts";
import { createBatches, idByPlace } from "./batches.ts";
import type { BulkLoading } from "./bulk.ts";
import type { ContactIngest } from "./contacts.ts";
import { byRulesOf, itemwise } from "./itemwise.ts";
import type { NoteIngest } from "./notes.ts";
import type { ImportProgress, ProgressStore, RecordKindName } from "./progress-store.ts";
import type { SessionIngest } from "./sessions.ts";

/** Gives the right to write into an account. Fails with NOT_FOUND when there is no such account. */
export type ScopeFor = (accountId: string) => Promise<WriteScope>;

/** Counts imports and their records. */
export interface ImportWatch {
  /** An import has ended: `done`, `failed`, or `broken_off` by its sender. */
  ended(outcome: "done" | "failed" | "broken_off"): void;
  /** So many records were written or rejected. */
  items(outcome: "written" | "rejected", count: number): void;
}

/** Imports a stream of records. */
export type Import = (requests: AsyncIterable<ImportRequest>, scopeFor: ScopeFor) => AsyncIterable<ImportResponse>;

const tellEveryMs = 1_000;

/** Over what writes each kind of record. */
export function createImport(
  contacts: ContactIngest,
  sessions: SessionIngest,
  notes: NoteIngest,
  store: ProgressStore,
  bulk: BulkLoading,
  watch: ImportWatch,
): Import {
  const checks: Readonly<Record<RecordKindName, (item: Item) => readonly Violation[]>> = {
    contacts: byRulesOf(ContactItemSchema),
    sessions: byRulesOf(SessionItemSchema),
    transcripts: byRulesOf(TranscriptItemSchema),
    session_notes: byRulesOf(SessionNoteItemSchema),
    contact_notes: byRulesOf(ContactNoteItemSchema),
  };
  const writers: Readonly<Record<RecordKindName, (scope: WriteScope, items: readonly Item[]) => Promise<Outcome[]>>> = {
    contacts: (scope, items) => contacts.upsert(scope, items as ContactItem[]),
    sessions: (scope, items) => sessions.upsert(scope, items as SessionItem[]),
    transcripts: (scope, items) => sessions.putTranscripts(scope, items as TranscriptItem[]),
    session_notes: (scope, items) => notes.upsertOfSessions(scope, items as SessionNoteItem[]),
    contact_notes: (scope, items) => notes.upsertOfContacts(scope, items as ContactNoteItem[]),
  };

  function write(scope: WriteScope, { kind, items, positions }: Batch): Promise<Outcome[]> {
    if (kind === undefined) return Promise.resolve(positions.map(() => ({ failure: empty })));
    return itemwise(items, checks[kind], (right) => writers[kind](scope, right));
  }

  return async function* (requests, scopeFor) {
    let outcome: Parameters<ImportWatch["ended"]>[0] = "broken_off";
    try {
      yield* importAll(requests, scopeFor);
      outcome = "done";
    } catch (error) {
      if (!isOfSender(error)) outcome = "failed";
      throw error;
    } finally {
      watch.ended(outcome);
    }
  };

  async function* importAll(requests: AsyncIterable<ImportRequest>, scopeFor: ScopeFor): AsyncIterable<ImportResponse> {
    const iterator = requests[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done === true || first.value.accountId === "")
      refuse([{ field: "account_id", rule: "required", message: "is required in the first message" }]);
    const { accountId, importId } = first.value;
    const stream = await begin(accountId, importId === "" ? randomUUID() : importId, scopeFor);
    yield stream.tell();
    for (let next: IteratorResult<ImportRequest> = first; next.done !== true; next = await iterator.next()) {
      requireSame("account_id", next.value.accountId, accountId);
      requireSame("import_id", next.value.importId, importId);
      for (const batch of stream.take(next.value)) await stream.write(batch);
      if (stream.isTimeToTell()) {
        yield await stream.settle();
        await stream.ease();
      }
    }
    for await (const waiting of indexed(stream)) yield waiting;
    yield { ...(await stream.settle()), done: true };
  }

  /** Builds the search index where it was taken away, and tells that it lives meanwhile. */
  async function* indexed(run: { settle(): Promise<ImportResponse> }): AsyncIterable<ImportResponse> {
    if (!(await bulk.isOwed())) return;
    let building = true;
    const built = bulk.build().finally(() => (building = false));
    // Where telling fails first, nobody waits for the index any more.
    built.catch(() => undefined);
    while (building) {
      yield { ...(await run.settle()), indexing: true };
      await Promise.race([built, new Promise((resolve) => setTimeout(resolve, tellEveryMs))]);
    }
    await built;
  }

  /** One stream of an import. */
  async function begin(accountId: string, importId: string, scopeFor: ScopeFor) {
    const begunAt = performance.now();
    const before = await store.read(await scopeFor(accountId), importId);
    const scopeOfBatch = (): Promise<WriteScope> => scopeFor(accountId);
    const batches = createBatches(idByPlace((await scopeOfBatch()).accountId, importId));
    const progress: Mutable<ImportProgress> = { ...before, written: { ...before.written } };
    const written: Record<RecordKindName, number> = { ...before.written };
    let rejections: Rejection[] = [];
    let received = 0;
    let toldAt = begunAt;

    return {
      /** The batches that a message fills; records that are settled already are passed over. */
      *take({ position, records }: ImportRequest): Iterable<Batch> {
        if (position !== undefined) received = placeOf(position, received, before.position);
        for (const record of records) {
          const place = received++;
          if (place >= before.position) yield* batches.add(record, place);
        }
      },
      async write(batch: Batch): Promise<void> {
        const outcomes = await write(await scopeOfBatch(), batch);
        for (const [at, outcome] of outcomes.entries()) {
          if (!("failure" in outcome)) {
            if (batch.kind !== undefined) written[batch.kind]++;
            continue;
          }
          progress.rejected++;
          rejections.push(rejection(batch.positions[at] ?? 0, batch.items[at], outcome.failure));
        }
        const rejected = outcomes.filter((outcome) => "failure" in outcome).length;
        watch.items("rejected", rejected);
        watch.items("written", outcomes.length - rejected);
      },
      // What earlier streams have written may be indexed by now.
      ease: async () => bulk.ease(await scopeOfBatch(), notesIn(written) - notesIn(before.written)),
      isTimeToTell: () => performance.now() - toldAt >= tellEveryMs,
      /** Writes all that was received, and tells: what is told is not sent again, and what is not told comes again. */
      async settle(): Promise<ImportResponse> {
        for (const batch of batches.rest()) await this.write(batch);
        progress.position = Math.max(received, before.position);
        progress.written = { ...written };
        await store.write(await scopeOfBatch(), importId, progress);
        return this.tell();
      },
      tell(): ImportResponse {
        toldAt = performance.now();
        const told = rejections;
        rejections = [];
        const seconds = (toldAt - begunAt) / 1_000;
        return {
          $typeName: "records.ingest.v1.ImportResponse",
          importId,
          position: BigInt(progress.position),
          written: {
            $typeName: "records.ingest.v1.RecordCounts",
            contacts: BigInt(written.contacts),
            sessions: BigInt(written.sessions),
            transcripts: BigInt(written.transcripts),
            sessionNotes: BigInt(written.session_notes),
            contactNotes: BigInt(written.contact_notes),
          },
          rejected: BigInt(progress.rejected),
          rate: seconds === 0 ? 0 : (progress.position - before.position) / seconds,
          rejections: told,
          done: false,
          indexing: false,
        };
      },
    };
  }
}

/** Whether an error only says that the sender left: the library ends the messages with one of its own. */
function isOfSender(error: unknown): boolean {
  return error instanceof ConnectError || (error instanceof Failure && error.reason === Reason.CANCELLED);
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

const empty = new Failure(Reason.INVALID_REQUEST, {
  message: "must hold one record: contact, session, transcript, session_note or contact_note",
});

/** One stream is one import into one account, whatever a later message says. */
function requireSame(field: string, value: string, first: string): void {
  if (value !== "" && value !== first)
    refuse([{ field, rule: "same", message: "must be that of the first message, or left out" }]);
}

/** A stream begins at or before what is settled, and leaves nothing out. */
function placeOf(position: bigint, received: number, settled: number): number {
  const place = Number(position);
  if (received === 0 && place <= settled) return place;
  if (place !== received)
    refuse([
      {
        field: "position",
        rule: "order",
        message:
          received === 0
            ? `must be at most ${settled}: so many records are settled, and none may be left out`
            : `must be ${received}, the place after the record before`,
      },
    ]);
  return place;
}

function notesIn(counts: ImportProgress["written"]): number {
  return counts.session_notes + counts.contact_notes;
}

function namesOf(item: Item | undefined): ItemName {
  return item === undefined || item.$typeName === "records.ingest.v1.TranscriptItem" ? {} : item;
}

function rejection(position: number, item: Item | undefined, { reason, message }: Failure): Rejection {
  const { id, externalId } = namesOf(item);
  return {
    $typeName: "records.ingest.v1.Rejection",
    position: BigInt(position),
    ...(id === undefined ? {} : { id }),
    ...(externalId === undefined ? {} : { externalId }),
    error: { $typeName: "records.ingest.v1.ItemError", reason, message },
  };
}
