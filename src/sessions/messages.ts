// Maps the documents of a session and its notes to messages.
import type { SessionDetail, SessionNote, SessionSummary } from "../gen/records/v1/sessions_pb.ts";
import type { StoredName } from "../db/fields.ts";
import { projectionOf, fieldsIn } from "../db/fields.ts";
import { idText, omitNulls } from "../db/message.ts";
import { keepDisplayName } from "../text/display-name.ts";
import type { NoteDocument } from "../notes/document.ts";
import { noteTypeOf, sessionNoteFields } from "../notes/document.ts";
import type { SessionDocument } from "./document.ts";
import { sessionFields, summaryFields } from "./document.ts";

/** A note of a session, as projected by the store's pipeline. */
export type SessionNoteRow = Pick<NoteDocument, "_id" | "position" | "type" | StoredName<typeof sessionNoteFields>>;

/** The projection of a session for a list. */
export const summaryProjection = { contact_id: 1, client: 1, ...projectionOf(summaryFields) };

/** A session, as projected by the store's pipeline for a list. */
export type SummaryRow = Pick<SessionDocument, "_id" | "contact_id" | "client" | StoredName<typeof summaryFields>>;

/** Returns a session as a list shows it. */
export function sessionSummary(document: SummaryRow): SessionSummary {
  return {
    $typeName: "records.v1.SessionSummary",
    id: idText(document._id),
    ...fieldsIn(summaryFields, document),
    ...clientOf(document),
  };
}

/** Returns the contact of a session as a list shows it, as the field `client`; no field if it has none. */
export function clientOf({
  contact_id,
  client,
}: Pick<SessionDocument, "contact_id" | "client">): Pick<SessionSummary, "client"> {
  if (contact_id === null) return {};
  const message = {
    $typeName: "records.v1.SessionClient" as const,
    id: idText(contact_id),
    ...omitNulls({ fullName: client?.full_name }),
  };
  return { client: keepDisplayName(message, client ?? {}) };
}

/** Returns a session with its notes, in order. */
export function sessionDetail(document: SessionDocument, notes: readonly SessionNoteRow[]): SessionDetail {
  const { contact_id, client } = document;
  return {
    $typeName: "records.v1.SessionDetail",
    id: idText(document._id),
    ...fieldsIn(sessionFields, document),
    notes: [...notes].sort(byPosition).map(sessionNote),
    ...(contact_id === null
      ? {}
      : {
          client: keepDisplayName(
            {
              $typeName: "records.v1.SessionDetailClient" as const,
              id: idText(contact_id),
              ...omitNulls({ fullName: client?.full_name, email: client?.email }),
            },
            client ?? {},
          ),
        }),
  };
}

function sessionNote(note: SessionNoteRow): SessionNote {
  return {
    $typeName: "records.v1.SessionNote",
    ...fieldsIn({ texts: sessionNoteFields.texts, times: {} }, note),
    position: note.position,
    type: noteTypeOf(note.type),
  };
}

/** Orders notes by position, and those of one position by creation. */
function byPosition(a: SessionNoteRow, b: SessionNoteRow): number {
  return (
    a.position - b.position ||
    a.created_at.getTime() - b.created_at.getTime() ||
    a._id.toHexString().localeCompare(idText(b._id))
  );
}
