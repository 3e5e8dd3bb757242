// Implements records.v1.ContactService: finds, reads and writes contacts.
import { storedTexts } from "../db/fields.ts";
import type { ContactService as Descriptor, UpdateContactRequest } from "../gen/records/v1/contacts_pb.ts";
import { ContactState, UpdateContactRequestSchema } from "../gen/records/v1/contacts_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { uuid } from "../db/mongo.ts";
import { fail, rejectInput } from "../call/errors.ts";
import { parseInstant } from "../text/instant.ts";
import type { NoteStore } from "../notes/store.ts";
import type { AccountService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { ContactChanges } from "./document.ts";
import { contactFields } from "./document.ts";
import type { ContactSearch } from "./search.ts";
import type { ContactStore } from "./store.ts";

type Service = AccountService<typeof Descriptor, "createContact" | "updateContact" | "appendContactNote">;

/** The default page size. */
const pageLimit = 25;

/** Creates the service. */
export function createContactService(contacts: ContactStore, search: ContactSearch, notes: NoteStore): Service {
  return {
    async searchContacts(request, scope) {
      const { query, state, hasEmail, limit, offset, anyWord, brief, lastSessionBefore, inNotes, ...more } = request;
      const { phoneEndsWith, ...rest } = more;
      requireAllRead(rest);
      const beyond = [state, hasEmail, limit, offset, anyWord, brief, lastSessionBefore, inNotes, phoneEndsWith];
      if (beyond.every((value) => value === undefined))
        return { $typeName: "records.v1.SearchContactsResponse", contacts: await search.search(scope, query) };
      if (inNotes === true && query === "")
        return rejectInput([{ field: "query", rule: "required", message: "is required if in_notes is true" }]);
      if (inNotes === true && state !== undefined && state !== ContactState.ACTIVE)
        return rejectInput([
          { field: "in_notes", rule: "one_of", message: "must be left out if archived contacts are requested" },
        ]);
      if (anyWord === true && state !== undefined && state !== ContactState.ACTIVE)
        return rejectInput([
          { field: "any_word", rule: "one_of", message: "must be left out if archived contacts are requested" },
        ]);
      const archived = state === ContactState.ANY ? undefined : state === ContactState.ARCHIVED;
      const filter = {
        query: query === "" ? undefined : query,
        archived,
        hasEmail,
        phoneEndsWith,
        anyWord: anyWord === true,
        inNotes: inNotes === true,
        metBefore: lastSessionBefore === undefined ? undefined : parseInstant(lastSessionBefore)?.first,
      };
      return search.list(scope, filter, { limit: limit ?? pageLimit, offset: offset ?? 0 }, brief === true);
    },
    createContact(request, scope) {
      return contacts.create(scope, storedTexts(contactFields.texts, request));
    },
    async getContact({ contactId, ...rest }, scope) {
      requireAllRead(rest);
      const contact = (await contacts.get(scope, uuid(contactId))) ?? fail(Reason.NOT_FOUND);
      return { $typeName: "records.v1.GetContactResponse", contact };
    },
    updateContact(request, scope) {
      return contacts.update(scope, uuid(request.contactId), changesOf(request));
    },
    appendContactNote({ contactId, content, ...rest }, scope) {
      requireAllRead(rest);
      return notes.append(scope, uuid(contactId), content, contacts.lock);
    },
  };
}

/** Returns the changes that the update mask names. A named field without a value is cleared. */
function changesOf(request: UpdateContactRequest): ContactChanges {
  const named = new Set(request.updateMask?.paths);
  const texts = storedTexts(contactFields.texts, request);
  const changed = UpdateContactRequestSchema.fields.filter(({ name }) => named.has(name));
  return Object.fromEntries(
    changed.map(({ localName }) => {
      const stored = contactFields.texts[localName as keyof typeof contactFields.texts];
      return [stored, texts[stored]];
    }),
  );
}
