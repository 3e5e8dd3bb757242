// Rows of the lists of REST, as far as the surface itself looks into them.

/** A contact of SearchContacts. */
export interface ContactRow {
  readonly id: string;
  readonly full_name: string | null;
  readonly inferred_name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly notes_timeline: readonly unknown[];
}

/** How many notes the timeline of a contact has at most. */
const timelineLength = 50;

/** How to get the notes that the timelines of these contacts leave out; undefined where none can be left out. */
export function olderNotes(contacts: readonly { readonly notes_timeline: readonly unknown[] }[]): string | undefined {
  return contacts.some(({ notes_timeline: notes }) => notes.length >= timelineLength)
    ? `A timeline ends after the ${timelineLength} newest notes: search_notes with the contact_id and offset ${timelineLength} returns any older ones.`
    : undefined;
}

/** A session of ListSessions. */
export interface SessionRow {
  readonly id: string;
  readonly title: string | null;
  readonly session_date: string | null;
}

/** What a contact is called; undefined where nothing is known that a contact could be called by. */
export function nameOfContact({ full_name, inferred_name, email, phone }: ContactRow): string | undefined {
  return full_name ?? inferred_name ?? email ?? phone ?? undefined;
}
