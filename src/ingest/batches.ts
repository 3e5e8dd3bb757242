// Cuts a stream of records into batches of one kind, small enough for a transaction, and writes them in their order.
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
import { recordKinds } from "./progress-store.ts";
import type { RecordKindName } from "./progress-store.ts";

/** Records of one kind, in their order, with their places in the import. */
export interface Batch {
  /** Undefined for what holds no record. */
  readonly kind: RecordKindName | undefined;
  readonly items: Item[];
  readonly positions: number[];
  /** About how many search terms its texts have, as `termWeight` counts them. */
  weight: number;
}

export type Item = ContactItem | SessionItem | TranscriptItem | SessionNoteItem | ContactNoteItem;

const mostItems = 500;
/** MongoDB indexes about 200,000 terms of such a batch, within a few seconds on a busy machine. */
const mostWeight = 500_000;

const kinds = {
  contact: "contacts",
  session: "sessions",
  transcript: "transcripts",
  sessionNote: "session_notes",
  contactNote: "contact_notes",
} as const;

/** What a record may belong to is written before it, and what that may belong to before that. */
const parents: Readonly<Record<RecordKindName, readonly RecordKindName[]>> = {
  contacts: [],
  sessions: ["contacts"],
  transcripts: ["contacts", "sessions"],
  session_notes: ["contacts", "sessions"],
  contact_notes: ["contacts"],
};

/**
 * Collects records by their kind, for streams in which kinds alternate; `nameless` gives an id to a record without one.
 */
export function createBatches(nameless: (position: number) => string) {
  const open = new Map<RecordKindName, Batch>();

  function close(kind: RecordKindName): Batch[] {
    const batch = open.get(kind);
    open.delete(kind);
    return batch === undefined ? [] : [batch];
  }

  return {
    /** Takes a record in, and gives the batches that are to be written now, in this order. */
    add({ record }: MessageShape<typeof RecordSchema>, position: number): readonly Batch[] {
      if (record.case === undefined) return [{ kind: undefined, items: [], positions: [position], weight: 0 }];
      // A record without a name is named by its place, so that sending it again writes it again and not twice.
      if (record.case !== "transcript" && namesNothing(record.value)) record.value.id = nameless(position);
      const kind = kinds[record.case];
      const weight = weightOf(record.value, termWeight);
      const batch = open.get(kind);
      const full = batch !== undefined && (batch.items.length >= mostItems || batch.weight + weight > mostWeight);
      const due = full ? [...parents[kind], kind].flatMap(close) : [];
      const into = open.get(kind) ?? { kind, items: [], positions: [], weight: 0 };
      open.set(kind, into);
      into.items.push(record.value);
      into.positions.push(position);
      into.weight += weight;
      return due;
    },
    /** Gives all that is left, in the order in which it is to be written. */
    rest: (): readonly Batch[] => recordKinds.flatMap(close),
  };
}

/** The id of a record without one: it follows from the account, the import and the record's place in it. */
export function idByPlace(accountId: UUID, importId: string): (position: number) => string {
  const seed = createHash("sha256").update(accountId.buffer).update(importId);
  return (position) => {
    const bytes = seed.copy().update(`/${position}`).digest().subarray(0, 16);
    // Version 8, as RFC 9562 has it for ids that are computed in a way of one's own.
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return new UUID(bytes).toHexString();
  };
}

function namesNothing({ id, externalId }: RecordName): boolean {
  return id === undefined && externalId === undefined;
}

/** Adds up the weights of the texts of a record, by default their lengths in characters. */
export function weightOf(item: Item, weigh: (text: string) => number = ({ length }) => length): number {
  return Object.values(item).reduce(
    (sum: number, value: unknown) => sum + (typeof value === "string" ? weigh(value) : 8),
    0,
  );
}
