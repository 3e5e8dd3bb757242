// Reads a file before it is imported: which fields its contacts have, and by which names they are found again.
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import type { Entry } from "../formats/entry.ts";

/** What is known of a whole file. */
export interface Survey {
  /** The fields that at least one contact has. */
  readonly fields: ReadonlySet<string>;
  /** The names of the contacts; emails in lower case. */
  readonly ids: ReadonlySet<string>;
  readonly externalIds: ReadonlySet<string>;
  readonly emails: ReadonlySet<string>;
  /** The number of entries that cannot be read, and whose contact is not known. */
  readonly unknown: number;
}

/** Reads all entries, or as many as show that the contacts have all of the `enough` fields. */
export async function surveyOf(entries: AsyncIterable<Entry>, enough?: readonly string[]): Promise<Survey> {
  const fields = new Set<string>();
  const [ids, externalIds, emails] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let unknown = 0;
  for await (const { content } of entries) {
    if ("problem" in content) {
      if (content.externalId === undefined) unknown++;
      else externalIds.add(content.externalId);
    } else if ("record" in content && content.record.record.case === "contact") {
      const { value } = content.record.record;
      for (const name of content.fields ?? fieldsOf(value)) fields.add(name);
      if (enough?.every((name) => fields.has(name)) === true) break;
      if (value.id !== undefined) ids.add(value.id.toLowerCase());
      if (value.externalId !== undefined) externalIds.add(value.externalId);
      if (value.email !== undefined) emails.add(value.email.toLowerCase());
    }
  }
  return { fields, ids, externalIds, emails, unknown };
}

function fieldsOf(contact: ContactItem): string[] {
  return ContactItemSchema.fields
    .filter(({ localName }) => contact[localName as keyof ContactItem] !== undefined)
    .map(({ name }) => name);
}
