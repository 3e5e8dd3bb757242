// Items of a batch that are written one by one: which failures belong to the item, and which end the batch.
import { expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { mapConcurrently } from "../../src/ingest/map-concurrently.ts";

const turns = { width: 2, names: (item: string) => [item] };
const failingWith = (reason: ConstructorParameters<typeof Failure>[0]) =>
  mapConcurrently(["right", "wrong"], turns, (item) =>
    item === "wrong"
      ? Promise.reject(new Failure(reason))
      : Promise.resolve({ failure: new Failure(Reason.NOT_FOUND) }),
  );

test("an item that is wrong fails by itself [ING-08]", async () => {
  const outcomes = await failingWith(Reason.ALREADY_EXISTS);
  expect(outcomes.map((outcome) => "failure" in outcome && outcome.failure.reason)).toEqual([
    Reason.NOT_FOUND,
    Reason.ALREADY_EXISTS,
  ]);
});

test.each(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"] as const)(
  "an item that could not be tried (%s) ends the batch, so that no import counts its record as rejected [ING-06, ING-08]",
  async (name) => {
    await expect(failingWith(Reason[name])).rejects.toMatchObject({ reason: Reason[name] });
  },
);
