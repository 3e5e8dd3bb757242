// `records import` and `records export`: whole accounts, rejected records, streams that were cut off, and rejected
// imports.
import { existsSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import type { Running } from "./cli.ts";
import { cli, cliJson, settingsFor, startCli, useFolder } from "./cli.ts";
import { cuttingProxy } from "./proxy.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

/** How many contacts an account holds, and how many different names they have. */
async function contactsOf(accountId: string): Promise<{ readonly count: number; readonly names: number }> {
  const all = await service()
    .app.client.db()
    .collection("contacts")
    .find()
    .project<{ account_id: unknown; full_name: string }>({ account_id: 1, full_name: 1 })
    .toArray();
  const own = all.filter(({ account_id }) => String(account_id) === accountId).map(({ full_name }) => full_name);
  return { count: own.length, names: new Set(own).size };
}

/** So many contacts that have no id and no email: sent twice, they would be there twice. */
function nameless(from: number, to: number): string {
  return Array.from(
    { length: to - from },
    (_, at) => `${JSON.stringify({ contact: { full_name: `Person ${from + at}` } })}\n`,
  ).join("");
}

/** How many records the account's import has settled. */
async function settled(accountId: string): Promise<number> {
  const found = await service().app.client.db().collection("imports").find().toArray();
  return (found.find((one) => String(one["account_id"]) === accountId)?.["position"] as number | undefined) ?? 0;
}

/**
 * Starts an import from standard input and feeds it until more than `least` records are settled; the number that was
 * fed.
 */
async function feed(
  accountId: string,
  least = 0,
  settings: Record<string, string> = {},
): Promise<{ readonly running: Running; readonly fed: number }> {
  const running = startCli(importOf(accountId), {
    input: { open: true },
    environment: { ...settingsFor(service()), ...settings },
  });
  let fed = 0;
  for (let done = 0; done <= least; done = await settled(accountId)) {
    // No more than a slow machine settles within the time that Ctrl-C leaves.
    if (fed - done < 1_000) running.child.stdin?.write(nameless(fed, (fed += 200)));
    await sleep(50);
  }
  return { running, fed };
}

function importOf(accountId: string): string[] {
  return ["--json", "import", "-", "--account", accountId, "--name", "feed"];
}

test("an account goes out as NDJSON, is deleted, and comes back the same to the byte; the file is its owner's alone [OPS-04, ING-06, ING-07]", async () => {
  const { id, put } = await newClient(service());
  const [ann] = await put.contacts(
    { external_id: "c-1", full_name: 'Ann "Ö" Lee\n', email: "ann@example.com" },
    { full_name: "Bo", archived_at: "2025-01-01T00:00:00Z" },
  );
  const [met] = await put.sessions({ contact_id: ann, title: "Kickoff", session_date: "2025-05-01T10:00:00Z" });
  await put.transcript({ session_id: met, transcript: "Hello 🙂" });
  await put.contactNotes({ contact_id: ann, content: "call back", source: "mobile" });
  await put.sessionNotes({ session_id: met, content: "agenda", type: "SESSION_NOTE_TYPE_USER_MANUAL" });
  const written = { contacts: 2, sessions: 1, transcripts: 1, session_notes: 1, contact_notes: 1 };

  const out = folder.path("all.ndjson");
  expect(await cliJson(service(), ["export", out, "--account", id])).toMatchObject({
    account_id: id,
    file: out,
    format: "ndjson",
    written,
  });
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(existsSync(`${out}.part`)).toBe(false);
  expect(
    readFileSync(out, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => Object.keys(JSON.parse(line))[0]),
  ).toEqual([
    "contact",
    "contact",
    "session",
    "transcript",
    expect.stringMatching(/_note$/),
    expect.stringMatching(/_note$/),
  ]);

  await cliJson(service(), ["account", "delete", id, "--yes"]);
  const fresh = await newClient(service());
  const told = await cliJson(service(), ["import", out, "--account", fresh.id]);
  expect(told).toMatchObject({
    account_id: fresh.id,
    file: out,
    format: "ndjson",
    done: true,
    resumed_from: 0,
    position: 6,
    written,
    rejected: 0,
    rejections: [],
  });
  const { code, stdout, stderr } = await cli(service(), ["export", "-", "--account", fresh.id]);
  expect([code, stdout]).toEqual([0, readFileSync(out, "utf8")]);
  expect(stderr).toContain("Exported 6 records");
});

test("contacts with difficult names come from CSV, and go through CSV and vCard, exactly; archived ones are in CSV alone [OPS-04]", async () => {
  const names = ['Ann "Ö" Lee; Jr.', "Müller,\r\nJörg", "O'Neil \\ Søn 🙂", "=1+1"];
  const { id } = await newClient(service());
  const source = folder.write(
    "people.csv",
    `\ufeffName;E-mail 1 - Value;Notes\r\n${names.map((name, at) => `"${name.replaceAll('"', '""')}";p${at}@example.com;"one\ntwo"`).join("\r\n")}`,
  );
  expect(await cliJson(service(), ["import", source, "--account", id])).toMatchObject({
    format: "csv",
    written: { contacts: 4 },
    rejected: 0,
  });
  const found = (await service().app.client.db().collection("contacts").find().toArray()).filter(
    ({ account_id }) => String(account_id) === id,
  );
  expect(found.map(({ full_name, notes }) => [full_name, notes]).sort()).toEqual(
    names.map((name) => [name, "one\ntwo"]).sort(),
  );
  await service().internalCall("records.ingest.v1.IngestService/ArchiveContacts", {
    account_id: id,
    contact_ids: [String(found.find(({ full_name }) => full_name === "=1+1")?._id)],
  });

  const [csv, vcf, all] = ["out.csv", "out.vcf", "out.ndjson"].map((name) => folder.path(name)) as [
    string,
    string,
    string,
  ];
  expect((await cliJson(service(), ["export", csv, "--account", id])).written.contacts).toBe(4);
  expect((await cliJson(service(), ["export", vcf, "--account", id])).written.contacts).toBe(3);
  await cliJson(service(), ["export", all, "--account", id]);
  expect(readFileSync(csv, "utf8")).toContain(",=1+1,");
  await cliJson(service(), ["account", "delete", id, "--yes"]);

  const fresh = await newClient(service());
  expect((await cliJson(service(), ["import", csv, "--account", fresh.id])).written.contacts).toBe(4);
  expect((await cli(service(), ["export", "-", "--account", fresh.id])).stdout).toBe(readFileSync(all, "utf8"));
  // A card carries the id, so that it is the contact that is there, and not a second one.
  expect(await cliJson(service(), ["import", vcf, "--account", fresh.id])).toMatchObject({
    format: "vcard",
    written: { contacts: 3 },
    rejected: 0,
  });
  const after = (await service().app.client.db().collection("contacts").find().toArray()).filter(
    ({ account_id }) => String(account_id) === fresh.id,
  );
  expect(after.map(({ full_name }) => full_name).sort()).toEqual(
    names.map((name) => (name === "=1+1" ? name : name.replace("\r\n", "\n"))).sort(),
  );
});

test("what cannot be read or written is rejected with its line and reason, the rest is written, and it ends with 4; the file of rejects has them as they were", async () => {
  const { id } = await newClient(service());
  const lines = [
    '{"contact":{"full_name":"Ann","email":"a@example.com"}}',
    "not json",
    '{"contact":{"full_name":"Bo","email":"A@example.com"}}',
    "",
    '{"contact":{"nickname":"x"}}',
    '{"session":{"contact_external_id":"nobody"}}',
    "{}",
    '{"contact":{"fullName":"Cy","email":"nonsense"}}',
    '{"contact":{"full_name":"Di"}}',
  ];
  const file = folder.write("mixed.ndjson", lines.join("\n"));
  const rejects = folder.path("rejects.ndjson");
  const told = await cliJson(service(), ["import", file, "--account", id, "--rejects", rejects], { code: 4 });
  expect(told).toMatchObject({
    done: true,
    written: { contacts: 2, sessions: 0 },
    rejected: 6,
    rejections_left_out: 0,
  });
  const expected = [
    [2, "UNREADABLE"],
    [3, "DUPLICATE_EMAIL"],
    [5, "UNREADABLE"],
    [6, "NOT_FOUND"],
    [7, "UNREADABLE"],
    [8, "INVALID_REQUEST"],
  ];
  const byLine = (a: (string | number)[], b: (string | number)[]): number => Number(a[0]) - Number(b[0]);
  expect(
    told.rejections.map(({ line, reason }: { line: number; reason: string }) => [line, reason]).sort(byLine),
  ).toEqual(expected);
  expect(told.rejections.find(({ line }: { line: number }) => line === 5).message).toContain("nickname");
  const kept = readFileSync(rejects, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { line: number; input: string });
  expect(kept.map(({ line, input }) => [line, input]).sort(byLine)).toEqual(
    expected.map(([line]) => [line, lines[Number(line) - 1]]),
  );
  // The same file again changes nothing, and still says that some of it is not there.
  expect(await cliJson(service(), ["import", file, "--account", id], { code: 4 })).toMatchObject({
    resumed_from: 5,
    rejected: 6,
  });
  expect((await contactsOf(id)).count).toBe(2);
  const again = await cliJson(service(), ["import", file, "--account", id, "--again"], { code: 4 });
  expect(again).toMatchObject({ resumed_from: 0, written: { contacts: 1 } });
  expect((await contactsOf(id)).count).toBe(3);
});

test("--dry-run shows columns, first records and what cannot be read, without a service, and sends nothing [OPS-04]", async () => {
  const file = folder.write(
    "dry.csv",
    "Vorname,Nachname,E-Mail-Adresse,Gruppe\nAnn,Öz,a@example.com,x\n,,,\nBo,Li,,\n,,,only a group\n",
  );
  const dry = ["import", file, "--account", "nobody@example.com", "--dry-run"];
  const { code, stdout, stderr } = await startCli(dry).ended;
  expect([code, stderr]).toEqual([4, ""]);
  expect(stdout).toContain("  Vorname         → full_name\n");
  expect(stdout).toContain("  Gruppe          left out\n");
  expect(stdout).toContain("line 2\n  full_name  Ann Öz\n  email      a@example.com\n");
  expect(stdout).toContain("2 records to import, 1 unreadable. Nothing was sent.\n  line 5: ");
  expect(JSON.parse((await startCli([...dry, "--json"]).ended).stdout)).toMatchObject({
    ...{ dry_run: true, records: 2, unreadable: 1, columns_left_out: ["Gruppe"] },
    first: [
      { line: 2, full_name: "Ann Öz", email: "a@example.com" },
      { line: 4, full_name: "Bo Li" },
    ],
  });
});

test("the result says what was created, updated, unchanged and rejected; a file that is done is not resumed [OPS-04]", async () => {
  const { id, put } = await newClient(service());
  await put.contacts({ full_name: "Ann", email: "ann@example.com" }, { full_name: "Bo", email: "bo@example.com" });
  const file = folder.write(
    "update.csv",
    "name,email,phone\nAnn,ann@example.com,1\nBo,bo@example.com,\nCy,cy@example.com,\nDi,no-email,\n",
  );
  const plain = ["import", file, "--account", id];
  const rejected = await cli(service(), plain);
  expect([rejected.code, rejected.stdout]).toEqual([
    4,
    expect.stringContaining(": 1 record imported, 3 rejected, in "),
  ]);
  const update = [...plain, "--update-by", "email"];
  const { code, stdout } = await cli(service(), update);
  expect(code).toBe(4);
  expect(stdout).toMatch(/^contacts +3 \(1 updated, 2 unchanged\)$/m);
  const again = await cli(service(), update);
  expect(again.stdout).toContain("before. Nothing was written. To import it once more, add --again.\n");
  expect(again.stderr).not.toContain("resumes");
  expect(await cliJson(service(), [...update, "--again"], { code: 4 })).toMatchObject({
    contact_changes: { created: 0, updated: 0, unchanged: 3 },
  });
});

test("--strict ends at the first line that is rejected and names it", async () => {
  const { id } = await newClient(service());
  const file = folder.write(
    "strict.ndjson",
    '{"contact":{"full_name":"Ann"}}\nnonsense\n{"contact":{"full_name":"Bo"}}\n',
  );
  const { code, stderr } = await cli(service(), ["import", file, "--account", id, "--strict"]);
  expect(code).toBe(1);
  expect(stderr).toContain("line 2: is not JSON");
});

test("an import that is killed with SIGKILL continues when it is run again: nothing is missing, nothing is there twice [OPS-04, ING-06]", async () => {
  const { id } = await newClient(service());
  const { running, fed } = await feed(id);
  running.child.kill("SIGKILL");
  expect((await running.ended).code).toBe("SIGKILL");
  const total = fed + 700;
  const told = await cliJson(service(), importOf(id), { input: nameless(0, total) });
  expect(told).toMatchObject({ done: true, position: total, rejected: 0, written: { contacts: total } });
  expect(told.resumed_from).toBeGreaterThan(0);
  expect(await contactsOf(id)).toEqual({ count: total, names: total });
});

test("Ctrl-C settles all that was sent, ends with 130, and the same command continues from there", async () => {
  const { id } = await newClient(service());
  const { running } = await feed(id);
  running.child.kill("SIGINT");
  const { code, stdout } = await running.ended;
  expect(code).toBe(130);
  const { done, position } = JSON.parse(stdout) as { done: boolean; position: number };
  expect([done, position]).toEqual([false, await settled(id)]);
  expect(await contactsOf(id)).toEqual({ count: position, names: position });
  const told = await cliJson(service(), importOf(id), { input: nameless(0, position + 300) });
  expect(told).toMatchObject({ done: true, resumed_from: position, written: { contacts: position + 300 } });
  expect(await contactsOf(id)).toEqual({ count: position + 300, names: position + 300 });
});

test("a feed that pauses is written and settled meanwhile [OPS-04]", async () => {
  const { id } = await newClient(service());
  const running = startCli(importOf(id), { input: { open: true }, environment: settingsFor(service()) });
  for (const total of [3, 5]) {
    running.child.stdin?.write(nameless(total === 3 ? 0 : 3, total));
    await vi.waitFor(async () => expect(await settled(id)).toBe(total), { timeout: 60_000, interval: 50 });
  }
  running.child.stdin?.end();
  const { code, stdout } = await running.ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { done: true, position: 5, written: { contacts: 5 } }]);
  expect(await contactsOf(id)).toEqual({ count: 5, names: 5 });
});

