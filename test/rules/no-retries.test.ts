// A test that fails has failed: neither the settings of Vitest nor a test or drill runs anything again until it passes,
// and none depends on how fast a machine is.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allHandWritten, sourcesIn } from "../architecture/sources.ts";
import { declareRule } from "./rule.ts";
import { caughtExpectations, changingWaits, comparedTimes, retriesIn, waitsIn } from "./retries.ts";
import { times, waits } from "./waits.ts";

const root = join(import.meta.dirname, "../..");
const tests = sourcesIn("test", "fixtures", "drills", "evals");
const settings = allHandWritten.filter(({ path }) => /(?:^|\/)vitest[^/]*\.config\.[cm]?[jt]s$/.test(path));
const path = "test/contacts/get.test.ts";

declareRule({
  title: "no test, no drill and no setting of the runner repeats a failed test",
  sources: [...new Set([...tests, ...settings])],
  breaches: (sources) => [...new Set(sources.flatMap(retriesIn))],
  // How often a part of a hostile text is written.
  exceptions: ["drills/hostile/dense.ts: repeats"],
  path,
  bad: [
    ["an option of a test", 'test("rejects it", { retry: 2 }, async () => undefined);'],
    ["an option of a table", 'test.each(rows)("rejects %s", { timeout: 1, retry: 2 }, async () => undefined);'],
    ["an option of a suite", 'describe("rejections", { repeats: 2 }, () => undefined);'],
    ["an option in a variable", "const often = { retry: 3 };"],
    ["an option that is a text", 'const often = { "retry": 3 };'],
    ["an option that is set later", "often.retry = 3;"],
    ["a short option", "const often = { retry };"],
    ["a setting of the runner", "export default defineConfig({ test: { retry: 1 } });", "vitest.config.ts"],
    ["a setting of one file", "vi.setConfig({ retry: 1 });"],
  ],
  good: [["another option", "const client = { retries: 3 };"]],
});

/** The commands of a text that try a failed test again. */
const retryingCommands = (text: string): string[] => text.match(/--(?:retry|repeats)\b/g) ?? [];

test("no command of the repository repeats a failed test", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const commands = [...Object.values(scripts), readFileSync(join(root, ".ci/run"), "utf8")];
  expect(commands.join("\n")).toContain("vitest run");
  expect(commands.flatMap(retryingCommands)).toEqual([]);
});

test.each([["npm test -- --retry=2"], ["vitest run --retry 2"], ["vitest run --repeats 3"]])(
  "detects a command that repeats a failed test: %s",
  (command) => {
    expect(retryingCommands(command)).toHaveLength(1);
  },
);

declareRule({
  title: "a test waits for what others do only if that is listed",
  sources: tests,
  breaches: (sources) => sources.flatMap(waitsIn),
  exceptions: waits,
  path,
  bad: [
    ["vi.waitFor", "await vi.waitFor(() => expect(read()).toBe(3));"],
    ["vi.waitUntil", "await vi.waitUntil(() => read() === 3);"],
    ["expect.poll", "await expect.poll(() => read()).toBe(3);"],
    ["expect.poll as a text", 'await expect["poll"](() => read()).toBe(3);'],
    ["a part of the runner by another name", "const { waitFor } = vi;"],
    ["a loop of ours", "await until(() => read() === 3, AbortSignal.timeout(9));"],
  ],
});

declareRule({
  title: "a test only reads what it waits for, and does not repeat it",
  sources: tests,
  breaches: (sources) => sources.flatMap(changingWaits),
  path,
  bad: [
    ["a count", "await vi.waitFor(() => expect(++calls).toBe(3));"],
    ["a count behind", "await expect.poll(() => calls++).toBe(3);"],
    ["a result that is kept", "await vi.waitFor(async () => { last = await send(); expect(last).toBe(200); });"],
  ],
  good: [["what is read", "await expect.poll(() => seen.length).toBe(3);"]],
});

declareRule({
  title: "no test catches its own expectation and starts again",
  sources: tests,
  breaches: (sources) => sources.flatMap(caughtExpectations),
  path,
  bad: [
    [
      "a loop that counts",
      "for (let n = 0; n < 3; n++) { try { expect(n).toBe(2); break; } catch { await sleep(9); } }",
    ],
    [
      "a loop over a list",
      "for (const n of all) { try { expect(n).toBe(2); break; } catch (error) { last = error; } }",
    ],
    ["an endless loop", "for (;;) { try { await expect(run()).resolves.toBe(2); break; } catch {} }"],
    [
      "a loop with a condition",
      "while (!ready) { try { await read(() => expect(n).toBe(2)); ready = true; } catch {} }",
    ],
    [
      "a loop with its condition at the end",
      "do { try { expect(n).toBe(2); } catch { again = true; } } while (again);",
    ],
  ],
  good: [
    ["what is cleaned up", "for (const one of all) { try { expect(one).toBe(2); } finally { one.stop(); } }"],
    ["what is caught once", "try { expect(one).toBe(2); } catch { all.push(one); }"],
  ],
});

declareRule({
  title: "no test compares a time that it measures, unless the comparison is true on any machine",
  sources: tests,
  breaches: (sources) => sources.flatMap(comparedTimes),
  exceptions: times.map(([comparison]) => comparison),
  path,
  bad: [
    ["a difference", "expect(performance.now() - started).toBeLessThan(50_000);"],
    ["the other difference", "expect(Date.now() - started).toBeGreaterThanOrEqual(10);"],
    ["a bound", "expect(passed).toBeLessThanOrEqual((performance.now() - started) / 10);"],
    ["a difference with a name", "const took = performance.now() - started; expect(took).toBeLessThan(9);"],
    ["a name of a name", "const took = Date.now() - a; const half = took / 2; expect(half).toBeLessThan(9);"],
    ["a comparison that is turned round", "expect(Date.now() - started).not.toBeGreaterThan(9);"],
  ],
  good: [["a number", "const started = performance.now(); expect(passed).toBeLessThan(9); report(started);"]],
});

test("each time that is compared has a reason", () => {
  for (const [comparison, why] of times) expect(why.length, comparison).toBeGreaterThan(20);
});
