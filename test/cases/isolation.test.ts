// One account sees nothing of another: every id through every endpoint, every list, on every surface.
import { afterAll, beforeAll, expect, test } from "vitest";
import { counts, newClient, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner, reads, writes } from "../support/every.ts";
import { randomId } from "../fixtures/service/service.ts";
import type { Wire } from "../fixtures/clients/wires.ts";
import { requests as requestsOf } from "../fixtures/clients/operations.ts";
import { openWires } from "../fixtures/clients/wires.ts";

const service = useService();
let wires: readonly Wire[];
let close: () => void;
let owner: Owner;
let stranger: Owner;
beforeAll(async () => {
  ({ wires, close } = openWires(service()));
  [owner, stranger] = [await newOwner(service()), await newOwner(service())];
});
afterAll(() => close());

test("another account's records cannot be distinguished from unknown ones: the status, headers and bytes are the same [ISO-01, ISO-02, ISO-03]", async () => {
  const nothing = { contact: randomId(), session: randomId() };
  const before = await counts(service());
  const theirs = (await stranger.get(`/v1/contacts/${stranger.contact}`)).text;
  const requests = (ids: { contact: string; session: string }) =>
    [...reads(ids), ...writes(ids)].filter(({ path }) => path.includes(ids.contact) || path.includes(ids.session));
  expect(requests(stranger).length).toBeGreaterThanOrEqual(5);
  for (const [index, hidden] of requests(stranger).entries()) {
    const missing = requests(nothing)[index] ?? hidden;
    const [first, second] = await Promise.all(
      [hidden, missing].map(({ path, method, body }) => service().rest(path, { key: owner.key, method, body })),
    );
    expect(first?.status, hidden.path).toBe(404);
    expect(first?.text).toBe(
      '{"error":{"code":"404","message":"There is no such record in this account. Check the id.","reason":"NOT_FOUND"}}',
    );
    expect(first?.text).toBe(second?.text);
    const headers = (response: typeof first) =>
      [...(response?.headers ?? [])].filter(
        ([name]) => !["x-request-id", "date", "connection", "keep-alive"].includes(name),
      );
    expect(headers(first)).toEqual(headers(second));
  }
  expect(await counts(service())).toEqual(before);
  expect((await stranger.get(`/v1/contacts/${stranger.contact}`)).text).toBe(theirs);
});

test("the search of contacts, the list of sessions and the search of notes return nothing of another account [ISO-04]", async () => {
  const alone = await newClient(service());
  for (const path of [
    "/v1/contacts?query=ann",
    "/v1/sessions",
    "/v1/sessions?query=budget",
    "/v1/sessions?from=2026-01-01",
    `/v1/sessions?contact_id=${owner.contact}`,
    "/v1/notes?query=budget",
  ]) {
    expect((await alone.get(path)).body.data, path).toEqual([]);
    const { data } = (await owner.get(path)).body;
    expect(data, path).toHaveLength(1);
    expect([owner.contact, owner.session]).toContain(data[0].id ?? data[0].parent_id);
  }
});

test("over Connect, gRPC and gRPC-Web another account's id is not_found, as an unknown one is [ISO-05]", async () => {
  for (const wire of wires.slice(1)) {
    for (const { contact, session } of [stranger, { contact: randomId(), session: randomId() }]) {
      const calls = requestsOf({ contact, session }).filter(([, request]) =>
        Object.values(request).some((value) => value === contact || value === session),
      );
      expect(calls.length).toBeGreaterThanOrEqual(5);
      for (const [rpc, request] of calls) {
        const { code, reason, message } = await wire.call({ rpc, request, key: owner.key });
        expect([code, reason, message], `${rpc} by ${wire.name}`).toEqual([
          "not_found",
          "NOT_FOUND",
          "There is no such record in this account. Check the id.",
        ]);
      }
    }
  }
});

test("two accounts can use the same Idempotency-Key independently [ISO-06]", async () => {
  const headers = { "Idempotency-Key": "the-same" };
  const [first, second] = await Promise.all(
    [owner, stranger].map((client) => client.post("/v1/contacts", { full_name: "Both" }, headers)),
  );
  expect([first?.status, second?.status]).toEqual([201, 201]);
  expect(first?.body.data.id).not.toBe(second?.body.data.id);
  expect((await owner.post("/v1/contacts", { full_name: "Both" }, headers)).text).toBe(first?.text);
  expect((await stranger.post("/v1/contacts", { full_name: "Both" }, headers)).text).toBe(second?.text);
});

test("an internal call sees only the account of records-account-id [ISO-08, ADM-01]", async () => {
  const get = (contact_id: string, account: string) =>
    service().internalCall("records.v1.ContactService/GetContact", { contact_id }, { "records-account-id": account });
  expect((await get(owner.contact, owner.id)).body.contact.id).toBe(owner.contact);
  expect((await get(owner.contact, owner.id.toUpperCase())).body.contact.id).toBe(owner.contact);
  const hidden = await get(stranger.contact, owner.id);
  expect([hidden.status, hidden.body.code]).toEqual([404, "not_found"]);
  const found = await service().internalCall(
    "records.v1.NoteService/SearchNotes",
    { query: "budget" },
    { "records-account-id": owner.id },
  );
  expect(found.body.notes).toMatchObject([{ parentId: owner.contact }]);
});

test("the public listener serves nothing internal, and nothing that creates accounts, enrols them or imports data [ISO-09, WIR-01]", async () => {
  const before = await counts(service());
  const internal = [
    "records.admin.v1.AccountService/CreateAccount",
    "records.admin.v1.AccountService/SetBetaEnrolment",
    "records.admin.v1.InterfaceService/SetWrites",
    "records.ingest.v1.IngestService/UpsertContacts",
    "grpc.health.v1.Health/Check",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
  ];
  for (const path of [
    ...internal,
    "metrics",
    "livez",
    "readyz",
    "v1/accounts",
    "v1/import",
    "v1/ingest",
    "records.v1.AccountService/CreateAccount",
  ]) {
    for (const key of [undefined, owner.key, service().serviceToken]) {
      const response = await service().rest(`/${path}`, {
        key,
        body: { account_id: owner.id, email: "x@example.com", contacts: [{ full_name: "Smuggled" }] },
      });
      expect(response.status, path).toBe(404);
      expect(response.body.error.code, path).toBe("404");
    }
  }
  expect(await counts(service())).toEqual(before);
});
