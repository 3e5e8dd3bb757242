// A revoked key fails from the very next request on: on every instance, wire and kind of request, whatever Redis does.
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import { recordsOf } from "../fixtures/records/stored.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { Fields, Rpc, Wire } from "../fixtures/clients/wires.ts";
import { openWires } from "../fixtures/clients/wires.ts";
import { share } from "../support/form.ts";

let service: TestService;
let second: TestService;
const opened: ReturnType<typeof openWires>[] = [];

beforeAll(async () => {
  service = await startService();
  second = await service.another();
  opened.push(openWires(service), openWires(second));
});
afterAll(async () => {
  for (const { close } of opened) close();
  await second.stop();
  await service.stop();
});

/** A kind of request, and its code while the key is valid. */
interface Kind {
  readonly name: string;
  readonly rpc: Rpc;
  readonly idempotencyKey?: string;
  readonly request: (contact: string) => Fields;
  readonly code: string;
}

const kinds: readonly Kind[] = [
  { name: "a read that finds something", rpc: "SearchContacts", request: () => ({ query: "ann" }), code: "ok" },
  { name: "a read of one record", rpc: "GetContact", request: (contact) => ({ contact_id: contact }), code: "ok" },
  { name: "a read that finds nothing", rpc: "SearchContacts", request: () => ({ query: "nobody" }), code: "ok" },
  { name: "a read whose query has no word", rpc: "SearchNotes", request: () => ({ query: "--" }), code: "ok" },
  {
    name: "a list of an impossible time",
    rpc: "ListSessions",
    request: () => ({ from: "2026-02-01", to: "2026-01-01" }),
    code: "ok",
  },
  {
    name: "a list of an unknown contact's sessions",
    rpc: "ListSessions",
    request: () => ({ contact_id: randomUUID() }),
    code: "ok",
  },
  { name: "a list far beyond the end", rpc: "ListSessions", request: () => ({ offset: 2_147_483_647 }), code: "ok" },
  { name: "a read that is invalid", rpc: "SearchContacts", request: () => ({ query: "a" }), code: "invalid_argument" },
  {
    name: "a read of an unknown record",
    rpc: "GetSessionTranscript",
    request: () => ({ session_id: randomUUID() }),
    code: "not_found",
  },
  { name: "a write", rpc: "CreateContact", request: () => ({ full_name: "Ann" }), code: "ok" },
  {
    name: "a change",
    rpc: "UpdateContact",
    request: (contact) => ({ contact_id: contact, full_name: "Ann" }),
    code: "ok",
  },
  {
    name: "a write that is invalid",
    rpc: "CreateContact",
    request: () => ({ full_name: "" }),
    code: "invalid_argument",
  },
  {
    name: "a write on an unknown record",
    rpc: "UpdateContact",
    request: () => ({ contact_id: randomUUID(), full_name: "Ann" }),
    code: "not_found",
  },
  {
    name: "a write that was served before",
    rpc: "AppendContactNote",
    idempotencyKey: "again",
    request: (contact) => ({ contact_id: contact, content: "Hello." }),
    code: "ok",
  },
];

const codes: Readonly<Record<number, string>> = {
  200: "ok",
  201: "ok",
  401: "unauthenticated",
  404: "not_found",
  422: "invalid_argument",
};

async function codeOf(
  wire: Wire,
  { rpc, idempotencyKey }: Kind,
  { key }: TestAccount,
  request: Fields,
): Promise<string> {
  const { http, code } = await wire.call({
    rpc,
    key,
    request,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
  return code ?? codes[http ?? 0] ?? String(http);
}

/** Shows the key to both instances, revokes it, and calls each of them once more. */
async function expectRevoked(kind: Kind, wire: number): Promise<void> {
  const account = await service.account();
  const contact = await ingestInto(service, account.id).contact({ full_name: "Ann" });
  const request = kind.request(contact);
  const call = (instance: number): Promise<string> =>
    codeOf(opened[instance]?.wires[wire] as Wire, kind, account, request);
  expect([await call(0), await call(1)]).toEqual([kind.code, kind.code]);
  expect(await service.app.services.apiKeys.revoke(new UUID(account.id))).toBeDefined();
  const stored = await recordsOf(service.app.client, account);
  expect([await call(0), await call(1)], `${kind.name} on wire ${wire}`).toEqual([
    "unauthenticated",
    "unauthenticated",
  ]);
  expect([await call(0), await call(1)]).toEqual(["unauthenticated", "unauthenticated"]);
  expect(await recordsOf(service.app.client, account), `${kind.name} on wire ${wire}`).toEqual(stored);
}

/** On the wires by their number: 0 is REST, 1 Connect, 2 gRPC, 3 gRPC-Web. */
async function expectAllRevoked(some = share(kinds, 5)): Promise<void> {
  for (const [turn, kind] of some.entries())
    await Promise.all(share([0, 1, 2, 3], 2, turn).map((wire) => expectRevoked(kind, wire)));
}

test("with Redis up a revoked key is rejected on the next request of any kind, on both instances and every wire [AUT-01, WIR-05, OPS-17]", () =>
  expectAllRevoked(kinds));

test("with Redis frozen a revoked key is rejected on the next request of any kind, on both instances and every wire [AUT-01, WIR-05, RTE-13]", async () => {
  process.kill(service.redis.pid, "SIGSTOP");
  try {
    await expectAllRevoked();
  } finally {
    process.kill(service.redis.pid, "SIGCONT");
  }
});

test("an account's new key is valid at once on every instance while its old one stays rejected [AUT-01, OPS-17]", async () => {
  const { id, key } = await service.account();
  for (const instance of [service, second]) expect((await instance.rest("/v1/sessions", { key })).status).toBe(200);
  await service.app.services.apiKeys.revoke(new UUID(id));
  const { secret } = await service.app.services.apiKeys.create(new UUID(id), "read_only");
  for (const instance of [second, service]) {
    expect((await instance.rest("/v1/sessions", { key: secret })).status).toBe(200);
    expect((await instance.rest("/v1/sessions", { key })).status).toBe(401);
    expect((await instance.rest("/v1/contacts", { key: secret, body: { full_name: "Ann" } })).status).toBe(403);
  }
});

test("a key that is no longer stored writes nothing, and neither does one of a suspended account [AUT-01, OPS-33]", async () => {
  for (const [change, status] of [
    [{ $unset: { active: 1 } }, 401],
    [{ $set: { suspended: true } }, 403],
    ["removed", 401],
  ] as const) {
    const account = await service.account();
    const create = (): ReturnType<TestService["rest"]> =>
      service.rest("/v1/contacts", { key: account.key, body: { full_name: "Ann" } });
    expect((await create()).status).toBe(201);
    const keys = service.app.client.db().collection("api_keys");
    const which = { account_id: new UUID(account.id) };
    await (change === "removed" ? keys.deleteOne(which) : keys.updateOne(which, change));
    expect((await create()).status).toBe(status);
    expect(await recordsOf(service.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 0 });
  }
});
