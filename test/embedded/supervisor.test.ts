// A program on the supervisor runs apart from us and ends with us.
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runSupervised, type SupervisedProcess } from "../../src/embedded/supervisor.ts";
import { running, temporaryFolder } from "./machine.ts";

/** Runs a shell script whose command line has the output file's name in it. */
async function supervised(script: string, outputFile: string): Promise<SupervisedProcess> {
  const program = await runSupervised(["/bin/sh", "-c", script, outputFile], outputFile, process.env);
  onTestFinished(() => program.end(0));
  return program;
}

test("a program that obeys SIGTERM ends by itself, and nothing of it is left [OPS-21]", async () => {
  const output = join(await temporaryFolder(), "output");
  const program = await supervised(`trap 'echo bye; exit' TERM; echo hello; while :; do sleep 0.02; done`, output);
  await expect.poll(() => readFile(output, "utf8")).toBe("hello\n");
  expect((await running(output)).map(({ pid }) => pid)).toContain(program.pid);
  await program.end(5_000);
  expect(await running(output)).toEqual([]);
  expect(await readFile(output, "utf8")).toBe("hello\nbye\n");
});

test("kills a program that ignores SIGTERM, after a wait [OPS-21]", async () => {
  const output = join(await temporaryFolder(), "output");
  const program = await supervised(`trap '' TERM; echo deaf; while :; do sleep 0.02; done`, output);
  await expect.poll(() => readFile(output, "utf8")).toBe("deaf\n");
  const began = performance.now();
  await program.end(300);
  expect(performance.now() - began).toBeGreaterThanOrEqual(290);
  expect(await running(output)).toEqual([]);
});

test("a program that ends by itself, or cannot be run at all, ends its watcher", async () => {
  const output = join(await temporaryFolder(), "output");
  await (await supervised("exit 3", output)).ended;
  const missing = await runSupervised(["/nowhere/program", output], output, process.env);
  await missing.ended;
  await expect.poll(() => running(output)).toEqual([]);
  await missing.end(1_000);
  expect(await readFile(output, "utf8")).toContain("/nowhere/program");
});

test("a program for which the machine has no memory leaves no file open", async () => {
  const output = join(await temporaryFolder(), "output");
  // Other test files of this process open files of their own.
  const timesOpen = async (): Promise<number> => {
    const opened = await readdir("/proc/self/fd");
    const targets = opened.map((fd) => readlink(join("/proc/self/fd", fd)).catch(() => ""));
    return (await Promise.all(targets)).filter((target) => target === output).length;
  };
  // More than a process may be given: `spawn` throws, as it does without memory.
  const env = { LARGE: "x".repeat(8_000_000) };
  for (let attempt = 0; attempt < 5; attempt++)
    await expect(runSupervised(["/bin/true"], output, env)).rejects.toThrow("E2BIG");
  expect(await timesOpen()).toBe(0);
});

test("ends a program whose watcher was ended [OPS-21]", async () => {
  const output = join(await temporaryFolder(), "output");
  const program = await supervised("exec sleep 60", output);
  const watcherPid = async (): Promise<number | undefined> =>
    (await running(output)).find(({ parent }) => parent === program.pid)?.pid;
  await expect.poll(watcherPid).toBeDefined();
  process.kill((await watcherPid()) as number, "SIGKILL");
  await new Promise((resolve) => setTimeout(resolve, 50));
  await program.end(5_000);
  expect(await running(output)).toEqual([]);
});
