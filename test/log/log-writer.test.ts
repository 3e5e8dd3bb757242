// The writer of the log, on a pipe whose reader disconnects, returns or reads nothing.
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createLogWriter } from "../../src/log/log-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "records-log-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const closing = (fd: number): number => {
  onTestFinished(() => closeSync(fd));
  return fd;
};

/**
 * A pipe by its name, and its two ends: neither waits for the other. The writing end stays open. A log writer writes to
 * its number for as long as the process lives, and a later socket could have the number of a closed one.
 */
function pipe(name: string): { readonly path: string; readonly reader: number; readonly writer: number } {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { path, reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

/** What a reader has found in the pipe so far; it looks every few milliseconds until the test is over. */
function collect(reader: number): () => string {
  const buffer = Buffer.alloc(100_000);
  let text = "";
  const read = (): void => {
    try {
      text += buffer.toString("utf8", 0, readSync(reader, buffer));
    } catch {
      // Nothing is there.
    }
  };
  const reading = setInterval(read, 5);
  onTestFinished(() => clearInterval(reading));
  return () => text;
}

test("lines that cannot be written wait, which is reported once; lines beyond a million characters are dropped and counted afterwards [OPS-16]", async () => {
  const { path, reader, writer } = pipe("comes-back");
  const reports: string[] = [];
  const log = createLogWriter(writer, (line) => reports.push(line));
  closeSync(reader);
  log.write("first\n");
  await expect.poll(() => reports).toHaveLength(1);
  expect(reports).toEqual([
    "the log cannot be written to standard output (EPIPE): the service continues, and lines can be lost. Free disk space, or read the output.",
  ]);
  const long = `${"x".repeat(99_999)}\n`;
  for (let line = 0; line < 12; line++) log.write(long);
  const again = closing(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  await expect.poll(collect(again), { timeout: 10_000, interval: 10 }).toBe(`first\n${long.repeat(9)}`);
  await expect.poll(() => reports).toHaveLength(2);
  expect(reports[1]).toBe("the log is written again; lines that were lost: 3.");
});

test("a slow reader gets every line complete, and one that reads nothing delays neither the service nor its end [OPS-16]", async () => {
  const { reader, writer } = pipe("slow");
  closing(reader);
  const reports: string[] = [];
  const log = createLogWriter(writer, (line) => reports.push(line));
  const lines = Array.from({ length: 2_100 }, (_, at) => `${`line ${at} `.padEnd(499, "x")}\n`);
  // More than a pipe takes at once.
  for (const line of lines.slice(0, 200)) log.write(line);
  await expect.poll(collect(reader), { timeout: 10_000, interval: 10 }).toBe(lines.slice(0, 200).join(""));
  expect(reports).toEqual([]);
  for (const line of lines) log.write(line);
  log.flushSync();
  expect(reports).toEqual([expect.stringContaining("(its reader is too slow)")]);
});

test("the end of the process writes the waiting lines, and gives up at once if that fails [OPS-16]", () => {
  const { reader, writer } = pipe("ends");
  const log = createLogWriter(writer, () => undefined);
  log.write("last\n");
  log.flushSync();
  expect(readSync(reader, Buffer.alloc(9))).toBe("last\n".length);
  closeSync(reader);
  log.write("nobody reads it\n");
  log.flushSync();
});