test("an import reconnects by itself when its connection is cut, twice, and nothing is missing or there twice [OPS-04]", async () => {
  const { id } = await newClient(service());
  const proxy = await cuttingProxy(service().internal);
  const { running, fed } = await feed(id, 0, { RECORDS_INTERNAL_URL: proxy.url });
  proxy.cut();
  const before = await settled(id);
  running.child.stdin?.write(nameless(fed, fed + 2_000));
  await vi.waitFor(async () => expect(await settled(id)).toBeGreaterThan(before), { timeout: 60_000, interval: 50 });
  proxy.cut();
  const total = fed + 3_000;
  running.child.stdin?.end(nameless(fed + 2_000, total));
  const { code, stdout } = await running.ended;
  await proxy.close();
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    { done: true, position: total, rejected: 0, written: { contacts: total } },
  ]);
  expect(proxy.connections()).toBeGreaterThanOrEqual(3);
  expect(await contactsOf(id)).toEqual({ count: total, names: total });
});

test("an export whose connection is cut begins again, and its file is the same as that of one that was not [OPS-04, ING-07]", async () => {
  const { id, put } = await newClient(service());
  await put.contacts(
    ...Array.from({ length: 900 }, (_, at) => ({ full_name: `Person ${at}`, notes: "long ".repeat(4_000) })),
  );
  const [whole, cut] = [folder.path("whole.ndjson"), folder.path("cut.ndjson")];
  await cliJson(service(), ["export", whole, "--account", id]);
  const proxy = await cuttingProxy(service().internal);
  const running = startCli(["export", cut, "--account", id], {
    environment: { ...settingsFor(service()), RECORDS_INTERNAL_URL: proxy.url },
  });
  await vi.waitFor(() => expect(statSync(`${cut}.part`).size).toBeGreaterThan(0), { timeout: 60_000, interval: 2 });
  proxy.cut();
  const { code, stderr } = await running.ended;
  await proxy.close();
  expect([code, stderr]).toEqual([0, expect.stringContaining("Starting again")]);
  expect(readFileSync(cut).equals(readFileSync(whole))).toBe(true);
});

