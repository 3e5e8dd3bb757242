// Users with filled accounts. Every field contains words unique to the user, so that leaks can be detected.
import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Document } from "mongodb";
import { BSON, UUID } from "mongodb";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { Credentials } from "../fixture/user.ts";
import { createUser, putInto } from "../fixture/user.ts";

/** A user with an account, every kind of credential, and a record of each kind. */
export interface User extends Credentials {
  /** The unique word that starts all of the user's texts. */
  readonly mark: string;
  readonly email: string;
  readonly phone: string;
  /** Two other years with sessions: one long past, one in the far future. */
  readonly years: { readonly past: number; readonly future: number };
  readonly ids: Readonly<
    Record<"contact" | "archived" | "session" | "contactNote" | "sessionNote" | "recording", string>
  >;
  /** External ids by the kind of record. */
  readonly externalIds: Readonly<Record<"contact" | "session" | "contactNote" | "sessionNote", string>>;
}

/** A unique word without digits, which a search could take for a phone number. */
export function newWord(): string {
  return `q${randomBytes(6)
    .toString("hex")
    .replace(/\d/g, (digit) => "ghijklmnop"[Number(digit)] ?? "")}`;
}

export function newPhone(): string {
  return `+99${randomInt(100_000_000, 999_999_999)}`;
}

/** Creates a user's account and fills it through the internal listener. */
export async function newUser(
  fixture: Fixture,
  fake: FakeProvider,
  access: "read_write" | "read_only",
  years: User["years"],
): Promise<User> {
  const mark = newWord();
  const credentials = await createUser(fixture, fake, mark, access);
  const put = putInto(fixture, credentials.accountId);
  const externalIds = {
    contact: `${mark}-x-contact`,
    session: `${mark}-x-session`,
    contactNote: `${mark}-x-note`,
    sessionNote: `${mark}-x-session-note`,
  };
  const phone = newPhone();
  const named = (field: string): string => `${mark} ${field}`;
  const contact = await put.contact({
    external_id: externalIds.contact,
    full_name: named("name"),
    email: `${mark}@contact.example`,
    phone,
    notes: named("notes"),
    memory: named("memory"),
    inferred_name: named("inferred"),
  });
  const archived = await put.contact({
    full_name: named("archived"),
    email: `${mark}@archived.example`,
    archived_at: "2026-01-01T00:00:00Z",
  });
  const session = await put.session({
    external_id: externalIds.session,
    contact_id: contact,
    title: named("title"),
    subtitle: named("subtitle"),
    session_date: "2026-02-02T10:00:00Z",
    session_date_end: "2026-02-02T11:00:00Z",
    recording_status: named("status"),
    source: named("source"),
    conference_provider: named("conference"),
    conference_url: `https://${mark}.example/call`,
    provider_doc_url: `https://${mark}.example/doc`,
  });
  for (const year of [years.past, years.future])
    await put.session({
      contact_id: contact,
      title: named(String(year)),
      session_date: `${year}-03-03T10:00:00Z`,
    });
  const [contactNote = ""] = await put.contactNotes({
    external_id: externalIds.contactNote,
    contact_id: contact,
    content: named("said"),
    source: named("origin"),
  });
  await put.contactNotes({ contact_id: archived, content: named("once said"), source: "import" });
  const [sessionNote = ""] = await put.sessionNotes({
    external_id: externalIds.sessionNote,
    session_id: session,
    title: named("heading"),
    title_slug: `${mark}-slug`,
    content: named("summary"),
    type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
  });
  const recording = randomUUID();
  await put.transcript({
    session_id: session,
    transcript: named("spoken ").repeat(200),
    recording: { id: recording, duration_seconds: 60 },
  });
  return {
    ...credentials,
    mark,
    email: `${mark}@contact.example`,
    phone,
    years,
    ids: { contact, archived, session, contactNote, sessionNote, recording },
    externalIds,
  };
}

/** Everything that would identify the user in another account's response. */
export function secretsOf({ accountId, key, token, mark, phone, ids, years }: User): readonly string[] {
  return [
    accountId,
    key,
    token,
    mark,
    phone.slice(1),
    ...Object.values(ids),
    `${years.past}-03-03`,
    `${years.future}-03-03`,
  ];
}

/** All documents of a user's account in every collection, without what merely using a credential changes. */
export async function documentsOf({ client }: Fixture, { accountId }: User): Promise<ReadonlyMap<string, string>> {
  const id = UUID.createFromHexString(accountId);
  const all = new Map<string, string>();
  for (const { name } of await client.db().listCollections({}, { nameOnly: true }).toArray()) {
    if (name === "request_counts") continue;
    const filter: Document = {
      $or: [{ account_id: id }, { "_id.account_id": id }, { _id: id, account_id: { $exists: false } }],
    };
    for (const { last_used_at: _used, ...document } of await client.db().collection(name).find(filter).toArray()) {
      all.set(`${name} ${BSON.EJSON.stringify(document["_id"])}`, BSON.EJSON.stringify(document));
    }
  }
  return all;
}

/** The URL of the instance's internal listener. */
export function internalOf({ instances: [instance] }: Fixture): string {
  return `http://127.0.0.1:${instance?.internalPort ?? 0}`;
}
