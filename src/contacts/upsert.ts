// Contacts from outside: creates, replaces, archives and restores one.
import { newRevision, retryOnConflict } from "../db/conflicts.ts";
import { storedTexts, storedTimes } from "../db/fields.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { Outcome, RecordName } from "../db/named.ts";
import { alreadyExists, identityOf } from "../db/named.ts";
import { Failure } from "../errors.ts";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { ContactDocument } from "./document.ts";
import { contactFields } from "./document.ts";
import type { ContactWrites } from "./write.ts";
import { derive } from "./write.ts";

/** `known` is the contact as it was found for the item, if there was one. */
export interface ContactUpserts {
  /** Creates or replaces a contact. Fails with DUPLICATE_EMAIL or ALREADY_EXISTS. */
  put(scope: WriteScope, item: ContactItem, known: ContactDocument | undefined): Promise<Outcome>;
  /** Archives or restores a contact. Fails with NOT_FOUND or DUPLICATE_EMAIL. */
  setArchived(scope: WriteScope, id: string, archived: boolean, known: ContactDocument | undefined): Promise<Outcome>;
}

/** Over the writes of contacts; `find` reads the contact that a name means. */
export function createContactUpserts(
  writes: ContactWrites,
  find: (scope: WriteScope, name: RecordName) => Promise<ContactDocument | undefined>,
): ContactUpserts {
  /** Inserts, or tells what stands in the way. */
  async function insert(scope: WriteScope, contact: ContactDocument): Promise<Failure | undefined> {
    try {
      await writes.insert(scope, contact);
      return undefined;
    } catch (error) {
      if (error instanceof Failure && error.reason === Reason.DUPLICATE_EMAIL) return error;
      if (duplicateIndex(error) !== undefined) return alreadyExists().failure;
      throw error;
    }
  }

  return {
    put(scope, item, known) {
      let before = known;
      return retryOnConflict(scope, async () => {
        const after = documentOf(scope, item, before);
        if (before !== undefined) {
          if (await writes.replace(scope, before, after)) return { id: after._id };
          before = await find(scope, item);
          return undefined;
        }
        const failure = await insert(scope, after);
        if (failure === undefined) return { id: after._id };
        // What stands in the way of its id, external id or email may be this very record, which another call has made
        // meanwhile.
        before = await find(scope, item);
        return before === undefined ? { failure } : undefined;
      });
    },

    setArchived(scope, id, archived, known) {
      let before = known;
      return retryOnConflict(scope, async () => {
        if (before === undefined) return { failure: new Failure(Reason.NOT_FOUND) };
        if ((before.archived_at !== null) === archived) return { id: before._id };
        const after = derive({ ...before, version: newRevision(), archived_at: archived ? new Date() : null });
        if (await writes.replace(scope, before, after)) return { id: before._id };
        before = await find(scope, { id });
        return undefined;
      });
    },
  };
}

function documentOf(scope: WriteScope, item: ContactItem, before: ContactDocument | undefined): ContactDocument {
  const now = new Date();
  const times = storedTimes(contactFields.times, item);
  return derive({
    ...identityOf(scope, item, before),
    ...times,
    version: newRevision(),
    ...storedTexts(contactFields.texts, item),
    created_at: times.created_at ?? before?.created_at ?? now,
    updated_at: times.updated_at ?? now,
    archived_at: times.archived_at ?? before?.archived_at ?? null,
    rank: 0,
  });
}
