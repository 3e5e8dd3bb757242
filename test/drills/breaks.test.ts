// What the drills break: a text that is no longer in the sources fails here, before a control runs.
import { expect, test } from "vitest";
import { placesOf } from "../fixtures/service/changed.ts";
import { drills } from "./all.ts";

const breaks = drills.flatMap(({ name, breaks: own = [], controls }) =>
  [...own, ...controls.flatMap(({ breaks: replaced = [] }) => replaced)].map((change) => ({ drill: name, ...change })),
);

test("each text that a drill replaces has one place in the sources", () => {
  expect(breaks.length).toBeGreaterThan(0);
  expect(breaks.filter((change) => placesOf(change).length !== 1)).toEqual([]);
});
