// Import with `contact_fields` and `restart`: a source changes only the fields that it has, and can begin again.
import { expect, test } from "vitest";
import type { ImportResponse } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { ImportRestart } from "../../src/gen/records/ingest/v1/import_pb.ts";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";
import { exportAll, importAll } from "../support/streams.ts";

const service = useService();

type Contact = Readonly<Record<string, unknown>>;

async function importing(client: Client, contacts: readonly Contact[], how: object): Promise<ImportResponse> {
  const records = contacts.map((contact) => ({ contact }));
  return (await importAll(service(), { accountId: client.id, records, ...how })).at(-1) as ImportResponse;
}

async function contactsOf(client: Client): Promise<Contact[]> {
  const contacts = (await exportAll(service(), client.id)).map(({ contact }) => contact as Contact);
  return contacts.sort((a, b) => String(a["external_id"]).localeCompare(String(b["external_id"])));
}

const changesOf = ({ contactChanges }: ImportResponse): number[] =>
  [contactChanges?.created, contactChanges?.updated, contactChanges?.unchanged].map(Number);

test("a listed field that an item does not set is cleared, other fields stay, and an unchanged contact is not written [IMP-01, IMP-02]", async () => {
  const client = await newClient(service());
  const all = { full_name: "Ann", email: "ann@example.com", phone: "+1", notes: "n", memory: "m" };
  await client.put.contacts({ external_id: "c-1", ...all }, { external_id: "c-2", full_name: "Bo" });
  const [, before] = await contactsOf(client);
  const items = [
    { external_id: "c-1", full_name: "Ann", inferred_name: "A" },
    { external_id: "c-2", full_name: "Bo" },
    { external_id: "c-3", full_name: "Cy" },
  ];
  const contactFields = ["full_name", "email", "phone", "created_at", "updated_at"];
  expect(changesOf(await importing(client, items, { contactFields }))).toEqual([1, 1, 1]);
  const [ann, bo] = await contactsOf(client);
  const { email: _email, phone: _phone, ...kept } = all;
  expect(ann).toMatchObject({ ...kept, inferred_name: "A" });
  expect([ann?.["email"], ann?.["phone"], bo]).toEqual([undefined, undefined, before]);
});

test("an archived contact is changed and stays archived, and is restored if archived_at is listed [OPS-04]", async () => {
  const client = await newClient(service());
  const archived_at = "2025-01-01T00:00:00Z";
  await client.put.contacts({ external_id: "c-1", full_name: "Ann", memory: "m", archived_at });
  await importing(client, [{ external_id: "c-1", full_name: "Bo" }], { contactFields: ["full_name"] });
  expect(await contactsOf(client)).toMatchObject([{ full_name: "Bo", memory: "m", archived_at }]);
  await importing(client, [{ external_id: "c-1" }], { contactFields: ["archived_at"] });
  const [restored] = await contactsOf(client);
  expect(restored).toMatchObject({ full_name: "Bo", memory: "m" });
  expect(restored).not.toHaveProperty("archived_at");
});

test("fields that a contact does not have, or that come after the first record, are rejected [ING-06]", async () => {
  const client = await newClient(service());
  const items = [{ full_name: "Ann" }, { full_name: "Bo" }];
  const unknown = importing(client, items, { contactFields: ["nickname"] });
  await expect(unknown).rejects.toThrow("contact_fields: must contain only fields of a contact: full_name, email");
  const long = importing(client, items, { contactFields: new Array<string>(101).fill("phone") });
  await expect(long).rejects.toThrow("contact_fields: must have at most 100 paths");
  const late = importing(client, items, { contactFields: ["phone"], chunk: 1, fieldsUntil: 2 });
  await expect(late).rejects.toThrow("contact_fields: must be in a message before the first record");
});

test("a finished import begins again if that is set, an unfinished one only if it must, and no contact is created twice [ING-06, IMP-02]", async () => {
  const client = await newClient(service());
  const items = [{ full_name: "Ann" }, { full_name: "Bo" }];
  const again = async (restart: ImportRestart): Promise<number[]> => {
    const last = await importing(client, items, { importId: "i", contactFields: ["full_name"], restart });
    return [Number(last.position), ...changesOf(last)];
  };
  expect(await again(ImportRestart.IF_FINISHED)).toEqual([2, 2, 0, 0]);
  expect(await again(ImportRestart.UNSPECIFIED)).toEqual([2, 2, 0, 0]);
  expect(await again(ImportRestart.IF_FINISHED)).toEqual([2, 0, 0, 2]);
  const imports = service().app.client.db().collection("imports");
  await imports.updateOne(
    { "_id.import_id": "i" },
    {
      $unset: { finished: "" },
      $set: { "contact_changes.unchanged": 7 },
    },
  );
  expect(await again(ImportRestart.IF_FINISHED)).toEqual([2, 0, 0, 7]);
  await client.put.contacts({ full_name: "Cy" });
  expect(await again(ImportRestart.ALWAYS)).toEqual([2, 0, 0, 2]);
  expect(await contactsOf(client)).toHaveLength(3);
});

test("a session that is imported again without a change keeps its updated_at [IMP-02]", async () => {
  const client = await newClient(service());
  const session = { external_id: "s-1", title: "Kickoff", session_date: "2025-05-01T10:00:00.5Z" };
  await client.put.sessions(session);
  const [before] = await exportAll(service(), client.id);
  await client.put.sessions(session);
  expect(await exportAll(service(), client.id)).toEqual([before]);
  await client.put.sessions({ ...session, session_date: "2025-05-01T10:00:00.6Z" });
  const [after] = await exportAll(service(), client.id);
  expect(after?.["session"]?.["updated_at"]).not.toBe(before?.["session"]?.["updated_at"]);
});
