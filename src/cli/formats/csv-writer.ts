// Writes contacts as CSV (RFC 4180).
import type { DescField } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { timestampText } from "../timestamp-text.ts";
import { contactFields } from "./csv-columns.ts";

/** Which columns a file has: all fields under their own names, or those that another program imports. */
export type CsvColumns = "records" | "google" | "outlook";

/** The fields under the names that a program's own export has. */
const programs: Readonly<Record<Exclude<CsvColumns, "records">, readonly (readonly [string, keyof ContactItem])[]>> = {
  google: [
    ["First Name", "fullName"],
    ["Notes", "notes"],
    ["E-mail 1 - Value", "email"],
    ["Phone 1 - Value", "phone"],
  ],
  outlook: [
    ["First Name", "fullName"],
    ["E-mail Address", "email"],
    ["Primary Phone", "phone"],
    ["Notes", "notes"],
  ],
};

/** The header row of an export, with its line break. */
export const csvHeader = `${contactFields.map(({ name }) => name).join(",")}\r\n`;

/** Returns the writer of a file: its header, and its rows. A program's file leaves archived contacts out. */
export function csvWriter(columns: CsvColumns): {
  readonly header: string;
  row(contact: ContactItem): string | undefined;
} {
  if (columns === "records") return { header: csvHeader, row: csvRow };
  const all = programs[columns];
  // Other programs know one name of a contact.
  const textIn = (contact: ContactItem, field: keyof ContactItem): string =>
    String(contact[field] ?? (field === "fullName" ? contact.inferredName : undefined) ?? "");
  return {
    header: `${all.map(([name]) => cell(name)).join(",")}\r\n`,
    row: (contact) =>
      contact.archivedAt === undefined
        ? `${all.map(([, field]) => cell(textIn(contact, field))).join(",")}\r\n`
        : undefined,
  };
}

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
