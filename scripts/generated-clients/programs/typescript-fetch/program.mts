// Calls Records with the TypeScript client that openapi-generator generates, and prints the results as JSON.
import {
  Configuration,
  ContactsApi,
  ErrorResultFromJSON,
  NotesApi,
  ResponseError,
  SessionsApi,
} from "./records/index.js";
import type { ErrorResult, NoteKind } from "./records/index.js";

const configuration = new Configuration({
  basePath: process.env["RECORDS_URL"] ?? "",
  accessToken: process.env["RECORDS_API_KEY"] ?? "",
});
const contacts = new ContactsApi(configuration);
const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

const found = (await contacts.searchContacts({ query: "ann" })).data;
const { data: contact } = await contacts.getContact({ contactId: found[0]?.id ?? "" });
const { data: created } = await contacts.createContact({
  createContactRequest: { fullName: "Grace Okafor", phone: "+1 415 555 0199", email: null },
  idempotencyKey: crypto.randomUUID(),
});
const missing = await failure(contacts.getContact({ contactId: crypto.randomUUID() }));
const invalid = await failure(contacts.createContact({ createContactRequest: { fullName: "" } }));

const sessions = [];
for (let offset: number | null = 0; offset !== null; ) {
  const page = await new SessionsApi(configuration).listSessions({ from: "2026-01-31", limit: 25, offset });
  sessions.push(...page.data);
  offset = page.pagination.nextOffset;
}
const notes = (await new NotesApi(configuration).searchNotes({ query: "an", limit: 25 })).data;
const kinds = new Set<NoteKind>(notes.map(({ kind }) => kind));
console.log(
  JSON.stringify({
    found: found.length,
    name: contact.fullName,
    created: seconds(contact.createdAt),
    phone: created.phone,
    email: created.email,
    missing: missing.error.code,
    invalid: invalid.error.details?.[0]?.field,
    sessions: sessions.length,
    started: seconds(sessions[0]?.sessionDate ?? new Date(0)),
    kinds: [...kinds].sort(),
  }),
);

async function failure(call: Promise<unknown>): Promise<ErrorResult> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ResponseError) return ErrorResultFromJSON(await error.response.json());
    throw error;
  }
  throw new Error("the call did not fail");
}
