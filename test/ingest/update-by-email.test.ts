// Import with `update_by_email`: contacts that are known by their email alone are changed, and none twice.
import { expect, test } from "vitest";
import { uuid } from "../../src/db/mongo.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { ImportResponse } from "../../src/gen/records/ingest/v1/import_pb.ts";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";
import { importAll } from "../support/streams.ts";

const service = useService();

type Contact = Readonly<Record<string, unknown>>;

async function importByEmail(client: Client, contacts: readonly Contact[], how: object = {}): Promise<ImportResponse> {
  const records = contacts.map((contact) => ({ contact }));
  const responses = await importAll(service(), { accountId: client.id, records, updateByEmail: true, ...how });
  return responses.at(-1) as ImportResponse;
}

async function stored(client: Client, id: string | undefined): Promise<Contact> {
  return (await client.get(`/v1/contacts/${id}`)).body.data as Contact;
}

async function count(client: Client): Promise<number> {
  return service()
    .app.client.db()
    .collection("contacts")
    .countDocuments({ account_id: uuid(client.id) });
}

const changesOf = ({ contactChanges }: ImportResponse): number[] =>
  [contactChanges?.created, contactChanges?.updated, contactChanges?.unchanged].map((many) => Number(many));

test("an email, in any case, refers to the active contact that has it: the item's values are changed, and the others stay [ING-06]", async () => {
  const client = await newClient(service());
  const [ann] = await client.put.contacts({ full_name: "Ann", email: "Ann@Example.com", notes: "n", memory: "m" });
  const last = await importByEmail(client, [{ email: "ann@EXAMPLE.com", phone: "+44 1" }, { email: "bo@example.com" }]);
  expect([changesOf(last), Number(last.written?.contacts), Number(last.rejected)]).toEqual([[1, 1, 0], 2, 0]);
  expect(await stored(client, ann)).toMatchObject({
    full_name: "Ann",
    email: "ann@EXAMPLE.com",
    phone: "+44 1",
    notes: "n",
    memory: "m",
  });
});

test("a contact that already has all values is not written [ING-06]", async () => {
  const client = await newClient(service());
  const [ann] = await client.put.contacts({ full_name: "Ann", email: "ann@example.com", external_id: "c-1" });
  const before = await stored(client, ann);
  const items = [
    { email: "ann@example.com", full_name: "Ann" },
    { external_id: "c-1", full_name: "Ann" },
  ];
  const last = await importByEmail(client, items);
  expect([changesOf(last), await stored(client, ann)]).toEqual([[0, 0, 2], before]);
});

test("an id and an external id precede the email, and a contact keeps its external id [ING-05, ING-06]", async () => {
  const client = await newClient(service());
  const [ann, bo] = await client.put.contacts(
    { full_name: "Ann", email: "ann@example.com", external_id: "c-1" },
    { full_name: "Bo", email: "bo@example.com" },
  );
  const last = await importByEmail(client, [
    { external_id: "c-1", email: "new@example.com" },
    { external_id: "card-2", email: "bo@example.com" },
    { external_id: "card-3", email: "new@example.com", phone: "1" },
  ]);
  expect(changesOf(last)).toEqual([0, 3, 0]);
  expect(await stored(client, ann)).toMatchObject({ email: "new@example.com", phone: "1" });
  const again = await client.put.contacts(
    { external_id: "c-1", full_name: "Ann" },
    { external_id: "card-2", full_name: "Bo" },
  );
  expect(again).toEqual([ann, bo]);
});

test("an archived contact is not changed: its email creates a new one, and its external id is rejected [ING-06]", async () => {
  const client = await newClient(service());
  const [gone] = await client.put.contacts({
    full_name: "Gone",
    email: "gone@example.com",
    external_id: "c-1",
    archived_at: "2025-01-01T00:00:00Z",
  });
  const before = await stored(client, gone);
  const last = await importByEmail(client, [
    { email: "gone@example.com", full_name: "Back" },
    { external_id: "c-1", full_name: "Changed" },
  ]);
  expect([changesOf(last), last.rejections.map(({ error }) => error?.reason)]).toEqual([
    [1, 0, 0],
    [Reason.CONTACT_ARCHIVED],
  ]);
  expect(await stored(client, gone)).toEqual(before);
});

test("the same email twice in a stream is one contact, and the same stream twice, or two at once, creates no duplicate [ING-06]", async () => {
  const client = await newClient(service());
  const items = Array.from({ length: 60 }, (_, at) => ({ email: `p${at % 20}@example.com`, full_name: `P ${at}` }));
  const all = await Promise.all([1, 2].map(() => importByEmail(client, items, { chunk: 7 })));
  expect(all.map(({ rejected }) => Number(rejected))).toEqual([0, 0]);
  const last = await importByEmail(client, items.slice(-20));
  expect([await count(client), changesOf(last)]).toEqual([20, [0, 0, 20]]);
});

test("without the option a known email is rejected, as before [ING-06]", async () => {
  const client = await newClient(service());
  await client.put.contacts({ full_name: "Ann", email: "ann@example.com" });
  const last = await importByEmail(client, [{ email: "ann@example.com" }, {}], { updateByEmail: false });
  expect(last.rejections.map(({ error }) => error?.reason)).toEqual([Reason.DUPLICATE_EMAIL]);
  expect(changesOf(last)).toEqual([1, 0, 0]);
});

test("counts created, updated and unchanged contacts over all streams of an import [ING-06]", async () => {
  const client = await newClient(service());
  const items = [{ email: "a@example.com" }, { email: "b@example.com" }];
  await importByEmail(client, items.slice(0, 1), { importId: "both" });
  expect(changesOf(await importByEmail(client, items, { importId: "both" }))).toEqual([2, 0, 0]);
});
