// Tests interruptions: of writes by a lost connection, a frozen instance or a killed one, and of a start by a change of
// primary.
import { Socket } from "node:net";
import { UUID } from "mongodb";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { recordsOf } from "../fixtures/records/stored.ts";
import { wires } from "../fixtures/clients/idempotent-writes.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startChild } from "../fixtures/service/child.ts";
import type { FaultInjector } from "./fault-injector.ts";
import { startFaultInjector } from "./fault-injector.ts";
import type { HeldMessage, MongoProxy } from "../fixtures/network/mongo-proxy.ts";
import { startMongoProxy } from "../fixtures/network/mongo-proxy.ts";

let injector: FaultInjector;
let proxy: MongoProxy;
/** Reaches MongoDB through the proxy. */
let cutOff: TestService;
let other: TestService;

beforeAll(async () => {
  injector = await startFaultInjector(startOwnMongod);
  proxy = await startMongoProxy(injector.mongod.uri);
  [cutOff, other] = [await injector.instance({}, proxy.uri), await injector.instance()];
});
afterAll(async () => {
  await injector.stop();
  await proxy.stop();
});

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Breaks the connection while this command is written, as if the server had just closed it. The driver then passes on
 * the socket error.
 */
function breakUnder(command: string): () => number {
  const write = Socket.prototype.write;
  let broken = 0;
  vi.spyOn(Socket.prototype, "write").mockImplementation(function (
    this: Socket,
    ...args: Parameters<Socket["write"]>
  ): boolean {
    const [data] = args as readonly unknown[];
    // In OP_MSG, the command name follows 16 bytes of header, 5 before the document, 4 of its length and 1 of a type.
    if (broken > 0 || !Buffer.isBuffer(data) || data.toString("latin1", 26, 27 + command.length) !== `${command}\0`)
      return Reflect.apply(write, this, args) as boolean;
    broken += 1;
    process.nextTick(() =>
      this.destroy(Object.assign(new Error("This socket has been ended by the other party"), { code: "EPIPE" })),
    );
    return false;
  });
  return () => broken;
}

