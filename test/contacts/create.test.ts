// POST /v1/contacts: what is written, what is returned, and what is rejected without a trace.
import { expect, test } from "vitest";
import { counts, newClient, useService } from "../support/client.ts";
import { contact, mismatches } from "../fixtures/clients/shapes.ts";

const service = useService();

test("a create is 201 with the whole contact, and Location points to it [CCR-01, CCR-02, CGT-07]", async () => {
  const client = await newClient(service());
  const before = Date.now();
  const { status, headers, body } = await client.post("/v1/contacts", {
    full_name: "Ann Lee",
    email: "Ann@Example.com",
    phone: "+1 415",
  });
  expect(status).toBe(201);
  expect(Object.keys(body)).toEqual(["data"]);
  expect(mismatches(contact, body.data)).toEqual([]);
  expect(body.data).toMatchObject({
    full_name: "Ann Lee",
    email: "Ann@Example.com",
    phone: "+1 415",
    notes: null,
    memory: null,
    inferred_name: null,
    archived_at: null,
    notes_timeline: [],
    recent_sessions: [],
  });
  expect(body.data.updated_at).toBe(body.data.created_at);
  expect(Date.parse(body.data.created_at)).toBeGreaterThanOrEqual(before);
  expect(headers.get("location")).toBe(`/v1/contacts/${body.data.id}`);
  const read = await client.get(headers.get("location") ?? "");
  expect(read.body).toEqual(body);
});

test("a property other than the three is 422 and named, and nothing is written [CCR-07, CCR-10, ERR-02]", async () => {
  const client = await newClient(service());
  const before = await counts(service());
  const extra = [
    "id",
    "account_id",
    "archived_at",
    "memory",
    "notes",
    "inferred_name",
    "created_at",
    "external_id",
    "fullName",
    "Full_Name",
    "__proto__",
    "constructor",
    "update_mask",
    "",
  ];
  for (const name of extra) {
    const { status, body } = await service().rest("/v1/contacts", {
      key: client.key,
      raw: `{"full_name":"Ann",${JSON.stringify(name)}:null}`,
    });
    expect(status, name).toBe(422);
    expect(body.error.message).toContain("is not a known property. Use full_name, email or phone");
    expect(body.error.details).toMatchObject([{ rule: "unknown_property" }]);
  }
  expect(await counts(service())).toEqual(before);
});

test("stores texts as sent, without trimming or normalization, and with NUL [VAL-13, VAL-15]", async () => {
  const client = await newClient(service());
  for (const text of [
    "  Ann  ",
    "\tAnn\n",
    "Jose\u0301",
    "Jos\u00e9",
    "a\u0000b",
    "\ufeffAnn",
    "👩‍👩‍👧",
    "\u202eAnn",
    "ﬁ",
    "\u00a0",
  ]) {
    const { status, body } = await client.post("/v1/contacts", { full_name: text, phone: text });
    expect(status, JSON.stringify(text)).toBe(201);
    expect(body.data).toMatchObject({ full_name: text, phone: text });
    const read = await client.get(`/v1/contacts/${body.data.id}`);
    expect(read.body.data).toMatchObject({ full_name: text, phone: text });
  }
});
