// Output of the command line: no text of a record can control a terminal, and nothing grows faster than the result.
import { execFileSync } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { openTarget } from "../../src/cli/export/target.ts";
import { createOutput, facts } from "../../src/cli/output.ts";
import { say } from "../../src/cli/program.ts";

const { isTTY } = process.stdout;
afterEach(() => {
  vi.restoreAllMocks();
  process.stdout.isTTY = isTTY;
});

/** What `run` writes to standard output or standard error. */
async function written(run: () => unknown, stream: "stdout" | "stderr" = "stdout"): Promise<string> {
  const pieces: string[] = [];
  const write = vi.spyOn(process[stream], "write").mockImplementation((piece) => pieces.push(String(piece)) > 0);
  await run();
  write.mockRestore();
  return pieces.join("");
}

const hostile = "a\u001b[31m\u009b31m\u0085\u007f\u202eb\u2066\u2028\n\té";

test("JSON has escapes in place of characters that control a terminal, and the same value", async () => {
  const output = createOutput({ json: true, color: false }, {});
  const text = await written(() => output.result({ [hostile]: hostile }, []));
  expect(text).toBe(
    `{"${"a\\u001b[31m\\u009b31m\\u0085\\u007f\\u202eb\\u2066\\u2028\\n\\té"}":"${"a\\u001b[31m\\u009b31m\\u0085\\u007f\\u202eb\\u2066\\u2028\\n\\té"}"}\n`,
  );
  expect(JSON.parse(text)).toEqual({ [hostile]: hostile });
  const error = { message: hostile, code: "x", exitCode: 1 } as Parameters<typeof say>[0];
  expect(await written(() => say(error, true), "stderr")).toBe(
    '{"error":{"code":"x","message":"a\\u001b[31m\\u009b31m\\u0085\\u007f\\u202eb\\u2066\\u2028\\n\\té","exit_code":1}}\n',
  );
});

test("an export to a terminal shows control characters as escapes and keeps its lines; a pipe gets the exact text", async () => {
  const row = `${hostile},"c\rd"\r\n`;
  const exported = (): Promise<string> => written(async () => (await openTarget("-")).write(row));
  process.stdout.isTTY = true;
  expect(await exported()).toBe('a\\u001b[31m\\u009b31m\\u0085\\u007f\\u202eb\\u2066\\u2028\n\té,"c\\u000dd"\r\n');
  process.stdout.isTTY = false;
  expect(await exported()).toBe(row);
});

test("times are local on a terminal, and as the interface sends them elsewhere", () => {
  const shown = (isTTY: boolean): string => {
    const script = `process.stdout.isTTY = ${isTTY};
      const { createOutput } = await import("./src/cli/output.ts");
      process.stdout.write(createOutput({ json: false, color: false }, {}).time("2026-03-02T16:30:05.120Z"));`;
    const options = ["--import", "tsx", "--input-type=module", "--eval", script];
    return execFileSync(process.execPath, options, { encoding: "utf8", env: { ...process.env, TZ: "Asia/Tokyo" } });
  };
  expect(shown(true)).toMatch(/^2026-03-03 01:30:05 \S+$/);
  expect(shown(false)).toBe("2026-03-02T16:30:05.120Z");
});

test("a list of 300,000 rows is aligned on a terminal", () => {
  process.stdout.isTTY = true;
  const output = createOutput({ json: false, color: false }, {});
  const rows = output.table(["id", "x"], [...Array.from({ length: 300_000 }, () => ["a", "b"]), ["longest", "b"]]);
  expect([rows.length, rows[1], rows.at(-1)]).toEqual([300_002, "a        b", "longest  b"]);
  const pairs = facts(Array.from({ length: 300_000 }, (_, at) => [at === 7 ? "longer" : "a", "b"] as const));
  expect([pairs.length, pairs[0]]).toEqual([300_000, "a       b"]);
});
