// `records shard --print`: the commands for mongosh, and how the doctor checks their result.
import { expect, test } from "vitest";
import { compareSharding } from "../../src/cli/doctor/mongodb.ts";
import { shardCommands } from "../../src/cli/shard.ts";
import { placements } from "../../src/db/sharding.ts";
import { runCommand } from "./cli.ts";

const split = ["contacts", "sessions", "transcripts", "notes", "idempotency"];

test("prints the commands for a new cluster whose shards share the accounts: the zones, then the split of the collections [OPS-17]", async () => {
  const { code, stdout, stderr } = await runCommand(["shard", "--print", "--shards", "east,west"]);
  expect([code, stderr]).toEqual([0, ""]);
  const lines = stdout.trim().split("\n");
  expect(lines).toContain('sh.shardCollection("records.notes", { "account_id": 1 })');
  expect(lines).toContain('sh.shardCollection("records.idempotency", { "_id.account_id": 1 })');
  expect(lines).toContain(
    'db.getSiblingDB("records").idempotency.createIndex({ "_id.account_id": 1 }, { name: "shard_key" })',
  );
  const half = 'UUID("80000000-0000-0000-0000-000000000000")';
  for (const range of [
    `{ "account_id": MinKey() }, { "account_id": ${half} }, "records-0"`,
    `{ "account_id": ${half} }, { "account_id": MaxKey() }, "records-1"`,
  ])
    expect(lines).toContain(`sh.updateZoneKeyRange("records.contacts", ${range})`);
  const places = (text: string): number[] => lines.flatMap((line, at) => (line.startsWith(text) ? [at] : []));
  expect(Math.max(...places("sh.updateZoneKeyRange"))).toBeLessThan(Math.min(...places("sh.shardCollection")));
  expect(places("sh.shardCollection")).toHaveLength(split.length);
  // Every line that is not a comment is a call, so that the whole output can be run.
  for (const line of lines) expect(line).toMatch(/^(\/\/ .*|(sh|db)\..*\))$/);
});

test("splits an existing database first and moves it afterwards, by its own name; without shards there are no zones [OPS-17]", () => {
  const lines = shardCommands({ database: "crm", shards: ["a", "b", "c"], existing: true });
  const first = (text: string): number => lines.findIndex((line) => line.startsWith(text));
  expect(first("sh.shardCollection")).toBeLessThan(first("sh.updateZoneKeyRange"));
  expect(first("sh.startBalancer()")).toBeGreaterThan(first("sh.updateZoneKeyRange"));
  expect(lines.filter((line) => line.includes("55555555-0000")).length).toBe(2 * split.length);
  expect(lines.filter((line) => line.startsWith("sh.shardCollection")).every((line) => line.includes('"crm.'))).toBe(
    true,
  );
  const alone = shardCommands({ database: "crm", shards: [], existing: false });
  expect(alone.filter((line) => /zone/i.test(line))).toEqual([]);
});

test("prints nothing without --print, or for a name that mongosh would interpret [OPS-17]", async () => {
  for (const [args, reason] of [
    [["shard"], "add --print"],
    [["shard", "--print", "--database", 'a")'], "is not a name"],
    [["shard", "--print", "--shards", "a,,b"], "is not a name"],
    [["shard", "--print", "--shards", "a,a"], "named once"],
  ] as const) {
    const { code, stdout, stderr } = await runCommand(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(reason);
  }
});

test("the doctor reports a collection that is not sharded, has another key, or should not be sharded [OPS-17]", () => {
  const right = Object.entries(placements).flatMap(([name, placement]) =>
    "shardKey" in placement ? [{ _id: `records.${name}`, key: { [placement.shardKey]: 1 } }] : [],
  );
  expect(compareSharding("records", right).status).toBe("ok");
  const { status, message } = compareSharding("records", [
    ...right.filter(({ _id }) => _id !== "records.notes" && _id !== "records.contacts"),
    { _id: "records.contacts", key: { account_id: 1, _id: 1 } },
    { _id: "records.accounts", key: { _id: "hashed" } },
  ]);
  expect(status).toBe("fault");
  expect(message).toContain(
    "contacts is sharded by account_id, _id, not by account_id; notes is not sharded; accounts is sharded by _id",
  );
});
