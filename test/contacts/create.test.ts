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

test("email and phone may each be omitted or null [CCR-14, VAL-17]", async () => {
  const client = await newClient(service());
  for (const more of [{}, { email: null }, { phone: null }, { email: null, phone: null }]) {
    const { status, body } = await client.post("/v1/contacts", { full_name: "Ann", ...more });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ email: null, phone: null });
  }
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

test("100 unknown properties do not hide violations of known ones [ERR-03, CCR-10]", async () => {
  const client = await newClient(service());
  const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`p${at}`, at]));
  const last = async (body: object): Promise<string[]> =>
    (await client.post("/v1/contacts", { ...unknown, ...body })).body.error.message.split("; ").slice(49);
  const more = "p49: is not a known property. Use full_name, email or phone (and 50 more)";
  expect(await last({})).toEqual([more, "full_name: is required"]);
  expect(await last({ email: "bad", phone: 5, full_name: "" })).toEqual([
    more,
    "phone: must be a string",
    "full_name: must not be empty",
    "email: must be an email address such as name@example.com",
  ]);
});

test("full_name is required and a string: missing or null is 422 [CCR-11]", async () => {
  const client = await newClient(service());
  for (const body of [
    {},
    { email: null },
    { full_name: null },
    { full_name: 1 },
    { full_name: true },
    { full_name: ["Ann"] },
    { full_name: {} },
  ]) {
    const response = await client.post("/v1/contacts", body);
    expect(response.status, JSON.stringify(body)).toBe(422);
    expect(response.body.error.message).toMatch(/^full_name: /);
  }
});

test("a read-only key is 403 and writes nothing [CCR-04, AUT-05]", async () => {
  const reader = await newClient(service(), "read_only");
  const before = await counts(service());
  const { status, body } = await reader.post("/v1/contacts", { full_name: "Ann" });
  expect(status).toBe(403);
  expect(body.error.code).toBe("403");
  expect(await counts(service())).toEqual(before);
  expect((await reader.get("/v1/contacts?query=ann")).status).toBe(200);
});

test("without a key a create is 401 [CCR-03]", async () => {
  const before = await counts(service());
  expect((await service().rest("/v1/contacts", { body: { full_name: "Ann" } })).status).toBe(401);
  expect(await counts(service())).toEqual(before);
});

test("an email of another active contact is 409, and nothing is written [CCR-06]", async () => {
  const client = await newClient(service());
  await client.post("/v1/contacts", { full_name: "Ann", email: "ann@example.com" });
  const before = await counts(service());
  const { status, body, headers } = await client.post("/v1/contacts", {
    full_name: "Ann Too",
    email: "ANN@example.com",
  });
  expect(status).toBe(409);
  expect(body).toEqual({
    error: {
      code: "409",
      message: "The email is already used by another active contact. Choose another email or update that contact.",
      reason: "DUPLICATE_EMAIL",
      details: [
        {
          field: "email",
          rule: "unique",
          message: "must not be that of another active contact",
          contact_id: expect.any(String),
        },
      ],
    },
  });
  expect(headers.get("location")).toBeNull();
  expect(await counts(service())).toEqual(before);
});

test("the reference lists 404 among the statuses of a create [CCR-05]", async () => {
  const { body } = await service().rest("/openapi.json");
  expect(Object.keys(body.paths["/v1/contacts"].post.responses)).toEqual(
    expect.arrayContaining(["201", "401", "403", "404", "409", "422", "429", "503"]),
  );
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
