// GET /v1/contacts: what is found, what is returned of it, and in which order.
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { ids, newClient, useService } from "../support/client.ts";
import { contact, mismatches } from "../fixtures/clients/shapes.ts";

const service = useService();

async function find(client: Client, query: string): Promise<string[]> {
  const response = await client.get(`/v1/contacts?query=${encodeURIComponent(query)}`);
  expect(response.status, response.text).toBe(200);
  return ids(response);
}

test("a search returns whole contacts, as a read by id does, and no pagination object [CSR-01, CGT-06, FMT-02]", async () => {
  const client = await newClient(service());
  const [full, bare] = await client.put.contacts(
    {
      full_name: "Ann Lee",
      email: "ann@example.com",
      phone: "+1 415",
      notes: "n",
      memory: "m",
      inferred_name: "Annie",
    },
    { inferred_name: "Ann Bare" },
  );
  await client.put.contactNotes({ contact_id: full, content: "Called", source: "import" });
  await client.put.session({ contact_id: full, title: "Past", session_date: "2026-01-01T00:00:00Z" });
  const { body } = await client.get("/v1/contacts?query=ann");
  expect(Object.keys(body)).toEqual(["data"]);
  expect(body.data.flatMap((found: unknown) => mismatches(contact, found))).toEqual([]);
  for (const id of [full, bare]) {
    const { body: one } = await client.get(`/v1/contacts/${id}`);
    expect(body.data).toContainEqual(one.data);
  }
  expect(body.data).toHaveLength(2);
});

test("searches full_name, inferred_name, email and phone, and nothing else [CSR-07]", async () => {
  const client = await newClient(service());
  const [byName, byInferred, byEmail, byPhone] = await client.put.contacts(
    { full_name: "Quentin" },
    { inferred_name: "Quentin" },
    { email: "quentin@example.com" },
    { phone: "quentin" },
    { full_name: "Other", notes: "quentin", memory: "quentin" },
  );
  expect((await find(client, "quentin")).sort()).toEqual([byName, byInferred, byEmail, byPhone].sort());
});

test("finds a phone by the beginning of its digits, with or without +, however either side is spaced [CSR-08]", async () => {
  const client = await newClient(service());
  const spaced = await client.put.contact({ phone: "+1 (415) 555-0100" });
  const plain = await client.put.contact({ phone: "4915123456789" });
  for (const query of ["14", "+14", "1415555", "+1 415 555 0100", "1-415-555-0100", "(1415) 5550100", "+1(415)5"]) {
    expect(await find(client, query), query).toEqual([spaced]);
  }
  for (const query of ["+49 151 23456789", "49 151", "+4915", "49-15-12"])
    expect(await find(client, query), query).toEqual([plain]);
  for (const query of ["15123456789", "1415556", "+1 415 555 01000"])
    expect(await find(client, query), query).toEqual([]);
});

test("finds a phone with spaces on either side of numbers in the name [CSR-08, SRC-05]", async () => {
  const client = await newClient(service());
  const unit = await client.put.contact({ full_name: "Unit 42", phone: "+49170001" });
  await client.put.contacts({ full_name: "Unit 42", phone: "+49180001" }, { full_name: "Unit 43", phone: "+49170001" });
  for (const query of ["unit 42 4917", "unit 42 49 17", "unit 42 +49 17", "unit +49 17 42", "+49 17 unit 42"])
    expect(await find(client, query), query).toEqual([unit]);
});

test("a search leaves archived contacts out, and finds them again once they are restored [CSR-09, SRC-07]", async () => {
  const client = await newClient(service());
  const [stays, goes] = await client.put.contacts({ full_name: "Ann Stays" }, { full_name: "Ann Goes" });
  await client.put.archive(goes ?? "");
  expect(await find(client, "ann")).toEqual([stays]);
  await client.put.restore(goes ?? "");
  expect((await find(client, "ann")).sort()).toEqual([stays, goes].sort());
});

test("returns at most 25 contacts, those with the newest updated_at [CSR-10, CSR-11]", async () => {
  const client = await newClient(service());
  const items = Array.from({ length: 27 }, (_, index) => ({
    full_name: `Ann ${index}`,
    updated_at: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
  }));
  const written = await client.put.contacts(...items);
  expect(await find(client, "ann")).toEqual(written.toReversed().slice(0, 25));
});

test("contacts that have every word whole come first, then the others, newest updated_at first within each group [CSR-11]", async () => {
  const client = await newClient(service());
  const item = (full_name: string, month: number) => ({ full_name, updated_at: `2026-0${month}-01T00:00:00Z` });
  const [wholeOld, partNew, wholeNew, partOld, half] = await client.put.contacts(
    item("Ann Lee", 1),
    item("Anna Leeds", 6),
    item("Lee Ann", 3),
    item("Annabel Lee-Roy", 4),
    item("Ann Leeds", 5),
  );
  expect(await find(client, "lee ann")).toEqual([wholeNew, wholeOld, partNew, half, partOld]);
  expect(await find(client, "ANN")).toEqual([half, wholeNew, wholeOld, partNew, partOld]);
});

