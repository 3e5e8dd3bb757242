// `records import` names every record that the service rejects, also where a report is lost with its connection or run.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import type { Running } from "./cli.ts";
import { cli, cliJson, settingsFor, startCli, useFolder } from "./cli.ts";
import { settled } from "./imported.ts";
import type { CuttingProxy } from "./proxy.ts";
import { cuttingProxy } from "./proxy.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

/** The line of a contact; each third one has no valid email. */
function lineOf(at: number): string {
  return JSON.stringify({ contact: { full_name: `Person ${at}`, ...(at % 3 === 2 ? { email: "no address" } : {}) } });
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, at) => `${lineOf(from + at)}\n`).join("");
}

/** The lines before this one that are rejected, counted from 1. */
function wrongLines(to: number): number[] {
  return Array.from({ length: to }, (_, at) => at + 1).filter((line) => line % 3 === 0);
}

interface Begun {
  readonly id: string;
  readonly args: readonly string[];
  readonly rejects: string;
  readonly running: Running;
  readonly proxy: CuttingProxy;
}

/** Starts an import of which the service has settled 20 records, and has sent no report of the last 10. */
async function begin(): Promise<Begun> {
  const { id } = await newClient(service());
  const [proxy, rejects] = [await cuttingProxy(service().internal), folder.path(`${id}.ndjson`)];
  const args = ["import", "-", "--account", id, "--name", "feed", "--rejects", rejects];
  const environment = { ...settingsFor(service()), RECORDS_INTERNAL_URL: proxy.url };
  const running = startCli(["--json", ...args], { input: { open: true }, environment });
  for (const total of [10, 20]) {
    running.child.stdin?.write(lines(total - 10, total));
    await vi.waitFor(async () => expect(await settled(service(), id)).toBe(total), { timeout: 60_000, interval: 50 });
    proxy.hold();
  }
  return { id, args, rejects, running, proxy };
}

/** The lines that a file of rejects has, each with its own text. */
function rejectedLines(file: string): number[] {
  const rejected = readFileSync(file, "utf8").trim().split("\n");
  return rejected.map((text) => {
    const { line, input, reason } = JSON.parse(text) as { line: number; input: string; reason: string };
    expect([input, reason]).toEqual([lineOf(line - 1), "INVALID_REQUEST"]);
    return line;
  });
}

test("a report that is lost with its connection is sent again: every rejected record is named exactly once [OPS-04, ING-06]", async () => {
  const { rejects, running, proxy } = await begin();
  proxy.cut();
  running.child.stdin?.end(lines(20, 25));
  const { code, stdout } = await running.ended;
  await proxy.close();
  const { rejections, ...result } = JSON.parse(stdout) as { rejections: { line: number }[] };
  expect([code, result]).toMatchObject([4, { done: true, position: 25, rejected: 8, rejections_left_out: 0 }]);
  expect(rejections.map(({ line }) => line)).toEqual(wrongLines(25));
  expect(rejectedLines(rejects)).toEqual(wrongLines(25));
});

test("an import that is killed before it receives a report gets it when it is run again [OPS-04, ING-06]", async () => {
  const { args, rejects, running, proxy } = await begin();
  running.child.kill("SIGKILL");
  await running.ended;
  await proxy.close();
  expect(await cliJson(service(), args, { input: lines(0, 25), code: 4 })).toMatchObject({
    done: true,
    resumed_from: 20,
    position: 25,
    rejected: 8,
  });
  expect([...new Set(rejectedLines(rejects))]).toEqual(wrongLines(25));
});

test("--strict ends at a record that an earlier run sent, and whose rejection that run did not receive [OPS-04]", async () => {
  const { args, running, proxy } = await begin();
  running.child.kill("SIGKILL");
  await running.ended;
  await proxy.close();
  const { code, stderr } = await startCli([...args, "--strict"], {
    input: lines(0, 20),
    environment: settingsFor(service()),
  }).ended;
  expect([code, stderr]).toEqual([1, expect.stringMatching(/line \d+: email: /)]);
});

test("a file of rejects with lines of another import gets each unreadable line of this one, once", async () => {
  const { id } = await newClient(service());
  const rejects = folder.path("shared-rejects.ndjson");
  const saved = (): unknown[] =>
    readFileSync(rejects, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { input: unknown }).input);
  const [one, other] = ["one", "other"].map((text) => folder.write(`${text}.ndjson`, `not json: ${text}`));
  const args = (file = ""): string[] => ["import", file, "--account", id];
  await cliJson(service(), [...args(one), "--rejects", rejects], { code: 4 });
  await cliJson(service(), args(other), { code: 4 });
  for (let run = 1; run <= 2; run++) {
    await cliJson(service(), [...args(other), "--rejects", rejects], { code: 4 });
    expect(saved()).toEqual(["not json: one", "not json: other"]);
  }
});

test("an entry is not appended to the line that a killed run left unfinished", async () => {
  const { id } = await newClient(service());
  const rejects = folder.write("unfinished.ndjson", '{"line":7,"reason":"UNREA');
  const file = folder.write("unreadable.ndjson", "not json");
  await cliJson(service(), ["import", file, "--account", id, "--rejects", rejects], { code: 4 });
  const [unfinished, entry, end] = readFileSync(rejects, "utf8").split("\n");
  expect([unfinished, end]).toEqual(['{"line":7,"reason":"UNREA', ""]);
  expect(JSON.parse(entry ?? "")).toMatchObject({ line: 1, reason: "UNREADABLE", input: "not json" });
});

test("names a file of rejects that cannot be read", async () => {
  const { id } = await newClient(service());
  const file = folder.write("unreadable.ndjson", "not json");
  // The memory of a process is a regular file of which the first page cannot be read, not even by root.
  const rejects = "/proc/self/mem";
  const { code, stderr } = await cli(service(), ["import", file, "--account", id, "--rejects", rejects]);
  expect([code, stderr]).toEqual([2, `records: --rejects: ${rejects} cannot be read (EIO).\n`]);
});
