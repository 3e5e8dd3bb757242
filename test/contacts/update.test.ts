// PATCH /v1/contacts/{contact_id}: what is changed, what stays, and what moves along with a name.
import { expect, test } from "vitest";
import { ids, newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";
import { contact, mismatches } from "../fixtures/clients/shapes.ts";

const service = useService();

test("a PATCH is 200 with the whole updated contact, and the next read returns the same [CUP-01, SRC-07]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({
    full_name: "Ann",
    email: "a@example.com",
    phone: "1",
    notes: "n",
    memory: "m",
    inferred_name: "i",
    external_id: "e",
  });
  await client.put.contactNotes({ contact_id: id, content: "c", source: "import" });
  await client.put.session({ contact_id: id, session_date: "2026-01-01T00:00:00Z" });
  const { body: before } = await client.get(`/v1/contacts/${id}`);
  const { status, body } = await client.patch(`/v1/contacts/${id}`, {
    full_name: "Ann Lee",
    email: "lee@example.com",
    phone: "2",
  });
  expect(status).toBe(200);
  expect(mismatches(contact, body.data)).toEqual([]);
  expect(body.data).toEqual({
    ...before.data,
    full_name: "Ann Lee",
    email: "lee@example.com",
    phone: "2",
    updated_at: body.data.updated_at,
  });
  expect((await client.get(`/v1/contacts/${id}`)).body).toEqual(body);
});

test("a PATCH accepts any one property alone, and keeps the others [CUP-10, CUP-14]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann", email: "a@example.com", phone: "1" });
  let known: Record<string, unknown> = { full_name: "Ann", email: "a@example.com", phone: "1" };
  for (const change of [
    { full_name: "Bo" },
    { email: "b@example.com" },
    { phone: "2" },
    { email: null },
    { phone: null },
    { phone: "" },
  ]) {
    const { status, body } = await client.patch(`/v1/contacts/${id}`, change);
    known = { ...known, ...change };
    expect(status, JSON.stringify(change)).toBe(200);
    expect(body.data).toMatchObject(known);
  }
});

test("a PATCH without a property, with an unknown property, or with full_name null is 422 and changes nothing [CUP-10, CUP-11, CUP-12]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann", memory: "m" });
  const { body: before } = await client.get(`/v1/contacts/${id}`);
  const rejected = [
    {},
    { full_name: null },
    { full_name: "" },
    { full_name: "a".repeat(201) },
    { memory: "x" },
    { notes: null },
    { archived_at: null },
    { id: randomId() },
    { full_name: "Bo", x: 1 },
    { update_mask: "phone" },
    { contact_id: id, phone: "1" },
  ];
  for (const change of rejected) {
    const response = await client.patch(`/v1/contacts/${id}`, change);
    expect(response.status, JSON.stringify(change)).toBe(422);
    expect(response.body.error.code).toBe("422");
  }
  expect((await client.get(`/v1/contacts/${id}`)).body).toEqual(before);
});

test("a PATCH accepts a full_name of 200, an email of 254 and a phone of 50 characters, and rejects one more [CUP-12, CUP-13]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  const accepted = { full_name: "😀".repeat(200), email: `${"a".repeat(242)}@example.com`, phone: "1".repeat(50) };
  expect((await client.patch(`/v1/contacts/${id}`, accepted)).body.data).toMatchObject(accepted);
  for (const change of [
    { full_name: "😀".repeat(201) },
    { email: `${"a".repeat(243)}@example.com` },
    { email: "a@b" },
    { email: "" },
    { phone: "1".repeat(51) },
    { email: 1 },
    { phone: 1 },
  ]) {
    expect((await client.patch(`/v1/contacts/${id}`, change)).status, JSON.stringify(change)).toBe(422);
  }
  expect((await client.get(`/v1/contacts/${id}`)).body.data).toMatchObject(accepted);
});

test("a PATCH changes updated_at, even if it repeats the current values, and never created_at [CUP-15]", async () => {
  const client = await newClient(service());
  const { body: created } = await client.post("/v1/contacts", { full_name: "Ann" });
  let last = Date.parse(created.data.updated_at);
  for (let again = 0; again < 3; again++) {
    const { body } = await client.patch(`/v1/contacts/${created.data.id}`, { full_name: "Ann" });
    expect(Date.parse(body.data.updated_at)).toBeGreaterThan(last);
    expect(body.data.created_at).toBe(created.data.created_at);
    last = Date.parse(body.data.updated_at);
  }
});

test("a new name changes the client's name of its sessions, their search terms, and the labels of its notes [SLS-06, SLS-21, NOT-07]", async () => {
  const client = await newClient(service());
  const [id, other] = await client.put.contacts(
    { full_name: "Zebulon", inferred_name: "Zeb" },
    { full_name: "Quentin" },
  );
  const [session, untitled, others] = await client.put.sessions(
    { contact_id: id, title: "Budget" },
    { contact_id: id },
    { contact_id: other, title: "Budget" },
  );
  await client.put.contactNotes({ contact_id: id, content: "Remember the milk", source: "import" });
  await client.patch(`/v1/contacts/${id}`, { full_name: "Yolanda", email: "y@example.com" });

  expect((await client.get(`/v1/sessions/${session}`)).body.data.client).toEqual({
    id,
    full_name: "Yolanda",
    email: "y@example.com",
  });
  const found = await client.get("/v1/sessions?query=yolanda");
  expect(ids(found).sort()).toEqual([session, untitled].sort());
  expect(found.body.data[0].client).toEqual({ id, full_name: "Yolanda" });
  expect(ids(await client.get("/v1/sessions?query=budget+yolanda"))).toEqual([session]);
  expect(ids(await client.get("/v1/sessions?query=zebulon"))).toEqual([]);
  expect(ids(await client.get("/v1/sessions?query=quentin"))).toEqual([others]);
  expect((await client.get("/v1/notes?query=milk")).body.data).toMatchObject([
    { parent_id: id, parent_label: "Yolanda" },
  ]);
});

test("concurrent changes of one contact all take effect, each on top of the other [CUP-14]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  const changes = [{ full_name: "Bo" }, { email: "bo@example.com" }, { phone: "1" }];
  const responses = await Promise.all(changes.map((change) => client.patch(`/v1/contacts/${id}`, change)));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await client.get(`/v1/contacts/${id}`)).body.data).toMatchObject({
    full_name: "Bo",
    email: "bo@example.com",
    phone: "1",
  });
});

test("a PATCH keeps the last instant that a contact can have [CUP-15]", async () => {
  const client = await newClient(service());
  const last = "9999-12-31T23:59:59.999Z";
  const id = await client.put.contact({ full_name: "Ann", updated_at: last });
  expect((await client.patch(`/v1/contacts/${id}`, { phone: "1" })).body.data).toMatchObject({
    phone: "1",
    updated_at: last,
  });
  expect((await client.get(`/v1/contacts/${id}`)).body.data.updated_at).toBe(last);
});