test("every letter of a long word counts, for the match, the order and phones [SRC-04, CSR-08, CSR-11]", async () => {
  const client = await newClient(service());
  const long = "k".repeat(6) + "a".repeat(94);
  const whole = await client.put.contact({ full_name: `${long.slice(0, 36)}` });
  const longer = await client.put.contact({ full_name: `${long.slice(0, 36)}longer` });
  const phone = await client.put.contact({ full_name: "Phone", phone: `${"9".repeat(49)}1` });
  const find = async (query: string): Promise<string[]> => ids(await client.get(`/v1/contacts?query=${query}`));
  expect(await find(long.slice(0, 36))).toEqual([whole, longer]);
  expect(await find(`${long.slice(0, 36)}lo`)).toEqual([longer]);
  expect(await find(`${long.slice(0, 35)}b`)).toEqual([]);
  expect(await find(long)).toEqual([]);
  expect(await find(`${"9".repeat(49)}1`)).toEqual([phone]);
  expect(await find("9".repeat(40))).toEqual([phone]);
  expect(await find(`${"9".repeat(40)}2`)).toEqual([]);
});

test("an old contact with whole words precedes 25 newer ones without [CSR-10, CSR-11]", async () => {
  const client = await newClient(service());
  const old = await client.put.contact({ full_name: "Ann", updated_at: "2020-06-01T00:00:00Z" });
  await client.put.contacts(...Array.from({ length: 30 }, (_, index) => ({ full_name: `Anna ${index}` })));
  const found = await find(client, "ann");
  expect(found[0]).toBe(old);
  expect(found).toHaveLength(25);
});

test("contacts with the same updated_at have a fixed order [CSR-11]", async () => {
  const client = await newClient(service());
  await client.put.contacts(
    ...Array.from({ length: 25 }, (_, index) => ({ full_name: `Ann ${index}`, updated_at: "2026-01-01T00:00:00Z" })),
  );
  const first = await find(client, "ann");
  expect(new Set(first).size).toBe(25);
  for (let again = 0; again < 3; again++) expect(await find(client, "ann")).toEqual(first);
});

test.each([
  ["whole words and beginnings", "ann"],
  ["a phone in two parts, which are also words", "49 30"],
])(
  "the pages beyond REST have each contact once, whatever their size, and begin with those of REST: %s [CSR-11]",
  async (_name, query) => {
    const client = await newClient(service());
    // Of one instant, contacts have 256 ranks: many share one.
    const items = Array.from({ length: 400 }, (_, index) => ({
      full_name: index % 2 === 0 ? `Ann ${index} 49 301` : `Anna ${index}`,
      phone: index % 3 === 0 ? "+49 30" : "+4930",
      updated_at: "2026-01-01T00:00:00Z",
    }));
    const written = await client.put.contacts(...items);
    const inPagesOf = async (limit: number): Promise<string[]> => {
      const found: string[] = [];
      for (let offset = 0; offset <= written.length; offset += limit) {
        const given = { query, limit, offset, brief: true };
        const { status, body } = await client.post("/records.v1.ContactService/SearchContacts", given);
        expect(status).toBe(200);
        found.push(...(body.contacts ?? []).map(({ id }: { id: string }) => id));
      }
      return found;
    };
    const [large, small] = [await inPagesOf(25), await inPagesOf(7)];
    expect(large.toSorted()).toEqual(written.toSorted());
    expect(small).toEqual(large);
    expect(await find(client, query)).toEqual(large.slice(0, 25));
  },
);

test("the next read finds a created or renamed contact, and no longer finds it by its old name [SRC-07]", async () => {
  const client = await newClient(service());
  const { body } = await client.post("/v1/contacts", { full_name: "Zebulon", email: "z@example.com" });
  expect(await find(client, "zebulon")).toEqual([body.data.id]);
  await client.patch(`/v1/contacts/${body.data.id}`, { full_name: "Yolanda", email: null });
  expect(await find(client, "yolanda")).toEqual([body.data.id]);
  expect(await find(client, "zebulon")).toEqual([]);
  expect(await find(client, "example")).toEqual([]);
});

test("a PATCH moves a contact to the front of its group [CSR-11, CUP-15]", async () => {
  const client = await newClient(service());
  const [older, newer] = await client.put.contacts(
    { full_name: "Ann One", updated_at: "2026-01-01T00:00:00Z" },
    { full_name: "Ann Two", updated_at: "2026-01-02T00:00:00Z" },
  );
  expect(await find(client, "ann")).toEqual([newer, older]);
  await client.patch(`/v1/contacts/${older}`, { phone: "1" });
  expect(await find(client, "ann")).toEqual([older, newer]);
});

test("a query is matched as text, never as a pattern [SRC-04, SRC-06]", async () => {
  const client = await newClient(service());
  const ann = await client.put.contact({ full_name: "Ann (a+)+$ Lee" });
  for (const query of [".*", "^$", "  ", "??", "$$"]) expect(await find(client, query), query).toEqual([]);
  for (const query of ["(a+)+$", "ann.*", "le$", "^ann"]) expect(await find(client, query), query).toEqual([ann]);
  expect(await find(client, "l.n")).toEqual([]);
});

test("finds a contact with all its notes, which exceed the size of a MongoDB document [CSR-01]", async () => {
  const client = await newClient(service());
  const large = await client.put.contact({ full_name: "Ann Large" });
  const other = await client.put.contact({ full_name: "Ann Other" });
  const content = "😀".repeat(100_000);
  const [first = ""] = await client.put.contactNotes({ contact_id: large, content, source: "import" });
  const notes = service().app.client.db().collection<{ _id: UUID }>("notes");
  const note = await notes.findOne({ _id: new UUID(first) });
  await notes.insertMany(Array.from({ length: 44 }, () => ({ ...note, _id: new UUID() })));
  const { body } = await client.get("/v1/contacts?query=ann");
  expect(body.data.map((found: { id: string }) => found.id)).toEqual([other, large]);
  expect(body.data[1].notes_timeline).toHaveLength(45);
  expect(body.data[1]).toEqual((await client.get(`/v1/contacts/${large}`)).body.data);
});
