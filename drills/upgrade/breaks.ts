// Faults that are built into the new version for the controls of the drill.
import type { Break } from "../ground/broken.ts";

const reads = "createdAt: timestamp(created_at),\n    updatedAt: timestamp(updated_at),\n    notesTimeline";

/** This code reads both forms of the date. */
export const dateAsNumber: readonly Break[] = [
  {
    file: "src/contacts/store.ts",
    from: "insertInTime(contacts, document,",
    to: "insertInTime(contacts, { ...document, created_at: document.created_at.getTime() } as never,",
  },
  {
    file: "src/contacts/messages.ts",
    from: reads,
    to: reads.replace("timestamp(created_at)", "timestamp(new Date(created_at))"),
  },
];

/** An update replaces the contact whatever was written since it was read. */
export const losesUpdates: readonly Break[] = [
  {
    file: "src/contacts/store.ts",
    from: "contacts.replaceOne({ ...unchanged, ...fence }, after,",
    to: "contacts.replaceOne({ _id: id, account_id: scope.accountId }, after,",
  },
];
