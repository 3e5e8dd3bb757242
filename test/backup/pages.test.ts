// The pages in which a backup reads documents: bounded in bytes as well, because a page is in memory at once.
import { BSON, UUID } from "mongodb";
import { expect, test } from "vitest";
import { createReadDocuments } from "../../src/backup/read.ts";
import { deadlineIn } from "../../src/deadline.ts";
import { listenToMongo } from "../../fixtures/databases/commands.ts";
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
