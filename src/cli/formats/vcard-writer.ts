// Writes contacts as vCard 3.0 (RFC 2426), which every address book reads, or 4.0 (RFC 6350).
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { ownProperties, standIn } from "./vcard-contact.ts";

/** The maximum length of a line in bytes, without its line break. */
const maxLineBytes = 75;

/** The versions that can be written. */
export type VcardVersion = "3.0" | "4.0";

/** Returns a contact as a card, with its final line break. Line breaks within texts become LF. */
export function vcard(contact: ContactItem, version: VcardVersion = "3.0"): string {
  const name = contact.fullName ?? contact.inferredName ?? contact.email ?? "";
  const uid = contact.externalId ?? `urn:uuid:${contact.id ?? ""}`;
  const lines = [
    "BEGIN:VCARD",
    `VERSION:${version}`,
    property(contact.fullName === undefined ? `FN;${standIn}=1` : "FN", name),
    // The family name is unknown. As a given name, the whole name is displayed unchanged.
    `N:;${escaped(name)};;;`,
    property("EMAIL", contact.email),
    property("TEL", contact.phone),
    property("NOTE", contact.notes),
    // In 4.0, a UID is a URI unless it says otherwise.
    property(version === "4.0" && !uri.test(uid) ? "UID;VALUE=text" : "UID", uid),
    ...ownProperties.map(({ localName, property: key }) => property(key, contact[localName])),
    "END:VCARD",
  ];
  return lines.map((line) => (line === undefined ? "" : `${folded(line)}\r\n`)).join("");
}

const uri = /^[a-z][a-z\d+.-]*:\S+$/i;

function property(name: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${name}:${escaped(value)}`;
}

function escaped(value: string): string {
  return value.replace(/\r\n?/g, "\n").replace(/[\\,;\n]/g, (sign) => (sign === "\n" ? "\\n" : `\\${sign}`));
}

/** Folds a line between characters. */
function folded(line: string): string {
  if (line.length <= maxLineBytes && Buffer.byteLength(line) <= maxLineBytes) return line;
  const lines: string[] = [];
  let [piece, size] = ["", 0];
  for (const character of line) {
    const bytes = Buffer.byteLength(character);
    if (size + bytes > maxLineBytes) {
      lines.push(piece);
      // The blank that marks a continued line counts.
      [piece, size] = [" ", 1];
    }
    piece += character;
    size += bytes;
  }
  return [...lines, piece].join("\r\n");
}
