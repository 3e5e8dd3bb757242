// Entries of a file of records, in any format.
import type { MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";

/** A record in the form of the Import and Export methods. */
export type ImportedRecord = MessageShape<typeof RecordSchema>;

/** The file formats that are imported. */
export type Format = ExportFormat | "transcript" | "icalendar";

/** The file formats that are exported. */
export type ExportFormat = "ndjson" | "csv" | "vcard";

/** One entry of a file: a record, the reason why it is not one, or the kind of entry that an import skips. */
export interface Entry {
  /** The line where the entry begins, counted from 1. */
  readonly line: number;
  /** The text of the entry in the file. */
  readonly input: string;
  /** How many values of the entry cannot be read or stored, and were left out. */
  readonly leftOut?: number;
  readonly content: RecordContent | ProblemContent | { readonly skipped: string };
}

/** A record, with the names of its fields if the entry can name some without a value. */
export interface RecordContent {
  readonly record: ImportedRecord;
  readonly fields?: readonly string[];
}

/** Why an entry is not a record, with the external id of the contact that it belongs to, if known. */
export interface ProblemContent {
  readonly problem: string;
  readonly externalId?: string | undefined;
}

/** The fields of a contact, each optional. */
export type ContactFields = Partial<Omit<ContactItem, "$typeName" | "$unknown">>;

/** Returns the record of a contact with these fields. */
export function contactRecord(fields: ContactFields): ImportedRecord {
  return create(RecordSchema, { record: { case: "contact", value: create(ContactItemSchema, fields) } });
}
