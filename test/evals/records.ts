// Look-ups in the demo records for the questions: by contact name and by date.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { DemoRecords } from "../fixtures/records/demo.ts";

export type Contact = DemoRecords["contacts"][number];
export type Session = DemoRecords["sessions"][number];
export type Note = DemoRecords["contactNotes"][number] | DemoRecords["sessionNotes"][number];

const dayMs = 86_400_000;

/** The account's records at the time of the questions. */
export type Records = ReturnType<typeof recordsAt>;

export function recordsAt(demo: DemoRecords, now: Date) {
  const { contacts, sessions, transcripts, sessionNotes, contactNotes } = demo;
  const spoken = new Map(transcripts.map(({ sessionId, transcript }) => [sessionId, transcript]));
  const inOrder = [...sessions].sort((one, other) => msOf(other.sessionDate) - msOf(one.sessionDate));
  const contact = (name: string): Contact => {
    const found = contacts.find(({ fullName }) => fullName === name);
    if (found === undefined) throw new Error(`the demo has no contact ${name}`);
    return found;
  };
  return {
    now: now.toISOString(),
    /** The date this many days from now. */
    day: (from: number): string => new Date(now.getTime() + from * dayMs).toISOString().slice(0, 10),
    contacts,
    contact,
    /** Latest first. */
    sessions: inOrder,
    sessionsOf: (name: string): Session[] => inOrder.filter(({ contactId }) => contactId === contact(name).id),
    /** Sessions between two dates, inclusive. */
    sessionsBetween: (from: string, to: string): Session[] =>
      inOrder.filter(({ sessionDate }) => isBetween(sessionDate, from, to)),
    isPast: ({ sessionDate }: Session): boolean => msOf(sessionDate) < now.getTime(),
    personOf: ({ contactId }: Session): string => contacts.find(({ id }) => id === contactId)?.fullName ?? "",
    transcriptOf: ({ id }: Session): string | undefined => spoken.get(id),
    notesOf: ({ id }: Session) => sessionNotes.filter(({ sessionId }) => sessionId === id),
    /** Notes of contacts and sessions, newest first. */
    notes: [...contactNotes, ...sessionNotes].sort(
      (one: Note, other: Note) => msOf(other.createdAt) - msOf(one.createdAt),
    ),
    contactNotesOf: (name: string) => contactNotes.filter(({ contactId }) => contactId === contact(name).id),
    notesBetween: (from: string, to: string): Note[] =>
      [...contactNotes, ...sessionNotes].filter(({ createdAt }) => isBetween(createdAt, from, to)),
  };
}

export function nameOf({ fullName, inferredName, email, phone }: Contact): string {
  return fullName ?? inferredName ?? email ?? phone ?? "";
}

export function isArchived({ archivedAt }: Contact): boolean {
  return archivedAt !== undefined;
}

export function idsOf(records: readonly { readonly id?: string | undefined }[]): string[] {
  return records.map(({ id = "" }) => id);
}

/** The start of a note. Results truncate long ones. */
export function beginningOf({ content }: Note): string {
  return [...(content ?? "")].slice(0, 200).join("");
}

export function dateOf({ sessionDate }: Session): string {
  return new Date(msOf(sessionDate)).toISOString().slice(0, 10);
}

/** Whether the text has words that start with each of these. */
export function hasWords(text: string | undefined, ...words: readonly string[]): boolean {
  const begun = (text ?? "").toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return words.every((word) => begun.some((one) => one.startsWith(word)));
}

function isBetween(time: Timestamp | undefined, from: string, to: string): boolean {
  if (time === undefined) return false;
  const date = new Date(timestampMs(time)).toISOString().slice(0, 10);
  return date >= from && date <= to;
}

function msOf(time: Timestamp | undefined): number {
  return time === undefined ? -Infinity : timestampMs(time);
}
