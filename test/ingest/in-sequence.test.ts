// A batch gives the same result as its items one by one: random batches with colliding items, on two accounts.
import fc from "fast-check";
import type { Document } from "mongodb";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";
import type { Result } from "../fixtures/clients/ingest.ts";
import { randomId } from "../fixtures/service/service.ts";
import { inForm } from "../support/form.ts";

const service = useService();

type Item = Readonly<Record<string, string | null>>;

/** A call: an rpc, the field that takes its batch, and the items. */
interface Batch {
  readonly rpc: string;
  readonly field: string;
  readonly items: readonly (Item | string)[];
}

/** Each name is one id in each account; `stranger` is an id of a third account. */
const idNames = ["id1", "id2", "id3"] as const;
const someId = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...idNames) },
  { weight: 1, arbitrary: fc.constant("stranger") },
);
const externalId = fc.constantFrom("x1", "x2", "x3");
const email = fc.constantFrom("a@example.com", "b@example.com", "B@example.com", "no email");
const date = fc.constantFrom("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z");
const text = fc.constantFrom("ann", "bea", "cid", "");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const named = { id: maybe(someId), external_id: maybe(externalId) };
const owner = fc.oneof({ weight: 6, arbitrary: fc.constant("id1") }, { weight: 1, arbitrary: maybe(someId) });
const ofContact = { contact_id: owner, contact_external_id: fc.option(externalId, { nil: null, freq: 1 }) };
const ofSession = { session_id: owner, session_external_id: fc.option(externalId, { nil: null, freq: 1 }) };
const manual = fc.constant("SESSION_NOTE_TYPE_USER_MANUAL");

function batchOf(rpc: string, field: string, item: fc.Arbitrary<Item | string>): fc.Arbitrary<Batch> {
  return fc.array(item, { minLength: 1, maxLength: 8 }).map((items) => ({ rpc, field, items }));
}

const contact = fc.record({
  ...named,
  email: maybe(email),
  full_name: maybe(text),
  created_at: maybe(date),
  archived_at: fc.option(date, { nil: null, freq: 6 }),
});
const title = { title: maybe(text), created_at: maybe(date) };
const content = { type: manual, content: maybe(text), created_at: maybe(date) };
const deleteIds = (field: string) => batchOf("DeleteRecords", field, someId);
const deleteExternal = (...kinds: string[]) =>
  batchOf(
    "DeleteRecords",
    "external",
    fc.record({ kind: fc.constantFrom(...kinds.map((kind) => `RECORD_KIND_${kind}`)), external_id: externalId }),
  );
const contacts = batchOf("UpsertContacts", "contacts", contact);
const sessions = batchOf("UpsertSessions", "sessions", fc.record({ ...named, ...ofContact, ...title }));

/** Calls that affect each other's records. */
const families: readonly (readonly [string, fc.Arbitrary<Batch>])[] = [
  [
    "contacts",
    fc.oneof(
      contacts,
      contacts,
      batchOf("ArchiveContacts", "contact_ids", someId),
      batchOf("RestoreContacts", "contact_ids", someId),
      deleteIds("contact_ids"),
      deleteExternal("CONTACT"),
    ),
  ],
  [
    "sessions and transcripts",
    fc.oneof(
      sessions,
      sessions,
      batchOf("PutTranscripts", "transcripts", fc.record({ ...ofSession, transcript: maybe(text) })),
      contacts,
      deleteIds("session_ids"),
      deleteIds("transcript_ids"),
      deleteExternal("SESSION", "SESSION"),
      deleteExternal("TRANSCRIPT"),
    ),
  ],
  [
    "notes",
    fc.oneof(
      batchOf("UpsertSessionNotes", "notes", fc.record({ ...named, ...ofSession, ...content })),
      batchOf(
        "UpsertContactNotes",
        "notes",
        fc.record({ ...named, ...ofContact, content: text, source: fc.constant("import") }),
      ),
      batchOf("UpsertSessions", "sessions", fc.record({ id: fc.constant("id1"), ...title })),
      deleteIds("note_ids"),
      deleteExternal("SESSION_NOTE", "CONTACT_NOTE"),
    ),
  ],
];

