// Display names: the texts by which contacts and sessions are shown, chosen from the fields of the record.
import { firstVisible, oneLine } from "./text.ts";

/** The fields of a contact that can be shown as a name. */
export interface NameFields {
  readonly full_name?: string | null | undefined;
  readonly inferred_name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
}

/**
 * Returns the full name, or else the inferred name, the email or the phone. Ignores a text without a visible character.
 * Returns undefined if no text is left.
 */
export function displayName({ full_name, inferred_name, email, phone }: NameFields): string | undefined {
  return firstVisible(full_name, inferred_name, email, phone);
}

const kept = new WeakMap<object, string>();

/**
 * Keeps the display name of a contact next to a message that lacks some of the names, and returns the message. Only
 * this process sees the name. A field for it would change the body that REST sends.
 */
export function keepDisplayName<T extends object>(message: T, names: NameFields): T {
  const name = displayName(names);
  if (name !== undefined && name !== names.full_name) kept.set(message, name);
  return message;
}

/** Returns the display name that was kept next to the message; undefined if its full name is the display name. */
export function keptDisplayName(message: object): string | undefined {
  return kept.get(message);
}

/** Returns the name to show for a contact, as one line. */
export function nameOfContact(contact: NameFields): string {
  return oneLine(displayName(contact) ?? "Unnamed contact");
}

/** Returns the title to show for a session, as one line. */
export function titleOfSession({ title }: { readonly title?: string | null | undefined }): string {
  return oneLine(firstVisible(title) ?? "Untitled session");
}

/** Returns the name to show for the contact of a session, as one line; undefined if it has none. */
export function nameOfClient(client: { readonly fullName?: string | undefined } | undefined): string | undefined {
  const name = client && (keptDisplayName(client) ?? displayName({ full_name: client.fullName }));
  return name === undefined ? undefined : oneLine(name);
}
