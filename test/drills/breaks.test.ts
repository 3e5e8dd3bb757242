// Fails early if the source text that a control replaces no longer exists.
import { expect, test } from "vitest";
import { placesOf } from "../fixtures/service/changed.ts";
import { drills } from "./all.ts";

const breaks = drills.flatMap(({ name, breaks: own = [], controls }) =>
  [...own, ...controls.flatMap(({ breaks: replaced = [] }) => replaced)].map((change) => ({ drill: name, ...change })),
);

test("every text that a drill replaces occurs exactly once in the sources", () => {
  expect(breaks.length).toBeGreaterThan(0);
  expect(breaks.filter((change) => placesOf(change).length !== 1)).toEqual([]);
});
