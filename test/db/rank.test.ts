// Ranks: the rank of a record lies within its millisecond, for any id and any date.
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { rankAt, rankBetween, rankUndated } from "../../src/db/rank.ts";

const dates = [
  "0001-01-01T00:00:00Z",
  "0001-01-01T00:00:00.001Z",
  "0904-08-01T00:00:00Z",
  "1969-12-31T23:59:59.999Z",
  "2020-01-01T00:00:00Z",
  "3135-08-02T00:00:00.001Z",
  "9999-12-31T23:59:59.998Z",
  "9999-12-31T23:59:59.999Z",
];

test.each(dates)("finds a record of %s by its millisecond, and by no other [SLS-15]", (text) => {
  const date = new Date(text);
  const at = date.getTime();
  for (let byte = 0; byte < 256; byte++) {
    const rank = rankAt(date, new UUID(`00000000-0000-4000-8000-0000000000${byte.toString(16).padStart(2, "0")}`));
    const { $gte, $lt = Infinity } = rankBetween(at, at);
    expect(rank >= $gte && rank < $lt, `the last byte ${byte}`).toBe(true);
    expect(rank).toBeLessThan(rankBetween(at + 1, undefined).$gte);
    expect(rank).toBeGreaterThanOrEqual(rankBetween(undefined, at - 1).$lt ?? Infinity);
  }
});

test.each(dates)("a record without a date, created at %s, follows all records with one [SLS-15]", (text) => {
  const rank = rankUndated(new Date(text), new UUID("00000000-0000-4000-8000-0000000000ff"));
  expect(rank).toBeLessThan(rankBetween(undefined, undefined).$gte);
});
