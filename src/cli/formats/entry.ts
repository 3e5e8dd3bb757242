// Entries of a file of records, in any format.
import type { MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";

/** A record in the form of the Import and Export methods. */
export type ImportedRecord = MessageShape<typeof RecordSchema>;

/** The supported file formats. */
export type Format = "ndjson" | "csv" | "vcard";

/** One entry of a file: a record, or the reason why it is not one. */
export interface Entry {
  /** The line where the entry begins, counted from 1. */
  readonly line: number;
  /** The text of the entry in the file. */
  readonly input: string;
  readonly content: { readonly record: ImportedRecord } | { readonly problem: string };
}

/** The fields of a contact, each optional. */
export type ContactFields = Partial<Omit<ContactItem, "$typeName" | "$unknown">>;

/** Returns the record of a contact with these fields. */
export function contactRecord(fields: ContactFields): ImportedRecord {
  return create(RecordSchema, { record: { case: "contact", value: create(ContactItemSchema, fields) } });
}
