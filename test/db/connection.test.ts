// Connections to MongoDB: a command whose connection closes before it is sent fails at once.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { MongoClient } from "mongodb";
import { MongoNetworkError } from "mongodb";
import { Connection } from "mongodb/lib/cmap/connection.js";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import type { TestDatabase } from "../fixtures/databases/database.ts";
import { createDatabase, directUri } from "../fixtures/databases/database.ts";
import type { Proxy } from "../fixtures/network/proxy.ts";
import { startProxy } from "../fixtures/network/proxy.ts";
import { connectMongo } from "../../src/db/mongo.ts";
import { poolOf } from "../../src/db/pool.ts";

let database: TestDatabase;
let proxy: Proxy;
let client: MongoClient;
/** The open sockets to the proxy. */
const sockets = new Set<Socket>();

function remember(message: unknown): void {
  const { socket } = message as { readonly socket: Socket };
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
}

beforeAll(async () => {
  database = await createDatabase(inject("administratorUri"));
  proxy = await startProxy(new URL(database.uri).host);
  subscribe("net.client.socket", remember);
  client = await connectMongo(directUri(database.uri, proxy.host), 10_000, 5);
});
afterAll(async () => {
  unsubscribe("net.client.socket", remember);
  await client.close();
  await proxy.close();
  await database.drop();
});
afterEach(() => void vi.restoreAllMocks());
beforeEach(async () => {
  await proxy.set("fair");
  await client.db().command({ ping: 1 });
});

/** Closes the sockets to the proxy, as the driver does when its monitor misses the server. */
function closeAll(): void {
  for (const socket of sockets) if (`127.0.0.1:${socket.remotePort}` === proxy.host) socket.destroy();
}

test("a command whose connection closes after it was checked out fails at once [OPS-15]", async () => {
  client.once("connectionCheckedOut", closeAll);
  await expect(client.db().command({ ping: 1 })).rejects.toBeInstanceOf(MongoNetworkError);
  expect(poolOf(client).inUse).toBe(0);
  expect(await client.db().command({ ping: 1 })).toMatchObject({ ok: 1 });
});

test("a command whose connection is closed before it is written fails with the reason [OPS-15]", async () => {
  const reason = new MongoNetworkError("the monitor misses the server");
  const { writeCommand } = Connection.prototype;
  vi.spyOn(Connection.prototype, "writeCommand").mockImplementationOnce(function (this: Connection, ...command) {
    this.cleanup(reason);
    return writeCommand.apply(this, command);
  });
  await expect(client.db().command({ ping: 1 })).rejects.toBe(reason);
  expect(poolOf(client).inUse).toBe(0);
});

test("a command whose connection closes while it is being sent fails at once [OPS-15]", async () => {
  await proxy.set("frozen");
  const documents = Array.from({ length: 15 }, () => ({ text: "x".repeat(1_000_000) }));
  const failed = expect(client.db().command({ insert: "large", documents })).rejects.toBeInstanceOf(MongoNetworkError);
  const isSending = (): boolean => [...sockets].some(({ writableLength }) => writableLength > 0);
  await expect.poll(isSending, { timeout: 10_000 }).toBe(true);
  closeAll();
  await failed;
  expect(poolOf(client).inUse).toBe(0);
});
