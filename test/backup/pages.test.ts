// The pages in which a backup reads documents: bounded in bytes as well, because a page is in memory at once.
import { randomBytes } from "node:crypto";
import { Binary, BSON, UUID } from "mongodb";
import { expect, test } from "vitest";
import { createApiKeyStore } from "../../src/api-keys/store.ts";
import { createReadDocuments } from "../../src/backup/read.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { useService } from "../support/client.ts";

const service = useService();

test("a backup reads few large documents at a time, and each once [OPS-62]", async () => {
  const { id } = await service().account();
  const { client } = service().app;
  const account_id = UUID.createFromHexString(id);
  const documents = Array.from({ length: 8 }, () => ({ _id: new UUID(), account_id, n: "a".repeat(3_000_000) }));
  const notes = client.db().collection("notes");
  for (const document of documents) await notes.insertOne(document as never);
  const listening = listenToMongo(client);
  const read: string[] = [];
  for await (const message of createReadDocuments(client)(account_id, () => deadlineIn(60_000)))
    for (const { collection, bson } of message.documents)
      if (collection === "notes") read.push(String((BSON.deserialize(bson) as { _id: UUID })._id));
  expect(read).toEqual(documents.map(({ _id }) => String(_id)).sort());
  // Three of them reach the 8 MB of a page.
  expect(listening.stop().filter(({ label }) => label === "aggregate notes")).toHaveLength(3);
});

test("the keys of an owner who rotates all the time are read in pages, each once, the active one and the account last [OPS-62]", async () => {
  const account = await service().account();
  const { client } = service().app;
  const account_id = UUID.createFromHexString(account.id);
  const keys = client.db().collection<{ _id: Binary }>("api_keys");
  // Some of them are of the same millisecond, also where a page ends.
  const revoked = Array.from({ length: 1_700 }, (_, at) => ({
    _id: new Binary(randomBytes(32)),
    account_id,
    created_at: new Date(1_700_000_000_000 + Math.floor(at / 300)),
    revoked_at: new Date(),
  }));
  await keys.insertMany(revoked);
  const [first] = await keys.find({ account_id, active: true } as object).toArray();
  const store = createApiKeyStore(client.db());
  async function rotate(): Promise<void> {
    await store.revoke(account_id);
    await store.create(account_id, "read_write");
    await client
      .db()
      .collection("accounts")
      .updateOne({ _id: account_id as never }, { $inc: { version: 1 } });
  }
  const read: [string, string, boolean][] = [];
  const listening = listenToMongo(client);
  for await (const message of createReadDocuments(client)(account_id, () => deadlineIn(60_000))) {
    for (const { collection, bson } of message.documents) {
      const { _id, active } = BSON.deserialize(bson) as { _id: Binary; active?: true };
      read.push([collection, _id.toString("base64"), active === true]);
    }
    if (read.some(([collection]) => collection === "api_keys")) await rotate();
  }
  const commands = listening.stop();
  const [last, ...others] = read.reverse();
  expect(last?.[0]).toBe("accounts");
  const ids = others.filter(([collection]) => collection === "api_keys").map(([, id]) => id);
  const stored = await keys.find({ account_id } as object).toArray();
  expect(new Set(ids).size).toBe(ids.length);
  // The last rotation came after the last message.
  expect(stored.filter(({ _id }) => !ids.includes(_id.toString("base64")))).toHaveLength(1);
  expect(ids).toContain(first?._id.toString("base64"));
  expect(others.map(([, , active]) => active).filter(Boolean)).toHaveLength(1);
  expect(others[0]?.[2]).toBe(true);
  expect(commands.filter(({ label }) => label === "aggregate api_keys").length).toBeGreaterThan(4);
});
