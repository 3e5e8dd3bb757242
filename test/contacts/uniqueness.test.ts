// One email, one active contact of an account: in whatever case, through archiving and restoring, and in a race.
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();

test("compares emails in lower case and in no other way [UNI-01]", async () => {
  const client = await newClient(service());
  const create = async (email: string): Promise<number> =>
    (await client.post("/v1/contacts", { full_name: "Ann", email })).status;
  expect(await create("Straße.Ärger@Example.com")).toBe(201);
  expect(await create("sTRAßE.äRGER@eXAMPLE.COM")).toBe(409);
  expect(await create("strasse.ärger@example.com")).toBe(201);
  expect(await create("straße.arger@example.com")).toBe(201);
  expect(await create("straße.a\u0308rger@example.com")).toBe(201);
});

test("two accounts may have the same email [UNI-01]", async () => {
  for (const client of [await newClient(service()), await newClient(service())]) {
    expect((await client.post("/v1/contacts", { full_name: "Ann", email: "same@example.com" })).status).toBe(201);
  }
});

test("contacts without an email do not conflict [UNI-01]", async () => {
  const client = await newClient(service());
  const [first] = await client.put.contacts({ email: "a@example.com" }, { full_name: "Without" });
  expect((await client.patch(`/v1/contacts/${first}`, { email: null })).status).toBe(200);
  expect((await client.post("/v1/contacts", { full_name: "Without too" })).status).toBe(201);
});

test("an email that a contact gives up is free at once [UNI-01, CUP-14]", async () => {
  const client = await newClient(service());
  const [first] = await client.put.contacts({ email: "old@example.com" });
  expect((await client.patch(`/v1/contacts/${first}`, { email: "new@example.com" })).status).toBe(200);
  expect((await client.post("/v1/contacts", { full_name: "Ann", email: "OLD@example.com" })).status).toBe(201);
  expect((await client.post("/v1/contacts", { full_name: "Ann", email: "NEW@example.com" })).status).toBe(409);
});

test("a PATCH to another active contact's email is 409 and changes nothing; to its own email in another case it is 200 [CUP-05, UNI-01]", async () => {
  const client = await newClient(service());
  const [mine] = await client.put.contacts(
    { full_name: "Mine", email: "mine@example.com" },
    { full_name: "Yours", email: "yours@example.com" },
  );
  const rejected = await client.patch(`/v1/contacts/${mine}`, { full_name: "Changed", email: "Yours@Example.com" });
  expect(rejected.status).toBe(409);
  expect(rejected.body.error.message).toBe(
    "The email is already used by another active contact. Choose another email or update that contact.",
  );
  expect((await client.get(`/v1/contacts/${mine}`)).body.data).toMatchObject({
    full_name: "Mine",
    email: "mine@example.com",
  });
  expect((await client.patch(`/v1/contacts/${mine}`, { email: "Mine@Example.com" })).body.data.email).toBe(
    "Mine@Example.com",
  );
});

test("the failure names the contact that has the email, on every wire [UNI-04, ERR-19]", async () => {
  const client = await newClient(service());
  const [holder, other] = await client.put.contacts({ email: "Held@example.com" }, { full_name: "Other" });
  const detail = { field: "email", rule: "unique", message: expect.stringMatching(/\S/), contact_id: holder };
  for (const { status, body } of [
    await client.post("/v1/contacts", { full_name: "Ann", email: "held@Example.com" }),
    await client.patch(`/v1/contacts/${other}`, { email: "held@Example.com" }),
  ])
    expect([status, body.error]).toMatchObject([409, { reason: "DUPLICATE_EMAIL", details: [detail] }]);
  const transport = createConnectTransport({ baseUrl: service().base, httpVersion: "1.1" });
  const headers = { Authorization: `Bearer ${client.key}` };
  const failure = await createClient(ContactService, transport)
    .createContact({ fullName: "Ann", email: "held@example.com" }, { headers })
    .catch((error: unknown) => ConnectError.from(error));
  expect(failure).toBeInstanceOf(ConnectError);
  expect((failure as ConnectError).findDetails(ErrorInfoSchema)).toMatchObject([
    { reason: "DUPLICATE_EMAIL", metadata: { contact_id: holder } },
  ]);
  await client.put.archive(String(holder));
  expect(await client.put.contacts({ email: "held@example.com" })).toHaveLength(1);
});

test("archiving frees the email; restoring the contact while the email is taken is rejected, and it stays archived [UNI-02, ING-02]", async () => {
  const client = await newClient(service());
  const old = await client.put.contact({ full_name: "Old", email: "ann@example.com" });
  await client.put.archive(old);
  const { status, body } = await client.post("/v1/contacts", { full_name: "New", email: "Ann@example.com" });
  expect(status).toBe(201);
  const [result] = await client.put.send("RestoreContacts", "contact_ids", [old]);
  expect(result).toMatchObject({ id: old, error: { reason: "REASON_DUPLICATE_EMAIL" } });
  expect((await client.get(`/v1/contacts/${old}`)).body.data.archived_at).not.toBeNull();
  await client.patch(`/v1/contacts/${body.data.id}`, { email: null });
  expect(await client.put.restore(old)).toEqual([old]);
  expect((await client.get(`/v1/contacts/${old}`)).body.data).toMatchObject({
    archived_at: null,
    email: "ann@example.com",
  });
  expect((await client.patch(`/v1/contacts/${body.data.id}`, { email: "ann@example.com" })).status).toBe(409);
});

test("exactly one of many creates that race for one email is 201 [UNI-03]", async () => {
  const client = await newClient(service());
  for (let round = 0; round < 5; round++) {
    const email = `race${round}@example.com`;
    const race = Array.from({ length: 12 }, (_, index) =>
      client.post("/v1/contacts", {
        full_name: `Racer ${index}`,
        email: index % 2 === 0 ? email : email.toUpperCase(),
      }),
    );
    const statuses = (await Promise.all(race)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...new Array<number>(11).fill(409)]);
  }
  expect((await client.get("/v1/contacts?query=racer")).body.data).toHaveLength(5);
});

test("exactly one of the PATCHes, creates with an idempotency key and restores that race for one email succeeds [UNI-03]", async () => {
  const client = await newClient(service());
  for (let round = 0; round < 5; round++) {
    const email = `mixed${round}@example.com`;
    const [first, second, archived] = await client.put.contacts(
      { full_name: "First" },
      { full_name: "Second" },
      { full_name: "Third", email, archived_at: "2026-01-01T00:00:00Z" },
    );
    const wins = await Promise.all([
      client.patch(`/v1/contacts/${first}`, { email }).then(({ status }) => status === 200),
      client.patch(`/v1/contacts/${second}`, { full_name: "Renamed", email }).then(({ status }) => status === 200),
      client
        .post("/v1/contacts", { full_name: "Fourth", email }, { "Idempotency-Key": `mixed-${round}` })
        .then(({ status }) => status === 201),
      client.put.send("RestoreContacts", "contact_ids", [archived]).then(([result]) => result?.error === undefined),
    ]);
    expect(wins.filter((won) => won)).toHaveLength(1);
    const holders = await service().app.client.db().collection("contacts").countDocuments({ email_key: email });
    expect(holders).toBe(1);
  }
});
