// Splits a stream of records into batches of one kind, small enough for a transaction, parents before their children.
import { createHash } from "node:crypto";
import { UUID } from "mongodb";
import type { MessageShape } from "@bufbuild/protobuf";
import type { RecordSchema } from "../gen/records/ingest/v1/import_pb.ts";
import type {
  ContactItem,
  ContactNoteItem,
  SessionItem,
  SessionNoteItem,
  TranscriptItem,
} from "../gen/records/ingest/v1/items_pb.ts";
import type { RecordName } from "../db/named.ts";
import { termWeight } from "../search/words.ts";
import { recordKinds } from "./record-kinds.ts";
import type { RecordKindName } from "./record-kinds.ts";

/** Records of one kind, in order, with their positions in the import. */
export interface Batch {
  /** Undefined if the message contains no record. */
  readonly kind: RecordKindName | undefined;
  readonly items: Item[];
  readonly positions: number[];
  /** The approximate number of search terms in its texts, as `termWeight` estimates it. */
  weight: number;
}

export type Item = ContactItem | SessionItem | TranscriptItem | SessionNoteItem | ContactNoteItem;

const maxItems = 500;
/** MongoDB indexes about 200,000 terms for a batch of this weight, within a few seconds on a busy machine. */
const maxWeight = 500_000;

/** The kinds that are written before each kind, because its records may belong to theirs directly or indirectly. */
const parents: Readonly<Record<RecordKindName, readonly RecordKindName[]>> = {
  contacts: [],
  sessions: ["contacts"],
  transcripts: ["contacts", "sessions"],
  session_notes: ["contacts", "sessions"],
  contact_notes: ["contacts"],
};

/**
 * Creates a collector of batches for streams in which kinds alternate. `nameless` returns the id of a record without
 * one.
 */
export function createBatches(nameless: (position: number) => string) {
  const open = new Map<RecordKindName, Batch>();

  function close(kind: RecordKindName): Batch[] {
    const batch = open.get(kind);
    open.delete(kind);
    return batch === undefined ? [] : [batch];
  }

  return {
    /** Adds a record. Returns the batches to write now, in this order. */
    add({ record }: MessageShape<typeof RecordSchema>, position: number): readonly Batch[] {
      if (record.case === undefined) return [{ kind: undefined, items: [], positions: [position], weight: 0 }];
      // The id of a nameless record depends on its position, so a repeated import replaces it instead of duplicating
      // it.
      if (record.case !== "transcript" && hasNoName(record.value)) record.value.id = nameless(position);
      const kind = recordKinds[record.case];
      const weight = weightOf(record.value, termWeight);
      const batch = open.get(kind);
      const full = batch !== undefined && (batch.items.length >= maxItems || batch.weight + weight > maxWeight);
      const due = full ? [...parents[kind], kind].flatMap(close) : [];
      const into = open.get(kind) ?? { kind, items: [], positions: [], weight: 0 };
      open.set(kind, into);
      into.items.push(record.value);
      into.positions.push(position);
      into.weight += weight;
      return due;
    },
    /** Returns the remaining batches in the order in which to write them. */
    rest: (): readonly Batch[] => Object.values(recordKinds).flatMap(close),
  };
}

/**
 * Returns a function that derives the id of a nameless record from the account, the import and the record's position.
 */
export function idByPosition(accountId: UUID, importId: string): (position: number) => string {
  const seed = createHash("sha256").update(accountId.buffer).update(importId);
  return (position) => {
    const bytes = seed.copy().update(`/${position}`).digest().subarray(0, 16);
    // Version 8, for UUIDs with a custom algorithm (RFC 9562).
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return new UUID(bytes).toHexString();
  };
}

function hasNoName({ id, externalId }: RecordName): boolean {
  return id === undefined && externalId === undefined;
}

/** Returns the total weight of a record's texts; by default, their length in UTF-16 units. Any other value weighs 8. */
export function weightOf(item: Item, weigh: (text: string) => number = ({ length }) => length): number {
  return Object.values(item).reduce(
    (sum: number, value: unknown) => sum + (typeof value === "string" ? weigh(value) : 8),
    0,
  );
}