test.each(["update", "insert", "commitTransaction"])(
  "a create whose connection breaks while %s is written gets 201 and stores one record [IDM-15]",
  async (command) => {
    const account = await other.account();
    const broken = breakUnder(command);
    const made = await wires.REST.create({ base: other.base, key: account.key }, "k", { full_name: "Once" });
    expect([made.outcome, broken()]).toEqual(["ok", 1]);
    expect(await recordsOf(other.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
  },
);

test("a read whose connection breaks while it is written is retried [OPS-15]", async () => {
  const account = await other.account();
  const list = () => other.rest("/v1/contacts?query=once", { key: account.key });
  expect((await list()).status).toBe(200);
  const broken = breakUnder("aggregate");
  expect([(await list()).status, broken()]).toEqual([200, 1]);
});

test("if the connection is cut before the command that verifies the key, and again after the write that replaces it, the write is retried and creates one contact [IDM-01]", async () => {
  const account = await other.account();
  let cut: Promise<void> | undefined;
  const cutFirst = proxy.arm({ command: "aggregate", collection: "api_keys", when: "before" }, (held) => {
    cut = proxy.arm({ command: "update", collection: "contacts", when: "after" }, (second) => second.cut());
    held.cut();
  });
  const made = await cutOff.rest("/v1/contacts", { key: account.key, body: { full_name: "Once" } });
  await cutFirst;
  await cut;
  expect(made.status).toBe(201);
  expect(await recordsOf(other.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 0 });
});

test.each(["before", "after"] as const)(
  "a create whose connection is cut %s the command that verifies the key and writes is retried and creates one contact [IDM-01]",
  async (when) => {
    const account = await other.account();
    // Caches the key.
    await cutOff.rest("/v1/sessions", { key: account.key });
    const cut = proxy.arm({ command: "aggregate", collection: "api_keys", when }, (held) => held.cut());
    const made = await cutOff.rest("/v1/contacts", {
      key: account.key,
      body: { full_name: "Once", email: "once@example.com" },
    });
    await cut;
    expect(made.status).toBe(201);
    expect(await recordsOf(other.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 0 });
    const stored = await other.rest(`/v1/contacts/${made.body.data.id}`, { key: account.key });
    expect(stored.body).toEqual(made.body);
  },
);

test("a create whose connection is cut after its command, and whose key is then revoked, gets 503, because the contact is stored [IDM-01, CON-03]", async () => {
  const account = await other.account();
  await cutOff.rest("/v1/sessions", { key: account.key });
  let held: HeldMessage | undefined;
  const reached = proxy.arm({ command: "aggregate", collection: "api_keys", when: "after" }, (message) => {
    held = message;
  });
  const made = cutOff.rest("/v1/contacts", { key: account.key, body: { full_name: "Once" } });
  await reached;
  await other.app.services.apiKeys.revoke(new UUID(account.id));
  held?.cut();
  expect((await made).status).toBe(503);
  expect(await recordsOf(other.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 0 });
  expect((await cutOff.rest("/v1/contacts", { key: account.key, body: { full_name: "Once" } })).status).toBe(401);
});

test("an instance that was frozen for seconds and lost its transaction restarts it and stores one record [IDM-15]", async () => {
  const account = await other.account();
  const send = ({ base }: TestService) => wires.REST.create({ base, key: account.key }, "k", { full_name: "Once" });
  let held: HeldMessage | undefined;
  const reached = proxy.arm(
    { command: "insert", collection: "contacts", when: "after" },
    (message) => (held = message),
  );
  const first = send(cutOff);
  await reached;
  const sessions = [{ $currentOp: { allUsers: false, idleSessions: true } }, { $match: { type: "idleSession" } }];
  await expect
    .poll(
      () =>
        other.app.client
          .db("admin")
          .aggregate(sessions, { comment: "watch", readConcern: { level: "local" } })
          .toArray(),
      { timeout: 20_000, interval: 100 },
    )
    .toEqual([]);
  held?.release();
  const { outcome, id } = await first;
  expect(["ok", "503"]).toContain(outcome);
  const retry = await send(other);
  expect(retry.outcome).toBe("ok");
  if (outcome === "ok") expect(retry.id).toBe(id);
  expect(await recordsOf(other.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test("an instance killed during an append does not block another client's update of the contact [IDM-15]", async () => {
  const account = await other.account();
  const parent = await wires.REST.create({ base: other.base, key: account.key }, "parent", { full_name: "Parent" });
  const child = await startChild(proxy.uri, injector.redis.uri);
  try {
    const reached = proxy.arm({ command: "insert", collection: "notes", when: "before" }, () => undefined);
    const outcome = wires.REST.append({ base: child.base, key: account.key }, "k", parent.id, "once").then(
      ({ outcome }) => outcome,
      () => "broken off",
    );
    await reached;
    await child.kill();
    expect(await outcome).toBe("broken off");
    const change = () =>
      other.rest(`/v1/contacts/${parent.id}`, { method: "PATCH", key: account.key, body: { full_name: "Changed" } });
    // MongoDB's own transaction timeout is longer than these four attempts.
    let { status } = await change();
    for (let tries = 1; tries < 4 && status === 503; tries++) ({ status } = await change());
    expect(status).toBe(200);
  } finally {
    await child.kill();
  }
});

test.each([
  ["is lost", "listIndexes", { closeConnection: true }],
  ["is lost", "createIndexes", { closeConnection: true }],
  ["steps down", "createIndexes", { errorCode: 189 }],
])("an instance starts even if the primary %s during %s [OPS-17]", async (_name, command, fault) => {
  const contacts = other.app.client.db().collection("contacts");
  await contacts.dropIndex("list");
  const started = await withFault(
    injector.mongod,
    { times: 1 },
    { failCommands: [command], appName: "records", ...fault },
    () => injector.instance(),
  );
  expect((await started.rest("/v1/health")).status).toBe(200);
  expect(await contacts.indexExists("list")).toBe(true);
});
