// The JSON of `/v1`, handwritten for the peers.
import type { NoteRow, SessionRow } from "../../../src/contacts/messages.ts";
import type { NoteDocument } from "../../../src/notes/document.ts";
import type { SessionDocument } from "../../../src/sessions/document.ts";
import type { Page, WholeContact } from "./queries.ts";

const excerptLength = 1_000;

export function contactJson({ contact, timeline, sessions }: WholeContact) {
  return {
    id: contact._id.toHexString(),
    full_name: contact.full_name,
    email: contact.email,
    phone: contact.phone,
    notes: contact.notes,
    memory: contact.memory,
    created_at: contact.created_at.toISOString(),
    updated_at: contact.updated_at.toISOString(),
    notes_timeline: timeline.map(timelineNoteJson),
    recent_sessions: sessions.map(recentSessionJson),
    inferred_name: contact.inferred_name,
    archived_at: contact.archived_at?.toISOString() ?? null,
  };
}

export function timelineNoteJson({ _id, content, source, created_at, updated_at }: NoteRow) {
  return {
    id: _id.toHexString(),
    content,
    source,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

export function sessionsJson(page: Page<SessionDocument>, limit: number, offset: number) {
  return { data: page.rows.map(sessionJson), pagination: paginationJson(page, limit, offset) };
}

export function notesJson(page: Page<NoteDocument>, limit: number, offset: number) {
  return { data: page.rows.map(foundNoteJson), pagination: paginationJson(page, limit, offset) };
}

function recentSessionJson({ _id, title, subtitle, session_date, recording_status }: SessionRow) {
  return { id: _id.toHexString(), title, subtitle, session_date: session_date.toISOString(), recording_status };
}

function sessionJson({
  _id,
  title,
  subtitle,
  session_date,
  session_date_end,
  recording_status,
  source,
  conference_provider,
  contact_id,
  client,
}: SessionDocument) {
  return {
    id: _id.toHexString(),
    title,
    subtitle,
    session_date: session_date?.toISOString() ?? null,
    session_date_end: session_date_end?.toISOString() ?? null,
    recording_status,
    source,
    conference_provider,
    client: contact_id === null ? null : { id: contact_id.toHexString(), full_name: client?.full_name ?? null },
  };
}

function foundNoteJson({ kind, parent_id, label, type, content, created_at }: NoteDocument) {
  const text = content ?? "";
  return {
    kind,
    parent_id: parent_id.toHexString(),
    parent_label: label,
    note_type: type,
    content: text.slice(0, excerptLength),
    truncated: text.length > excerptLength,
    created_at: created_at.toISOString(),
  };
}

function paginationJson({ hasMore }: Page<unknown>, limit: number, offset: number) {
  return { limit, offset, has_more: hasMore, next_offset: hasMore ? offset + limit : null };
}
