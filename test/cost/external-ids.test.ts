// Tests that a look-up by external id only reads its own index keys, whatever the size of the account.
import type { Document } from "mongodb";
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { fill } from "./data.ts";

const service = useService();

/** The filter of a find, or of an aggregation that starts with $match. */
function filterOf({ filter, pipeline = [] }: Document): Document {
  return (filter ?? (pipeline as { $match?: Document }[])[0]?.$match ?? {}) as Document;
}

/** The index that a read uses, and the number of keys that it examines. */
async function explained(command: Document): Promise<{ index: string | undefined; keys: number }> {
  const db = service().app.client.db();
  const { executionStats: stats } = await db.command(
    {
      explain: { find: (command["find"] ?? command["aggregate"]) as string, filter: filterOf(command) },
      verbosity: "executionStats",
    },
    {},
  );
  return { index: /"indexName":"([^"]*)"/.exec(JSON.stringify(stats))?.[1], keys: Number(stats.totalKeysExamined) };
}

test("finds a record by external id using only that index, in an account of any size [ING-05, ING-03]", async () => {
  const client = await newClient(service());
  await fill(service().app.client, client.id, { contacts: 400, sessions: 400, notes: 400 });
  await client.put.contact({ external_id: "c" });
  await client.put.session({ external_id: "s" });
  const listening = listenToMongo(service().app.client);
  await client.put.contact({ external_id: "c", full_name: "Ann" });
  await client.put.session({ external_id: "s", contact_external_id: "c" });
  await client.put.contactNotes({ external_id: "n", contact_external_id: "c", content: "one", source: "import" });
  await service().internalCall("records.ingest.v1.IngestService/DeleteRecords", {
    account_id: client.id,
    external: [{ kind: "RECORD_KIND_CONTACT_NOTE", external_id: "n" }],
  });
  const finds = listening.stop().filter(({ command }) => JSON.stringify(filterOf(command)).includes("external_id"));
  expect(finds.map(({ label }) => label).sort()).toEqual([
    "find contacts",
    "find contacts",
    "find contacts",
    "find notes",
    "find notes",
    "find sessions",
  ]);
  for (const { label, command } of finds) {
    const { index, keys } = await explained(command);
    expect(index, label).toBe("external_id");
    expect(keys, label).toBeLessThanOrEqual(2);
  }
});
