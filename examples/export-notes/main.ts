// Writes all notes that match a query as one Markdown document, each in full length, under the contact or session that
// owns it.
import type { NoteSearchResult } from "../../client/src/index.ts";
import { RecordsClient } from "../../client/src/index.ts";
import { connection } from "../connection.ts";

const query = process.argv.slice(2).join(" ");
if (query === "") throw new Error("Say what to look for: npx tsx examples/export-notes/main.ts budget");

const client = new RecordsClient(connection());
const byOwner = new Map<string, NoteSearchResult[]>();
for await (const note of client.notes.all({ query }))
  byOwner.set(note.parent_id, [...(byOwner.get(note.parent_id) ?? []), note]);

console.log(`# Notes about “${query}”`);
for (const notes of byOwner.values()) {
  const [{ kind, parent_label }] = notes as [NoteSearchResult];
  console.log(`\n## ${parent_label ?? "Unnamed"} (${kind})`);
  for (const note of notes)
    console.log(
      `\n${note.created_at?.slice(0, 10) ?? "Undated"}, ${note.note_type ?? "note"}\n\n${await wholeText(note)}`,
    );
}

/** The search cuts long notes; their owner has them whole. */
async function wholeText({ kind, parent_id, content, truncated }: NoteSearchResult): Promise<string> {
  if (!truncated) return content;
  const { notes_timeline: notes } =
    kind === "contact"
      ? await client.contacts.get(parent_id)
      : { notes_timeline: (await client.sessions.get(parent_id)).notes };
  return notes.find((note) => note.content?.startsWith(content))?.content ?? `${content} …`;
}
