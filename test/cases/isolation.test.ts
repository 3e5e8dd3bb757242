// Another account's records and the internal services: neither can be told from what does not exist.
import { beforeAll, expect, test } from "vitest";
import { counts, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner, reads, writes } from "../support/every.ts";
import { randomId } from "../fixtures/service/service.ts";

const service = useService();
let owner: Owner;
let stranger: Owner;
beforeAll(async () => {
  [owner, stranger] = [await newOwner(service()), await newOwner(service())];
});

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
