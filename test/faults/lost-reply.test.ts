// A connection is cut at every step of a write with a key: to MongoDB before or after each command, and to the client.
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordsOf } from "../idempotency/stored.ts";
import { startOwnMongod, withFault } from "../support/own-mongod.ts";
import type { TestService } from "../support/service.ts";
import { startChild } from "./child.ts";
import type { Hurt } from "./hurt.ts";
import { startHurt } from "./hurt.ts";
import type { HeldMessage, MongoProxy } from "./mongo-proxy.ts";
import { startMongoProxy } from "./mongo-proxy.ts";
import { brokenWrites, prepare, spell } from "./steps.ts";

let hurt: Hurt;
let proxy: MongoProxy;
/** It reaches MongoDB by way of the proxy. */
let cutOff: TestService;
let other: TestService;

beforeAll(async () => {
  hurt = await startHurt(startOwnMongod);
  proxy = await startMongoProxy(Number(new URL(hurt.mongod.uri).port));
  [cutOff, other] = [await hurt.instance({}, proxy.uri("records")), await hurt.instance()];
});
afterAll(async () => {
  await hurt.stop();
  await proxy.stop();
});

describe("the connection to MongoDB is cut", () => {
  test.each(brokenWrites.map((write) => [spell(write), write] as const))("%s: the request or its retry is 201, and there is one record [IDM-15]", async (_name, write) => {
    const { account, send, once } = await prepare(other, write.operation);
    const cut = proxy.arm(write, (held) => held.cut());
    const first = await send(cutOff.base, write.wire);
    await cut;
    const retry = await send(other.base, "REST");
    expect([retry.outcome, ["ok", "503", "Unavailable"].includes(first.outcome)]).toEqual(["ok", true]);
    if (first.outcome === "ok") expect([retry.id, retry.replayed]).toEqual([first.id, true]);
    expect(await recordsOf(other.app.client, account)).toEqual(once);
  });

  test("after the insert of a create without a key: the insert is repeated by its number, and there is one contact [IDM-01]", async () => {
    const account = await other.account();
    const cut = proxy.arm({ command: "insert", collection: "contacts", when: "after" }, (held) => held.cut());
    const made = await cutOff.rest("/v1/contacts", { key: account.key, body: { full_name: "Once" } });
    await cut;
    expect(made.status).toBe(201);
    expect(await recordsOf(other.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 0 });
  });
});

test("an instance that loses its transaction because it was frozen for seconds begins it again: one record [IDM-15]", async () => {
  const { account, send, once } = await prepare(other, "create");
  let held: HeldMessage | undefined;
  const reached = proxy.arm({ command: "insert", collection: "contacts", when: "after" }, (message) => (held = message));
  const first = send(cutOff.base, "REST");
  await reached;
  const sessions = [{ $currentOp: { allUsers: false, idleSessions: true } }, { $match: { type: "idleSession" } }];
  await expect.poll(() => other.app.client.db("admin").aggregate(sessions, { comment: "watch" }).toArray(), { timeout: 10_000, interval: 100 }).toEqual([]);
  held?.release();
  const { outcome, id } = await first;
  expect(["ok", "503"]).toContain(outcome);
  const retry = await send(other.base, "REST");
  expect(retry.outcome).toBe("ok");
  if (outcome === "ok") expect(retry.id).toBe(id);
  expect(await recordsOf(other.app.client, account)).toEqual(once);
});

describe("mongod itself fails", () => {
  test.each([
    ["closes the connection before the claim", { failCommands: ["update"], closeConnection: true }],
    ["closes the connection before the insert", { failCommands: ["insert"], closeConnection: true }],
    ["closes the connection before the commit", { failCommands: ["commitTransaction"], closeConnection: true }],
    ["commits and says that it is shutting down", { failCommands: ["commitTransaction"], writeConcernError: { code: 91, errmsg: "test" } }],
    ["is no longer primary at the insert", { failCommands: ["insert"], errorCode: 10107, errorLabels: ["TransientTransactionError"] }],
    ["aborts the transaction at the commit", { failCommands: ["commitTransaction"], errorCode: 251, errorLabels: ["TransientTransactionError"] }],
  ])("%s: 201, and one record [IDM-15]", async (_name, fault) => {
    const { account, send, once } = await prepare(other, "create");
    const first = await withFault(hurt.mongod.uri, { times: 1 }, { ...fault, appName: "records" }, () => send(other.base, "REST"));
    expect([first.outcome, first.replayed]).toEqual(["ok", false]);
    expect((await send(cutOff.base, "gRPC")).id).toBe(first.id);
    expect(await recordsOf(other.app.client, account)).toEqual(once);
  });
});

/** A way to an instance on which no reply comes back: at its first byte the connection is cut. */
async function deafWay(port: number): Promise<{ base: string; heardNothing(): number; stop(): void }> {
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    const isHttp2 = { far: false };
    near.pipe(far);
    far.on("data", (chunk: Buffer) => {
      // HTTP/2 begins with a SETTINGS frame of the server; the reply is what brings HEADERS (type 1).
      const preface = chunk[3] === 4;
      isHttp2.far ||= preface;
      if (isHttp2.far && !hasHeaders(chunk)) return void near.write(chunk);
      cuts += 1;
      near.destroy();
      far.destroy();
    });
    for (const socket of [near, far]) socket.on("error", () => undefined).on("close", () => (near.destroy(), far.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heardNothing: () => cuts, stop: () => void server.close() };
}

/** Whether a chunk of whole HTTP/2 frames holds a HEADERS frame. */
function hasHeaders(chunk: Buffer): boolean {
  for (let at = 0; at + 9 <= chunk.length; at += 9 + chunk.readUIntBE(at, 3)) if (chunk[at + 3] === 1) return true;
  return false;
}

test("committed and answered, but the client never heard, and the instance is killed then: retries elsewhere replay, one record each [IDM-15]", async () => {
  const child = await startChild(hurt.mongod.uri, hurt.redis.uri);
  const way = await deafWay(Number(new URL(child.base).port));
  try {
    const writes = [];
    for (const operation of ["create", "append"] as const) {
      for (const wire of ["REST", "gRPC", "Connect"] as const) {
        const prepared = await prepare(other, operation);
        const heard = await prepared.send(way.base, wire).then(({ outcome }) => outcome, () => "broken off");
        expect(heard).not.toBe("ok");
        writes.push({ ...prepared, wire });
      }
    }
    await child.kill();
    for (const { account, send, once, wire } of writes) {
      expect(await recordsOf(other.app.client, account)).toEqual(once);
      const retry = await send(other.base, wire);
      expect([retry.outcome, retry.replayed]).toEqual(["ok", true]);
      expect(await recordsOf(other.app.client, account)).toEqual(once);
    }
    expect(way.heardNothing()).toBeGreaterThanOrEqual(writes.length);
  } finally {
    way.stop();
    await child.kill();
  }
});
