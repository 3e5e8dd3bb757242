// Rows of the lists of REST, as far as the surface itself looks into them.

/** A contact of SearchContacts. */
export interface ContactRow {
  readonly id: string;
  readonly full_name: string | null;
  readonly inferred_name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
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
