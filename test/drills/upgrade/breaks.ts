// Faults that are built into the new version for the controls of the drill.
import type { Break } from "../fixture/broken.ts";

/** This code reads both forms of the date. */
export const dateAsNumber: readonly Break[] = [
  {
    from: "insertRecord(client, scope, contacts, contact,",
    to: "insertRecord(client, scope, contacts, { ...contact, created_at: contact.created_at.getTime() } as never,",
  },
  {
    from: "set[name] = timestamp(value);",
    to: "set[name] = timestamp(new Date(value));",
  },
];

/** An update replaces the contact whatever was written since it was read. */
export const losesUpdates: readonly Break[] = [
  {
    from: "contacts.replaceOne({ ...unchanged, ...fence }, after,",
    to: "contacts.replaceOne({ _id: before._id, account_id: scope.accountId }, after,",
  },
];
