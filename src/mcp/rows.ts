// Rows of the REST lists, with the fields that the MCP surface reads.

/** A contact in the response of SearchContacts. */
export interface ContactRow {
  readonly id: string;
  readonly full_name: string | null;
  readonly inferred_name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly notes_timeline: readonly unknown[];
}

/** The maximum number of contacts in a response without pagination, which does not show whether there are more. */
export const restContacts = 25;

/** The maximum number of notes in a contact's timeline. */
const timelineLength = 50;

/**
 * Returns how to get the notes that the timelines of these contacts leave out; undefined if every timeline is complete.
 */
export function olderNotes(contacts: readonly { readonly notes_timeline: readonly unknown[] }[]): string | undefined {
  return contacts.some(({ notes_timeline: notes }) => notes.length >= timelineLength)
    ? `A timeline ends after the ${timelineLength} newest notes: search_notes with the contact_id and offset ${timelineLength} returns any older ones.`
    : undefined;
}

/** Says what a search of the notes and memory of contacts may lack. */
export const incompleteHint =
  "The notes and memory of only the most recently changed contacts were searched, because there are too many: others may have these words. search_contacts by name finds any contact.";

/** A session in the response of ListSessions. */
export interface SessionRow {
  readonly id: string;
  readonly title: string | null;
  readonly session_date: string | null;
}