test("a file of rejects that can no longer be written ends the import in words", async () => {
  const { id } = await newClient(service());
  const file = folder.write("unreadable.ndjson", "nonsense\n".repeat(3));
  const { code, stderr } = await cli(service(), ["import", file, "--account", id, "--rejects", "/dev/full"]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("records: --rejects: /dev/full cannot be written (ENOSPC)."),
  ]);
});

test("standard input is imported too, and continues under a --name; a name with another, shorter file is rejected", async () => {
  const { id } = await newClient(service());
  const input = nameless(0, 3);
  expect(await cliJson(service(), ["import", "-", "--account", id, "--name", "feed"], { input })).toMatchObject({
    import_id: "feed",
    format: "ndjson",
    resumed_from: 0,
    written: { contacts: 3 },
  });
  expect(
    await cliJson(service(), ["import", "-", "--account", id, "--name", "feed"], { input: nameless(0, 4) }),
  ).toMatchObject({ resumed_from: 3, position: 4 });
  const shorter = await cli(service(), ["import", "-", "--account", id, "--name", "feed"], { input });
  expect(shorter.code).toBe(1);
  expect(shorter.stderr).toContain("another file");
});

test("a file that is not there, a format that cannot be recognized, an account that is not there and paused writes are rejected in words", async () => {
  const { id } = await newClient(service());
  const file = folder.write("one.ndjson", nameless(0, 1));
  const rejections: [string[], number, string][] = [
    [["import", folder.path("absent.csv"), "--account", id], 2, "does not exist"],
    [["import", folder.write("data.bin", ""), "--account", id], 2, "--format"],
    [["import", folder.path(""), "--account", id, "--format", "csv"], 2, "is a folder"],
    [["import", file, "--account", "nobody@example.com"], 1, "no account"],
    [["import", file], 2, "--account"],
    [["import", file, "--account", id, "--map", "a=email"], 2, "--map is only for CSV"],
    [["export", folder.path("no/such/folder.csv"), "--account", id], 2, "cannot be written"],
    [["export", "-", "--json", "--account", id], 2, "Name a file"],
  ];
  const ended = await Promise.all(rejections.map(([args]) => cli(service(), args)));
  for (const [at, { code, stdout, stderr }] of ended.entries())
    expect([code, stdout, stderr]).toEqual([
      rejections[at]?.[1],
      "",
      expect.stringContaining(rejections[at]?.[2] ?? ""),
    ]);
  await cliJson(service(), ["interface", "writes", "off", "--yes"]);
  const paused = await cli(service(), ["import", file, "--account", id]);
  await cliJson(service(), ["interface", "writes", "on"]);
  expect([paused.code, paused.stderr]).toEqual([1, expect.stringContaining("Writes are paused")]);
});
