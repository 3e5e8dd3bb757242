// Breaks connections and makes servers fail during every operation. Each must succeed or get 503, and succeed
// afterwards. This test uses a fixed subset of the combinations; `npm run drill:connections` tries every operation with
// every fault.
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";
import { adminRecipes } from "./broken/admin-recipes.ts";
import { ingestRecipes } from "./broken/ingest-recipes.ts";
import { nameOf } from "./broken/kinds.ts";
import { startLane } from "./broken/lane.ts";
import type { Lanes } from "./broken/lanes.ts";
import { lend } from "./broken/lanes.ts";
import { everyOperation } from "./broken/operations.ts";
import { userRecipes } from "./broken/user-recipes.ts";
import { inRound, failPoints, lastingRounds, minHits, roundsAtOnce, stepsFor } from "./broken/plans.ts";
import { publicRecipes } from "./broken/public-recipes.ts";
import type { Recipe } from "./broken/recipe.ts";
import { serviceOf, titleOf } from "./broken/recipe.ts";
import { commandsOf, tried, triedAtOnce, triedInRound } from "./broken/trial.ts";
import type { FaultInjector } from "./fault-injector.ts";
import { startFaultInjector } from "./fault-injector.ts";
import { share } from "../support/form.ts";

// All tests of a group start at once and wait for a lane.
vi.setConfig({ testTimeout: 600_000, maxConcurrency: 200 });

const recipes: readonly Recipe[] = [...publicRecipes, ...adminRecipes, ...ingestRecipes, ...userRecipes];
const laneCount = 3;

let injector: FaultInjector;
let lanes: Lanes;

beforeAll(async () => {
  injector = await startFaultInjector(startOwnMongod);
  const whole = await injector.instance();
  lanes = lend(await Promise.all(Array.from({ length: laneCount }, () => startLane(injector, whole))));
});
afterAll(async () => {
  await Promise.all(lanes.all.map((lane) => lane.stop()));
  await injector.stop();
});

test("the run includes every RPC of the descriptors", async () => {
  const tried = new Set(recipes.map(({ operation }) => operation));
  expect((await everyOperation()).filter((operation) => !tried.has(operation))).toEqual([]);
});

describe.concurrent("a request with one fault in any command succeeds or gets 503, and the next one succeeds [OPS-15, CON-06]", () => {
  const seen = new Set<string>();

  test.each(recipes.map((recipe, turn) => [titleOf(recipe), recipe, turn] as const))(
    "one fault in a command of %s",
    (_title, recipe, turn) =>
      lanes.use(async (lane) => {
        const steps = stepsFor(serviceOf(recipe), await commandsOf(recipe, lane), turn, seen);
        const under = steps.filter(({ emptied }) => !emptied);
        let hits = 0;
        const flaws: string[] = [];
        for (const step of steps) {
          const verdicts = [await tried(recipe, lane, step)];
          // Background work can take the place of the planned command. A trial whose fault did not hit proves nothing.
          if (!step.emptied && verdicts[0]?.hits === 0) verdicts.push(await tried(recipe, lane, step));
          for (const verdict of verdicts) {
            if (!step.emptied) hits += verdict.hits;
            flaws.push(...verdict.flaws);
          }
        }
        expect(flaws).toEqual([]);
        // A request can have fewer commands than when it was recorded.
        expect(hits).toBeGreaterThanOrEqual(0.9 * under.length);
      }),
  );
});

describe.concurrent("requests with many faults at once succeed or get 503, and the next ones succeed [OPS-15, CON-06]", () => {
  const rounds = roundsAtOnce.map(
    (round, turn) => [nameOf(round.plan.fault), round.plan.every ?? 1, round, turn] as const,
  );
  // Takes every fifth round. A round breaks every twelfth operation, so every second round would skip half of them.
  test.each(share(rounds, rounds.length / 5))("%s in 1 of %i commands", (_fault, _every, round, turn) =>
    lanes.use(async (lane) => {
      const { hits, flaws } = await triedInRound(inRound(recipes, turn), lane, round);
      expect(flaws).toEqual([]);
      expect(hits).toBeGreaterThanOrEqual(minHits);
    }),
  );
});

describe.concurrent("requests during a lasting fault get 503 before the deadline, and succeed once it is over [OPS-15]", () => {
  test.each(lastingRounds.map((round, turn) => [nameOf(round.plan.fault), round.plan.at, round, turn] as const))(
    "%s from %s on",
    (_fault, at, round, turn) =>
      lanes.use(async (lane) => {
        if (at === "handshake") await lane.proxy.emptyPool();
        const { hits, flaws } = await triedInRound(inRound(recipes, turn, lastingRounds.length), lane, round);
        expect(flaws).toEqual([]);
        expect(hits).toBeGreaterThanOrEqual(minHits);
      }),
  );
});

describe("requests whose commands fail by a mongod fail point succeed or get 503, and the next ones succeed [OPS-15, CON-06]", () => {
  const failCommands = [
    "find",
    "aggregate",
    "insert",
    "update",
    "delete",
    "findAndModify",
    "commitTransaction",
    "bulkWrite",
    "getMore",
  ];

  const points = failPoints.map((data, turn) => [JSON.stringify(data), data, turn] as const);
  test.each(share(points, 5))("the fail point %s", (_name, data, turn) =>
    lanes.use(async (lane) => {
      const client = await MongoClient.connect(injector.mongod.administratorUri);
      const admin = client.db("admin");
      const fail = (mode: unknown, more: object) => admin.command({ configureFailPoint: "failCommand", mode, ...more });
      const flaws = await triedAtOnce(inRound(recipes, turn), lane, true, async () => {
        await fail({ times: 60 }, { data: { failCommands, appName: "records", ...data } });
        return async () => void (await fail("off", {}));
      });
      await client.close();
      expect(flaws).toEqual([]);
    }),
  );
});
