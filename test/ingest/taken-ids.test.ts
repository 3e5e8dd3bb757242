// Ids that another account has: an item that names one fails alone, also where no index can reject it.
import { UUID } from "mongodb";
import { expect, test, vi } from "vitest";
import { primaryOf } from "../../src/db/primary.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { randomId } from "../fixtures/service/service.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();

test("a transcript that another account's erasure has not deleted yet fails one item, not the batch [ING-03, ING-08]", async () => {
  const client = await newClient(service());
  const [kept, orphaned] = await client.put.sessions({ id: randomId() }, { id: randomId() });
  const transcripts = service().app.client.db().collection("transcripts");
  const orphan = { _id: new UUID(orphaned), account_id: new UUID(), text: null, recording: null };
  await transcripts.insertOne(orphan as never);
  const results = await client.put.send("PutTranscripts", "transcripts", [
    { session_id: orphaned, transcript: "Ann: Hello" },
    { session_id: kept, transcript: "Ben: Hello" },
  ]);
  expect(results.map(({ error }) => error?.reason)).toEqual(["REASON_ALREADY_EXISTS", undefined]);
  expect((await client.records.sessions.transcript(kept ?? "")).transcript).toBe("Ben: Hello");
  expect(await transcripts.findOne({ _id: orphan._id as never })).toEqual(orphan);
});

test("behind a mongos, ids of other accounts are found before anything is written [ING-08]", async () => {
  const [owner, client] = [await newClient(service()), await newClient(service())];
  const [theirs] = await owner.put.sessions({ id: randomId() });
  const { client: database } = service().app;
  vi.spyOn(primaryOf(database), "sharded").mockReturnValue(true);
  const listening = listenToMongo(database);
  const results = await client.put.send("UpsertSessions", "sessions", [
    { id: theirs, title: "Mine" },
    { id: randomId(), title: "Other" },
  ]);
  const inserts = listening.stop().filter(({ name }) => name === "insert");
  expect(results.map(({ error }) => error?.reason)).toEqual(["REASON_ALREADY_EXISTS", undefined]);
  // The one that is free. With the index of a replica set, both would have been sent first.
  expect(inserts.map(({ command }) => (command["documents"] as unknown[]).length)).toEqual([1]);
});
