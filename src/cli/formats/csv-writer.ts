// Writes contacts as CSV (RFC 4180).
import type { DescField } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { timestampText } from "../timestamp-text.ts";
import { contactFields } from "./csv-columns.ts";

/** The header row of an export, with its line break. */
export const csvHeader = `${contactFields.map(({ name }) => name).join(",")}\r\n`;

/**
 * Returns a contact as a row, with its line break. Cells contain the exact text: a leading `=`, `+`, `-` or `@` is
 * kept, although a spreadsheet may read it as a formula.
 */
export function csvRow(contact: ContactItem): string {
  const textOf = ({ localName }: DescField): string => {
    const value = contact[localName as keyof ContactItem];
    return isMessage(value, TimestampSchema) ? (timestampText(value) ?? "") : String(value ?? "");
  };
  return `${contactFields.map((field) => cell(textOf(field))).join(",")}\r\n`;
}

function cell(value: string): string {
  return /[",\r\n;\t]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
