// Items of a batch that are written one by one: which failures belong to the item, and which end the batch.
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { mapConcurrently } from "../../src/ingest/map-concurrently.ts";

function gate(): [promise: Promise<void>, open: () => void] {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return [promise, open];
}

const turns = { width: 2, names: (item: string) => [item] };
const failingWith = (reason: ConstructorParameters<typeof Failure>[0]) =>
  mapConcurrently(["right", "wrong"], turns, (item) =>
    item === "wrong"
      ? Promise.reject(new Failure(reason))
      : Promise.resolve({ failure: new Failure(Reason.NOT_FOUND) }),
  );

test("an invalid item fails alone [ING-08]", async () => {
  const outcomes = await failingWith(Reason.ALREADY_EXISTS);
  expect(outcomes.map((outcome) => "failure" in outcome && outcome.failure.reason)).toEqual([
    Reason.NOT_FOUND,
    Reason.ALREADY_EXISTS,
  ]);
});

test.each(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "WRITES_PAUSED", "ACCESS_DENIED"] as const)(
  "an item that could not be tried (%s) ends the batch, so that no import counts its record as rejected [ING-06, ING-08]",
  async (name) => {
    await expect(failingWith(Reason[name])).rejects.toMatchObject({ reason: Reason[name] });
  },
);

test("once an item has ended the batch no other one starts, and the running ones end before the response [ING-06, CON-05]", async () => {
  const begun: string[] = [];
  const over: string[] = [];
  const [slow, end] = gate();
  const batch = mapConcurrently(["slow", "broken", "next", "last"], turns, async (item) => {
    begun.push(item);
    if (item === "broken") throw new Error("the connection broke");
    await slow;
    over.push(item);
    return { failure: new Failure(Reason.NOT_FOUND) };
  });
  let rejected = false;
  const outcome = expect(batch.catch((error: unknown) => ((rejected = true), Promise.reject(error)))).rejects.toThrow(
    "the connection broke",
  );
  await setImmediate();
  expect([begun, rejected]).toEqual([["slow", "broken"], false]);
  end();
  await outcome;
  expect([begun, over]).toEqual([["slow", "broken"], ["slow"]]);
});
