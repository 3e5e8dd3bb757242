// An embedded server that ends is started again, whatever fails meanwhile, and its log names the reason.
import { expect, test, vi } from "vitest";
import type { KeptRunning, Run } from "../../src/embedded/keep-running.ts";
import { keepRunning } from "../../src/embedded/keep-running.ts";
import { lastLogError } from "../../src/embedded/server.ts";

test.each([
  [
    "mongod's last error",
    '{"s":"E","msg":"first"}\n{"s":"F","msg":"last","attr":{"error":"no space"}}\n{"s":"I","msg":"bye"}',
    "last: no space",
  ],
  [
    "the signal that ended mongod",
    `{"s":"F","msg":"Writing fatal message","attr":{"message":"Got signal: 11 (Segmentation fault).\\n"}}`,
    "Writing fatal message: Got signal: 11 (Segmentation fault).",
  ],
  ["an error with members", '{"s":"E","msg":"failed","attr":{"error":{"code":28}}}', 'failed: {"code":28}'],
  [
    "the error before a line that a full disk has cut",
    '{"s":"E","msg":"no space"}\n{"t":1,"s":"F","msg":"abor',
    "no space",
  ],
  ["nothing of a log without an error", '{"s":"I","msg":"bye"}', undefined],
  ["nothing of a log whose only error is cut", '{"t":1,"s":"F","msg":"abor', undefined],
  ["the last line of another log", "ready\n  bye bye\n", "bye bye"],
  ["the error before a line that is not JSON", '{"s":"F","msg":"aborted"}\n----- BEGIN BACKTRACE', "aborted"],
  ["nothing of a line without members", 'null\n{"s":"I","msg":"bye"}', undefined],
  ["nothing of an empty log", "\n", undefined],
])("the log shows %s", (_name, log, reason) => {
  expect(lastLogError(log)).toBe(reason);
});

test("restarts a server whose end or clean-up fails, and reports both [OPS-21]", async () => {
  const first: Run = {
    pid: 1,
    ended: Promise.reject(new Error("the log cannot be read")),
    stop: () => Promise.reject(new Error("no space left")),
  };
  let end = (_how: string): void => undefined;
  const second: Run = {
    pid: 2,
    ended: new Promise((resolve) => (end = resolve)),
    stop: () => Promise.resolve(end("SIGTERM")),
  };
  const reports: string[] = [];
  const server = await new Promise<KeptRunning>((resolve) => {
    const kept = keepRunning(
      "mongod",
      first,
      () => {
        setImmediate(() => resolve(kept));
        return Promise.resolve(second);
      },
      (line) => reports.push(line),
    );
  });
  expect(server.pid).toBe(2);
  expect(reports).toEqual([
    "the embedded mongod has ended (the log cannot be read): it is started again",
    "no space left",
  ]);
  await server.stop();
});

test("a stop waits for a restart in progress and ends it, also if the clean-up before fails [OPS-21]", async () => {
  const broken = (): Promise<never> => Promise.reject(new Error("no space left"));
  let stops = 0;
  const restarted = (): Run => ({
    pid: 2,
    ended: new Promise(() => undefined),
    stop: () => Promise.resolve(void (stops += 1)),
  });
  const stopping = await new Promise<Promise<void>>((resolve) => {
    const server = keepRunning(
      "mongod",
      { pid: 1, ended: Promise.resolve("SIGKILL"), stop: broken },
      async () => {
        const stopped = server.stop();
        setImmediate(() => resolve(stopped));
        return restarted();
      },
      () => undefined,
    );
  });
  await stopping;
  expect(stops).toBe(1);
});

test("says once that a server ends again and again", async () => {
  const reports: string[] = [];
  const runOf = (pid: number): Run => ({ pid, ended: Promise.resolve("SIGSEGV"), stop: () => Promise.resolve() });
  let pid = 1;
  let end = (_how: string): void => undefined;
  const lasting: Run = {
    pid: 9,
    ended: new Promise((resolve) => (end = resolve)),
    stop: () => Promise.resolve(end("SIGTERM")),
  };
  const kept = keepRunning(
    "mongod",
    runOf(pid),
    () => Promise.resolve(++pid < 5 ? runOf(pid) : lasting),
    (line) => reports.push(line),
  );
  await vi.waitFor(() => expect(kept.pid).toBe(9), { timeout: 20_000 });
  expect(reports.filter((line) => line.includes("again and again"))).toEqual([
    expect.stringMatching(/^the embedded mongod ends again and again, 3 times .* docs\/troubleshooting\.md$/),
  ]);
  await kept.stop();
}, 30_000);
