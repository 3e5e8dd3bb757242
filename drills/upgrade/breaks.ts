// Faults that are built into the new version for the controls of the drill.
import { brokenBuild } from "../ground/broken.ts";

/** This code reads both forms of the date. */
export function dateAsNumber(): Record<string, string> {
  const reads = "createdAt: timestamp(created_at),\n    updatedAt: timestamp(updated_at),\n    notesTimeline";
  return brokenBuild(
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
  );
}

/** Nothing that was written since the contact was read stands in its way. */
export function losesUpdates(): Record<string, string> {
  return brokenBuild({
    file: "src/contacts/store.ts",
    from: "contacts.replaceOne({ ...unchanged, ...fence }, after,",
    to: "contacts.replaceOne({ _id: id, account_id: scope.accountId }, after,",
  });
}
