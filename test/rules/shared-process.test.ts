// Files of tests share a process: what one of them measures must be its own.
import { expect, test, vi } from "vitest";
import { sourcesIn } from "../architecture/sources.ts";
import { timersLeftBy } from "../support/own-timers.ts";
import { declareRule, havingText } from "./rule.ts";

// In two parts, so that this file is not found itself.
const wholeProcess = `getTimer${"Count"}`;
const everyCommand = `command${"Started"}`;

declareRule({
  title: "no test counts the timers of the whole process",
  sources: sourcesIn("test"),
  breaches: havingText(new RegExp(wholeProcess)),
  path: "test/contacts/get.test.ts",
  bad: [
    ["a count", `expect(vi.${wholeProcess}()).toBe(0);`],
    ["a count by another name", `const { ${wholeProcess}: count } = vi;`],
  ],
});

declareRule({
  title: "only `listenToMongo`, which leaves out background commands, listens to the commands of an instance",
  sources: ["test", "drills", "bench", "evals"].flatMap((folder) => sourcesIn(folder)),
  breaches: havingText(new RegExp(`["']${everyCommand}["']`)),
  exceptions: [
    // Its client is its own, and what the start does counts as well.
    "test/cli/migrate.test.ts",
    // It also needs the commands that fail.
    "test/rpc/deadlines.test.ts",
    // It listens to every client of the process, whatever the command is.
    "test/support/one-shard.ts",
  ],
  path: "test/contacts/get.test.ts",
  bad: [["a listener", `service.app.client.on("${everyCommand}", () => count++);`]],
});

test("counts the timers of a piece of work, and not those of others", async () => {
  const real = setTimeout;
  vi.useFakeTimers();
  try {
    let setByOther: () => void = () => undefined;
    const other = new Promise<void>((resolve) => (setByOther = resolve)).then(() => setTimeout(() => undefined, 9));
    const left = await timersLeftBy(async () => {
      setTimeout(() => undefined, 5);
      clearTimeout(setTimeout(() => undefined, 6));
      setTimeout(() => setTimeout(() => undefined, 8), 7);
      await vi.advanceTimersByTimeAsync(7);
      setByOther();
      await other;
    });
    expect(left).toBe(1);
    // As a later file may.
    vi.restoreAllMocks();
    vi.useRealTimers();
    expect(setTimeout).toBe(real);
  } finally {
    vi.useRealTimers();
  }
});
