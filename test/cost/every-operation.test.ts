// Tests that no operation scans a collection, and that its log line counts all of its commands.
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminRecipes } from "../faults/broken/admin-recipes.ts";
import { ingestRecipes } from "../faults/broken/ingest-recipes.ts";
import type { Lane } from "../faults/broken/lane.ts";
import { startLane } from "../faults/broken/lane.ts";
import { userRecipes } from "../faults/broken/user-recipes.ts";
import { publicRecipes } from "../faults/broken/public-recipes.ts";
import { titleOf } from "../faults/broken/recipe.ts";
import type { FaultInjector } from "../faults/fault-injector.ts";
import { startFaultInjector } from "../faults/fault-injector.ts";
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

test("control: detects a collection scan", async () => {
  const scan = () => lane.whole.app.client.db().collection("contacts").findOne({ phone: "none" });
  await expect(scan()).resolves.toBeNull();
  await expect(withoutScans(scan)).rejects.toMatchObject({ codeName: "NoQueryExecutionPlans" });
});

/** The number of commands that the log lines report. */
function counted(lines: readonly string[]): number {
  const requests = lines
    .map((line) => JSON.parse(line) as { msg: string; db_commands?: number })
    .filter(({ msg }) => msg === "request");
  return requests.reduce((sum, { db_commands: commands = 0 }) => sum + commands, 0);
}

test.each(recipes.map((recipe) => [titleOf(recipe), recipe] as const))(
  "%s uses indexes, and its log line counts its commands [SRC-08, OPS-25]",
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
    const sent = listening.stop().map(({ label }) => label);
    const outside = isErasure ? 14 : 0;
    await expect.poll(() => counted(logLines.slice(before)) + outside, { message: sent.join(", ") }).toBe(sent.length);
    await trial.clear?.();
  },
);