/** One account, which names ids: those of the pool by their names, new ones in the order of their creation. */
function side(client: Client, stranger: string) {
  const ids = new Map<string, string>([...idNames.map((name) => [name, randomId()] as const), ["stranger", stranger]]);
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const nameOf = (id: string): string => {
    if (!names.has(id)) names.set(id, `made ${names.size}`);
    return names.get(id) ?? "";
  };
  const withIds = (item: Item | string): Item | string => {
    if (typeof item === "string") return ids.get(item) ?? item;
    return Object.fromEntries(
      Object.entries(item).flatMap(([name, value]) =>
        value === null ? [] : [[name, /(^|_)id$/.test(name) ? (ids.get(value) ?? value) : value]],
      ),
    );
  };
  return {
    nameOf,
    async send({ rpc, field, items }: Batch) {
      const results: Result[] = await client.put.send(rpc, field, items.map(withIds));
      return results.map(({ id = "", externalId, error }) => ({
        id: id === "" ? "" : nameOf(id),
        externalId,
        reason: error?.reason,
      }));
    },
    async state() {
      const db = service().app.client.db();
      const collections = ["contacts", "sessions", "transcripts", "notes"].map(async (name) => {
        const documents = await db
          .collection(name)
          .find({ account_id: new UUID(client.id) })
          .toArray();
        return [name, documents.map((document) => JSON.stringify(comparable(document, nameOf))).sort()] as const;
      });
      return Object.fromEntries(await Promise.all(collections));
    },
  };
}

/** A document without the ids, revisions and current times, which always differ between two accounts. */
function comparable(document: Document, nameOf: (id: string) => string): unknown {
  const { account_id: _account, version: _version, rank: _rank, ...rest } = document;
  return within(rest);

  function within(value: unknown): unknown {
    if (value instanceof UUID) return nameOf(value.toHexString());
    if (value instanceof Date) return value.getFullYear() < 2025 ? value : "now";
    if (Array.isArray(value)) return value.map(within).sort();
    if (typeof value !== "object" || value === null) return value;
    if (Object.getPrototypeOf(value) !== Object.prototype) return String(value);
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [name, within(inner)]),
    );
  }
}

async function compare(batches: readonly Batch[]): Promise<void> {
  const stranger = await newClient(service());
  const theirs = randomId();
  await stranger.put.contact({ id: theirs });
  await stranger.put.session({ id: theirs });
  await stranger.put.contactNotes({ id: theirs, contact_id: theirs, content: "theirs", source: "import" });
  const [whole, single] = [side(await newClient(service()), theirs), side(await newClient(service()), theirs)];
  const owners = [upsert("contacts", { id: first }), upsert("sessions", { id: first })];
  for (const one of [...owners, ...batches]) {
    const expected = [];
    for (const item of one.items) expected.push(...(await single.send({ ...one, items: [item] })));
    expect(await whole.send(one)).toEqual(expected);
    expect(await whole.state()).toEqual(await single.state());
  }
}

test.each(families)(
  "a batch has the results and the state of its items one by one, even if they collide: %s [ING-08]",
  async (_name, batch) => {
    await fc.assert(fc.asyncProperty(fc.array(batch, { minLength: 3, maxLength: 8 }), compare), {
      numRuns: inForm(4, 40),
    });
  },
  600_000,
);

const upsert = (field: "contacts" | "sessions", ...items: readonly Item[]): Batch => ({
  rpc: field === "contacts" ? "UpsertContacts" : "UpsertSessions",
  field,
  items,
});
const [first, second, third, type] = ["id1", "id2", "id3", "SESSION_NOTE_TYPE_USER_MANUAL"] as const;
const cases: Readonly<Record<string, readonly Batch[]>> = {
  "an external id of an item before it": [
    upsert("sessions", { id: second, title: "bea" }),
    upsert("sessions", { id: first, external_id: "x1", title: "ann" }, { id: second, external_id: "x1", title: "cid" }),
  ],
  "external ids that pass from one record to another": [
    upsert("sessions", { id: first, external_id: "x1" }, { id: second, external_id: "x2" }),
    upsert(
      "sessions",
      { id: first, external_id: "x3" },
      { id: second, external_id: "x1" },
      { id: first, external_id: "x2" },
    ),
  ],
  "an email that is free only after it": [
    upsert("contacts", { id: first, email: "a@example.com" }, { id: second, email: "b@example.com" }),
    upsert(
      "contacts",
      { id: first, email: "b@example.com" },
      { id: second, email: null },
      { id: first, email: "b@example.com" },
    ),
  ],
  "an id that another account has, named with and without a mistake": [
    {
      rpc: "UpsertSessionNotes",
      field: "notes",
      items: [
        { id: "stranger", session_id: first, type },
        { id: "stranger", type },
      ],
    },
  ],
  "an external id that an item between them frees": [
    upsert(
      "contacts",
      { id: third, external_id: "x1" },
      { id: third, external_id: "x2" },
      { id: second, external_id: "x1" },
    ),
  ],
  "a record that an item before it deletes": [
    upsert("contacts", { id: first }),
    { rpc: "DeleteRecords", field: "contact_ids", items: [first, first] },
  ],
};
test.each(Object.entries(cases))(
  "an item sees the effects of the items before it: %s [ING-08]",
  async (_name, batches) => {
    await compare(batches);
  },
);
