// Where `records import` and `records export` meet the file system: links, pipes, folders, full disks, and files that
// are nothing or have no end.
import { execFileSync, spawn } from "node:child_process";
import { lstatSync, readFileSync, readdirSync, symlinkSync, truncateSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { cli, settingsFor, startCli, useFolder } from "./cli.ts";
import { contactsOf } from "./imported.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();
const bin = join(import.meta.dirname, "../../bin/records.js");

/** How large a file may become, where that is limited: larger than any translated source. */
const limit = { blocks: 4_096, bytes: 4_096 * 512 };

/** What exports write until it is complete. */
function parts(): string[] {
  return readdirSync(folder.path("")).filter((name) => name.endsWith(".part"));
}

/** A new account with so many contacts of some size. */
async function accountOf(contacts: number, notes = ""): Promise<string> {
  const { id, put } = await newClient(service());
  await put.contacts(...Array.from({ length: contacts }, (_, at) => ({ full_name: `Person ${at}`, notes })));
  return id;
}

/** Runs a line of the shell, in which `$RECORDS` is the program. */
function shell(
  line: string,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn("sh", ["-c", line], {
    env: { ...process.env, ...settingsFor(service()), RECORDS: `${process.execPath} ${bin}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}

test("an export to a named pipe writes into the pipe, and the pipe stays a pipe", async () => {
  const id = await accountOf(2);
  const pipe = folder.path("pipe");
  execFileSync("mkfifo", [pipe]);
  const exported = cli(service(), ["export", pipe, "--account", id, "--format", "ndjson"]);
  // Without any data the reader would wait forever.
  const read = Promise.race([
    readFile(pipe, "utf8"),
    exported.then(() => new Promise<string>((resolve) => setTimeout(resolve, 1_000, "nothing"))),
  ]);
  const text = await read;
  if (!lstatSync(pipe).isFIFO()) throw new Error("the pipe was replaced by a file");
  expect(text).toBe((await cli(service(), ["export", "-", "--account", id])).stdout);
  expect((await exported).code).toBe(0);
  expect(parts()).toEqual([]);
});

test("an export to a link writes to its target, existing or new, and the link stays a link", async () => {
  const id = await accountOf(1);
  const [there, thereNow] = [folder.path("there.ndjson"), folder.write("there-now.ndjson", "old")];
  const links = [there, thereNow].map((target, at) => {
    symlinkSync(target, folder.path(`link-${at}.ndjson`));
    return folder.path(`link-${at}.ndjson`);
  });
  for (const [at, link] of links.entries()) {
    expect((await cli(service(), ["export", link, "--account", id])).code).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync([there, thereNow][at] ?? "", "utf8")).toContain("Person 0");
  }
});

test("an export to a link to itself is rejected, with 2", async () => {
  const id = await accountOf(1);
  const [one, two] = [folder.path("circle-1.ndjson"), folder.path("circle-2.ndjson")];
  symlinkSync(two, one);
  symlinkSync(one, two);
  const running = startCli(["export", one, "--account", id], { environment: settingsFor(service()) });
  // Otherwise it would loop forever.
  const end = setTimeout(() => running.child.kill("SIGKILL"), 30_000);
  const { code, stdout, stderr } = await running.ended;
  clearTimeout(end);
  expect([code, stdout, stderr]).toEqual([2, "", `records: ${one} cannot be written (ELOOP).\n`]);
  expect([lstatSync(one).isSymbolicLink(), parts()]).toEqual([true, []]);
});

test("an export to another name of standard output writes only the records there, and keeps what the file had", async () => {
  const id = await accountOf(1);
  const file = folder.write("appended.ndjson", "before\n");
  symlinkSync("/dev/fd/1", folder.path("out.ndjson"));
  const { code, stderr } = await shell(`$RECORDS export ${folder.path("out.ndjson")} --account ${id} >> ${file}`);
  expect([code, stderr]).toEqual([0, expect.stringContaining("Exported 1 record of")]);
  expect(readFileSync(file, "utf8")).toMatch(/^before\n\{"contact":.*\}\n$/);
});

test("an export to a folder is rejected, with 2, and leaves nothing behind", async () => {
  const id = await accountOf(1);
  const path = folder.path("a-folder");
  execFileSync("mkdir", [path]);
  const { code, stdout, stderr } = await cli(service(), ["export", path, "--account", id]);
  expect([code, stdout, stderr]).toEqual([
    2,
    "",
    `records: ${path} is a folder: name a file, or - for standard output.\n`,
  ]);
  expect(parts()).toEqual([]);
});

test("an export that cannot be completed ends with 1, says why and what is left, and keeps the existing file", async () => {
  const id = await accountOf(200, "long ".repeat(4_000));
  const file = folder.write("limited.ndjson", "old");
  const { code, stdout, stderr } = await shell(
    `ulimit -f ${limit.blocks}; trap '' XFSZ; exec $RECORDS export ${file} --account ${id}`,
  );
  expect([code, stdout, stderr]).toEqual([
    1,
    "",
    `records: ${file} cannot be written completely (EFBIG). Check the free space. No part of this export is left.\n`,
  ]);
  expect([readFileSync(file, "utf8"), parts()]).toEqual(["old", []]);
});

test("a result that standard output does not accept ends with 1 and an error, in JSON if that was requested", async () => {
  const full = folder.write("full", "");
  truncateSync(full, limit.bytes);
  const line = (json: string): string =>
    `ulimit -f ${limit.blocks}; trap '' XFSZ; exec $RECORDS ${json} account list >> ${full}`;
  const message = "Standard output cannot be written (EFBIG).";
  expect(await shell(line(""))).toMatchObject({ code: 1, stderr: `records: ${message}\n` });
  const { code, stderr } = await shell(line("--json"));
  expect([code, JSON.parse(stderr)]).toEqual([1, { error: { code: "output", message, exit_code: 1 } }]);
});

test("an import whose readers have gone runs to its end, with its own exit code", async () => {
  const { id } = await newClient(service());
  const file = folder.write("read-by-nobody.ndjson", `nonsense\n${'{"contact":{"full_name":"Ann"}}\n'.repeat(3)}`);
  const left = "exec 3> >(exec true); wait $!";
  const line = (command: string): string => `bash -c '${left}; ${command}'`;
  for (const [streams, name] of [
    [">&3", "out"],
    ["2>&3", "err"],
    [">&3 2>&3", "both"],
  ] as const) {
    const { code } = await shell(line(`$RECORDS import ${file} --account ${id} --name ${name} ${streams}`));
    expect(code, streams).toBe(4);
    expect((await shell(line(`$RECORDS import ${folder.path("no.csv")} --account ${id} ${streams}`))).code).toBe(2);
  }
  expect((await contactsOf(service(), id)).count).toBe(9);
});

test("an export to standard output ends with 0 once its reader has gone", async () => {
  const id = await accountOf(100, "long ".repeat(4_000));
  const { code, stdout, stderr } = await shell(
    `bash -c 'set -o pipefail; $RECORDS export - --account ${id} | head -c 10'`,
  );
  expect([code, stdout, stderr]).toEqual([0, '{"contact"', ""]);
});

test("does not write rejects to the file that it imports, by any name", async () => {
  const id = await accountOf(1);
  const file = folder.write("odd.ndjson", "nonsense\n");
  symlinkSync(file, folder.path("odd-link.ndjson"));
  for (const [source, rejects] of [
    [file, file],
    [file, folder.path("odd-link.ndjson")],
    [folder.path("odd-link.ndjson"), file],
  ] as const) {
    const { code, stderr } = await cli(service(), ["import", source, "--account", id, "--rejects", rejects]);
    expect([code, stderr]).toEqual([2, `records: --rejects: ${rejects} is the file to import. Name another file.\n`]);
  }
  expect((await shell(`$RECORDS import - --account ${id} --rejects ${file} < ${file}`)).code).toBe(2);
  expect(readFileSync(file, "utf8")).toBe("nonsense\n");
});

test.each(["stdin", "pipe"])(
  "Ctrl-C ends an import from %s in the middle of a line without an end, with 130",
  async (from) => {
    const id = await accountOf(1);
    const pipe = folder.path("endless");
    if (from === "pipe") execFileSync("mkfifo", [pipe]);
    const running = startCli(
      ["import", from === "pipe" ? pipe : "-", "--account", id, "--format", "ndjson", "--name", `endless-${from}`],
      { input: { open: true }, environment: settingsFor(service()) },
    );
    const writer = spawn("sh", ["-c", `yes x | tr -d '\\n' ${from === "pipe" ? `> ${pipe}` : ""}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    writer.stdout.on("error", () => undefined);
    if (running.child.stdin !== null && from === "stdin") writer.stdout.pipe(running.child.stdin);
    // Nothing shows that it reads, and a signal before it listens would end it silently.
    await sleep(6_000);
    running.child.kill("SIGINT");
    const ended = await Promise.race([
      running.ended,
      new Promise<undefined>((resolve) => setTimeout(resolve, 30_000, undefined)),
    ]);
    if (ended === undefined) running.child.kill("SIGKILL");
    // Without a reader it ends by itself.
    writer.stdout.destroy();
    expect(ended).toMatchObject({ code: 130, stdout: expect.stringContaining("Stopped after 0 records.") });
  },
);

test("an import of an empty file ends with 0 and says that the file may be empty", async () => {
  const id = await accountOf(1);
  for (const args of [["-"], [folder.write("empty.ndjson", "\n\n")]]) {
    const { code, stderr } = await cli(service(), ["import", ...args, "--account", id]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("0 records. The file may be empty.\n")]);
  }
  expect(
    (await cli(service(), ["import", "-", "--account", id], { input: '{"contact":{"full_name":"Ann"}}' })).stderr,
  ).not.toContain("The file may be empty.");
});
