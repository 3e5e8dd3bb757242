// Bugs that the controls build into the new version.
import type { Break } from "../fixture/broken.ts";

/** Stores dates as numbers. The new version reads both forms. */
export const dateAsNumber: readonly Break[] = [
  {
    from: "insertRecord(client, scope, contacts, contact,",
    to: "insertRecord(client, scope, contacts, { ...contact, created_at: contact.created_at.getTime() } as never,",
  },
  {
    from: "set[name] = timestamp(value as Date);",
    to: "set[name] = timestamp(new Date(value as Date));",
  },
];

/** Updates overwrite what was written since the contact was read. */
export const losesUpdates: readonly Break[] = [
  {
    from: "contacts.replaceOne({ ...unchanged, ...fence }, after,",
    to: "contacts.replaceOne({ _id: before._id, account_id: scope.accountId }, after,",
  },
];
