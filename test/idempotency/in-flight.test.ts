// A key whose first request still runs: duplicates wait in Redis, get its answer, and give up at the deadline.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Hurt } from "../faults/hurt.ts";
import { startHurt } from "../faults/hurt.ts";
import { listenToMongo } from "../support/commands.ts";
import { startOwnMongod, withFault } from "../support/own-mongod.ts";
import type { TestAccount, TestService } from "../support/service.ts";
import { recordsOf } from "./stored.ts";
import type { Wire, WireAnswer } from "./wires.ts";
import { wires } from "./wires.ts";

let hurt: Hurt;
let one: TestService;
let two: TestService;

beforeAll(async () => {
  hurt = await startHurt(startOwnMongod);
  [one, two] = [await hurt.instance(), await hurt.instance()];
  const warm = await one.account();
  for (const { base } of [one, two]) await wires.REST.create({ base, key: warm.key }, "warm", { full_name: "Warm" });
});
afterAll(async () => {
  await hurt.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Holds the first insert into `collection` for this long, and runs the work as soon as it is held. */
async function whileHeld<T>(command: string, blockTimeMS: number, start: () => Promise<WireAnswer>, work: () => Promise<T>): Promise<[WireAnswer, T]> {
  return withFault(hurt.mongod.uri, { times: 1 }, { failCommands: [command], blockConnection: true, blockTimeMS, appName: "records" }, async () => {
    const listening = listenToMongo(one.app.client);
    const first = start();
    await expect.poll(async () => (await listening.stop(), (await listening.stop()).some(({ name }) => name === command)), { interval: 5 }).toBe(true);
    return [await first.catch(() => expect.fail("the first failed")), await work()];
  });
}

function send(wire: Wire, instance: TestService, account: TestAccount): Promise<WireAnswer> {
  return wire.create({ base: instance.base, key: account.key }, "k", { full_name: "Held" });
}
