// The audit log of an account: what is written into it, who can read it, and that nothing changes it.
import { readFileSync } from "node:fs";
import type { Collection } from "mongodb";
import { MongoNetworkError, UUID } from "mongodb";
import { expect, test, vi } from "vitest";
import { asAdministrator } from "../fixtures/databases/database.ts";
import { useService } from "../support/client.ts";
import { accountUuid, newUser } from "../support/user.ts";

const service = useService();

test("writes each creation, rotation, revocation and rejection, with who, when, the request and the address [KEY-19, DSH-03]", async () => {
  const user = await newUser(service());
  const headers = (id: string) => ({ "X-Request-Id": id });
  const first = await user.call("/v1/api-key", { method: "POST", headers: headers("r-1") });
  await user.call("/v1/api-key", { method: "POST", headers: headers("r-2") });
  const second = await user.call("/v1/api-key/rotate", {
    method: "POST",
    body: { access: "read_only" },
    headers: headers("r-3"),
  });
  await user.call("/v1/api-key", { method: "DELETE", headers: headers("r-4") });
  await user.call("/v1/api-key", { method: "DELETE", headers: headers("r-5") });
  await user.call("/v1/api-key", { method: "POST", headers: { ...headers("r-6"), Origin: "https://evil.example" } });

  const log = await user.call("/v1/audit-log");
  expect(log.status).toBe(200);
  expect(log.body.pagination).toEqual({ limit: 25, offset: 0, has_more: false, next_offset: null });
  const entries = (log.body.data as Record<string, unknown>[]).map(({ event, detail, key_prefix, request_id }) => [
    request_id,
    event,
    detail,
    key_prefix,
  ]);
  expect(entries).toEqual([
    ["r-6", "key_refused", "Create: Origin: must be that of the dashboard. Use the dashboard's own pages.", null],
    ["r-5", "key_refused", "Revoke: The account has no API key. Create one on the dashboard.", null],
    ["r-4", "key_revoked", null, second.body.data.prefix],
    ["r-3", "key_rotated", "Read-only.", second.body.data.prefix],
    ["r-2", "key_refused", "Create: The account already has an API key. Rotate it, or revoke it first.", null],
    ["r-1", "key_created", "Read and write.", first.body.data.prefix],
  ]);
  for (const entry of log.body.data) {
    expect(Object.keys(entry)).toEqual([
      "id",
      "created_at",
      "event",
      "detail",
      "key_prefix",
      "person",
      "request_id",
      "address",
    ]);
    expect(entry).toMatchObject({
      person: user.email,
      address: "127.0.0.1",
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
  }
});

test("returns the log page by page, newest first", async () => {
  const user = await newUser(service());
  for (let rejection = 0; rejection < 7; rejection++)
    await user.call("/v1/api-key", { method: "DELETE", headers: { "X-Request-Id": `p-${rejection}` } });
  const seen: string[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const page = await user.call(`/v1/audit-log?limit=3&offset=${offset}`);
    seen.push(...(page.body.data as { request_id: string }[]).map(({ request_id }) => request_id));
    offset = page.body.pagination.next_offset as number | null;
  }
  expect(seen).toEqual(["p-6", "p-5", "p-4", "p-3", "p-2", "p-1", "p-0"]);
  for (const query of ["limit=0", "limit=101", "limit=x", "offset=-1", "limit=1&limit=2"])
    expect((await user.call(`/v1/audit-log?${query}`)).status).toBe(422);
});

test("shows an entry of a later release, although this release has no name for its event", async () => {
  const user = await newUser(service());
  await user.call("/v1/api-key", { method: "POST" });
  await service()
    .app.client.db()
    .collection("audit_log")
    .updateMany({ account_id: accountUuid(user) }, { $set: { event: "key_lent" } });
  expect((await user.call("/v1/audit-log")).body.data).toMatchObject([{ event: "other", detail: "Read and write." }]);
});

test("writes nothing for a read, or for a request without a signed-in user", async () => {
  const user = await newUser(service());
  await user.call("/v1/api-key");
  await user.call("/v1/api-key", { method: "DELETE", headers: { Cookie: "" } });
  expect((await user.call("/v1/audit-log")).body.data).toEqual([]);
});

test("makes no change whose entry cannot be written", async () => {
  const user = await newUser(service());
  const validate = (validator: object): Promise<unknown> =>
    asAdministrator(service().administratorUri, (db) => db.command({ collMod: "audit_log", validator }));
  await validate({ event: { $ne: "key_created" } });
  try {
    expect((await user.call("/v1/api-key", { method: "POST" })).status).toBe(500);
    expect((await user.call("/v1/api-key")).status).toBe(404);
  } finally {
    await validate({});
  }
  expect((await user.call("/v1/api-key", { method: "POST" })).status).toBe(201);
});

test("writes a background entry exactly once, whether MongoDB was unavailable or its response was lost [DSH-03]", async () => {
  const { client, services } = service().app;
  const { id } = await service().account();
  const collection = Object.getPrototypeOf(client.db().collection("audit_log")) as Collection;
  const bulkWrite = collection.bulkWrite;
  const insert = vi.spyOn(collection, "bulkWrite");
  insert.mockRejectedValueOnce(new MongoNetworkError("no response"));
  insert.mockImplementationOnce(async function (this: Collection, ...given) {
    await bulkWrite.apply(this, given);
    throw new MongoNetworkError("no response");
  });
  try {
    const actor = { person: "ann@example.com", requestId: "soon-1", address: "127.0.0.1" };
    for (const detail of ["get_contact", "search"])
      services.audit.appendSoon(new UUID(id), actor, { event: "tool_called", detail });
    for (const _ of ["away", "lost"]) await expect(services.audit.flush()).rejects.toThrow("no response");
    expect(
      (await services.audit.list(new UUID(id), { limit: 25, offset: 0 }, undefined)).map(({ detail }) => detail).sort(),
    ).toEqual(["get_contact", "search"]);
  } finally {
    insert.mockRestore();
  }
});

test("a stop waits until MongoDB has stored the background entries", async () => {
  const other = await service().another();
  const { id } = await service().account();
  const collection = Object.getPrototypeOf(other.app.client.db().collection("audit_log")) as Collection;
  const insert = vi.spyOn(collection, "bulkWrite");
  for (const _ of ["away", "still away"]) insert.mockRejectedValueOnce(new MongoNetworkError("no response"));
  try {
    const actor = { person: "ann@example.com", requestId: "stop-1", address: "127.0.0.1" };
    other.app.services.audit.appendSoon(new UUID(id), actor, { event: "tool_called", detail: "search" });
    await other.stop();
    expect(insert).toHaveBeenCalledTimes(3);
  } finally {
    insert.mockRestore();
  }
  const page = { limit: 25, offset: 0 };
  expect(await service().app.services.audit.list(new UUID(id), page, undefined)).toMatchObject([{ detail: "search" }]);
});

test("the store of the log can only add and list entries", () => {
  const source = readFileSync(new URL("../../src/audit/store.ts", import.meta.url), "utf8");
  expect(source).not.toMatch(/\.(update|delete|replace|findOneAnd|bulkWrite|drop)\w*\(/);
});
