// What a file of records is read into, entry by entry, whatever its format.
import type { MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";

/** A record as Import takes it and Export gives it. */
export type ImportedRecord = MessageShape<typeof RecordSchema>;

/** The formats of files. */
export type Format = "ndjson" | "csv" | "vcard";

/** One entry of a file: a record, or why there is none. */
export interface Entry {
  /** The line where it begins, counted from 1. */
  readonly line: number;
  /** The entry as it is in the file. */
  readonly input: string;
  readonly content: { readonly record: ImportedRecord } | { readonly problem: string };
}

/** The fields of a contact, while it is put together. */
export type ContactFields = Partial<Omit<ContactItem, "$typeName" | "$unknown">>;

/** The record of a contact with these fields. */
export function contactRecord(fields: ContactFields): ImportedRecord {
  return create(RecordSchema, { record: { case: "contact", value: create(ContactItemSchema, fields) } });
}
