// Tests the commands that each operation sends to MongoDB: until when, by which index, how many, and only while the
// primary is proven. `test/support/one-shard.ts` checks that each names one account.
import { BSON, MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { fail } from "../../src/call/errors.ts";
import { primaryOf } from "../../src/db/primary.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { adminRecipes } from "../faults/broken/admin-recipes.ts";
import { ingestRecipes } from "../faults/broken/ingest-recipes.ts";
import type { Lane } from "../faults/broken/lane.ts";
import { startLane } from "../faults/broken/lane.ts";
import { userRecipes } from "../faults/broken/user-recipes.ts";
import { publicRecipes } from "../faults/broken/public-recipes.ts";
import { titleOf } from "../faults/broken/recipe.ts";
import type { FaultInjector } from "../faults/fault-injector.ts";
import { startFaultInjector } from "../faults/fault-injector.ts";
import type { MongoCommand } from "../fixtures/databases/commands.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";

const recipes = [...publicRecipes, ...adminRecipes, ...ingestRecipes, ...userRecipes];
let injector: FaultInjector;
let lane: Lane;
let administrator: MongoClient;

beforeAll(async () => {
  injector = await startFaultInjector(startOwnMongod);
  administrator = await MongoClient.connect(injector.mongod.administratorUri);
  lane = await startLane(injector, await injector.instance());
});
afterAll(async () => {
  await administrator.close();
  await lane.stop();
  await injector.stop();
});

/** Runs the work while mongod rejects every command that would scan a collection. */
async function withoutScans<T>(work: () => Promise<T>): Promise<T> {
  const allow = (notablescan: boolean) => administrator.db("admin").command({ setParameter: 1, notablescan });
  await allow(true);
  try {
    return await work();
  } finally {
    await allow(false);
  }
}

/** The number of commands that the log lines report. */
function counted(lines: readonly string[]): number {
  const requests = lines
    .map((line) => JSON.parse(line) as { msg: string; db_commands?: number })
    .filter(({ msg }) => msg === "request");
  return requests.reduce((sum, { db_commands: commands = 0 }) => sum + commands, 0);
}

const writing = /^(?:insert|update|delete|findAndModify|bulkWrite)$/;

/** What a command outside a transaction lacks to end with its request: a time limit, and the fence of a write. */
function lacks({ name, label, command }: MongoCommand): string[] {
  if (command["autocommit"] === false) return [];
  const isFenced = BSON.EJSON.stringify(command).includes("$$NOW");
  return [
    ...(command["maxTimeMS"] > 0 ? [] : [`${label} has no time limit`]),
    ...(writing.test(name) && !isFenced ? [`${label} has no fence`] : []),
  ];
}

test.each(recipes.map((recipe) => [titleOf(recipe), recipe] as const))(
  "%s ends at its deadline and uses indexes, and its log line counts its commands [CON-05, SRC-08, OPS-25]",
  async (_title, recipe) => {
    const trial = await recipe.prepare(lane);
    const { logLines, app } = lane.service;
    const before = logLines.length;
    const listening = listenToMongo(app.client);
    expect(await withoutScans(() => trial.send())).toEqual({ kind: "success" });
    const isErasure = recipe.operation.endsWith("/DeleteAccount");
    const checks = (): number => listening.commands.filter(({ label }) => label === "find erasures").length;
    // The sweep of an erasure runs outside its request and ends with the second check for erasures.
    if (isErasure) await expect.poll(checks).toBe(2);
    const commands = listening.stop();
    expect(commands.flatMap(lacks)).toEqual([]);
    const sent = commands.map(({ label }) => label);
    const outside = isErasure ? 14 : 0;
    await expect.poll(() => counted(logLines.slice(before)) + outside, { message: sent.join(", ") }).toBe(sent.length);
    await trial.clear?.();
  },
);

/** What needs no database. */
const independent = /\/(?:CheckHealth|GetLogLevel|SetLogLevel)$/;

test.each(
  recipes.filter(({ operation }) => !independent.test(operation)).map((recipe) => [titleOf(recipe), recipe] as const),
)("%s is unavailable without a proven primary, and sends nothing to MongoDB [CON-04]", async (_title, recipe) => {
  const trial = await recipe.prepare(lane);
  const { client } = lane.service.app;
  const unproven = vi.spyOn(primaryOf(client), "require").mockImplementation(() => fail(Reason.UNAVAILABLE));
  const listening = listenToMongo(client);
  const outcome = await trial.send().finally(() => unproven.mockRestore());
  const sent = listening.stop().map(({ label }) => label);
  expect([outcome.kind, sent]).toEqual(["unavailable", []]);
  await trial.clear?.();
});
