// The frame of long transfers: the line of progress on a terminal, and the retries of work that takes long.
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createOutput } from "../../src/cli/output.ts";
import { createProgress } from "../../src/cli/progress.ts";
import { runTransfer } from "../../src/cli/transfer.ts";

const { isTTY, columns } = process.stderr;
let now = 0;
let written = "";
beforeEach(() => {
  written = "";
  process.stderr.isTTY = true;
  process.stderr.columns = 40;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.spyOn(process.stderr, "write").mockImplementation((piece) => (written += String(piece)) !== "");
});
afterEach(() => {
  vi.restoreAllMocks();
  process.stderr.isTTY = isTTY;
  process.stderr.columns = columns;
});

const terminal = () => createOutput({ json: false, color: false }, {});

test("a line of progress leaves room for the ^C of Ctrl-C, and is erased before a remark", () => {
  const progress = createProgress(terminal(), "Importing", 4_000);
  now += 1_000;
  progress.show({ records: 1_500, bytes: 1_000, rejected: 123, doing: "building the index" });
  progress.note("Stopping.");
  expect(written).toBe("Importing: 1,500 records (25%), 1,500\u001b[1G\u001b[2KStopping.\n");
});

test("a file that is read to its end before its first record is sent shows no part of it that is done", () => {
  const progress = createProgress(terminal(), "Importing", 4_000);
  now += 1_000;
  progress.show({ records: 500, bytes: 4_000 });
  expect(written).toBe("Importing: 500 records, 500/s");
});

test("a second Ctrl-C erases the line of progress and ends with 130", async () => {
  const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
  await runTransfer(terminal(), { verb: "Exporting", onStop: "Stopping." }, async ({ progress }) => {
    process.emit("SIGINT");
    now += 1_000;
    progress.show({ records: 5 });
    written = "";
    process.emit("SIGINT");
    expect([written, exit.mock.calls]).toEqual(["\u001b[1G\u001b[2K", [[130]]]);
  });
});

test("an export continues after each of several breaks that are minutes apart", async () => {
  let attempts = 0;
  const done = await runTransfer(terminal(), { verb: "Exporting", onStop: "" }, ({ retry }) =>
    retry(() => {
      now += 120_000;
      return ++attempts < 4 ? Promise.reject(new ConnectError("cut", Code.Unavailable)) : Promise.resolve("all");
    }),
  );
  expect([done, attempts]).toEqual(["all", 4]);
});
