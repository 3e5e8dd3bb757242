// The short form of the limiter drill, and tests of its checker.
import { expect, test } from "vitest";
import { excess, wronglyRejected } from "./limiter/laws.ts";
import { limiter } from "./limiter/limiter.ts";
import { holds } from "./hold.ts";

holds(limiter, ["RTE-01", "RTE-02", "RTE-03", "OPS-17"], "in the long form");

const promised = { perSecond: 10, burst: 20 };
/** Requests at a constant rate. `passes` decides which of them pass. */
const requests = (perSecond: number, seconds: number, passes: (ms: number) => boolean) =>
  Array.from({ length: perSecond * seconds }, (_, at) => ({
    sentAt: (at * 1_000) / perSecond,
    completedAt: (at * 1_000) / perSecond + 1,
    passed: passes((at * 1_000) / perSecond),
  }));

function bucket(perSecond: number, burst: number): (ms: number) => boolean {
  let [tokens, last] = [burst, 0];
  return (ms) => {
    tokens = Math.min(burst, tokens + ((ms - last) * perSecond) / 1_000);
    last = ms;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

test("the checker accepts the promised bucket, but no larger, faster, smaller or slower one, and no fixed window", () => {
  const verdicts = [
    bucket(10, 20),
    bucket(10, 25),
    bucket(11, 20),
    bucket(10, 15),
    bucket(9, 20),
    (ms: number) => ms % 2_000 < 400,
  ].map((passes) => {
    const seen = requests(50, 20, passes);
    return [excess(seen, promised) > 0, wronglyRejected(seen, promised) > 0];
  });
  expect(verdicts).toEqual([
    [false, false],
    [true, false],
    [true, false],
    [false, true],
    [false, true],
    [false, true],
  ]);
});
