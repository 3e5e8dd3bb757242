// `records import` and `records export`: whole accounts, rejected records and rejected imports.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { cli, cliJson, runCommand, useFolder } from "./cli.ts";
import { contactsOf, nameless } from "./imported.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

test("an account is exported as NDJSON, deleted, and imported byte for byte; only its owner can read the file [OPS-04, ING-06, ING-07]", async () => {
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
  expect(readdirSync(dirname(out)).filter((name) => name.endsWith(".part"))).toEqual([]);
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
  const result = await cliJson(service(), ["import", out, "--account", fresh.id]);
  expect(result).toMatchObject({
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

test("contacts with difficult names are imported from CSV, and pass through CSV and vCard unchanged; only CSV has archived ones [OPS-04]", async () => {
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
  // A card has the id, so that it updates the existing contact instead of creating a second one.
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

test("rejects each unreadable record with its line and reason, writes the rest, ends with 4, and stores the rejects unchanged", async () => {
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
  const result = await cliJson(service(), ["import", file, "--account", id, "--rejects", rejects], { code: 4 });
  expect(result).toMatchObject({
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
    result.rejections.map(({ line, reason }: { line: number; reason: string }) => [line, reason]).sort(byLine),
  ).toEqual(expected);
  expect(result.rejections.find(({ line }: { line: number }) => line === 5).message).toContain("nickname");
  const search = "records.v1.ContactService/SearchContacts";
  const [ann] = (await service().internalCall(search, { query: "ann" }, { "records-account-id": id })).body.contacts;
  expect(result.rejections.find(({ line }: { line: number }) => line === 3).contact_id).toBe(ann.id);
  const kept = readFileSync(rejects, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { line: number; input: string });
  expect(kept.map(({ line, input }) => [line, input]).sort(byLine)).toEqual(
    expected.map(([line]) => [line, lines[Number(line) - 1]]),
  );
  // The same file again changes nothing, and still reports the rejected records.
  expect(await cliJson(service(), ["import", file, "--account", id], { code: 4 })).toMatchObject({
    resumed_from: 0,
    rejected: 6,
  });
  expect((await contactsOf(service(), id)).count).toBe(2);
  const again = await cliJson(service(), ["import", file, "--account", id, "--again"], { code: 4 });
  expect(again).toMatchObject({ resumed_from: 0, written: { contacts: 1 } });
  expect((await contactsOf(service(), id)).count).toBe(3);
});

test("--dry-run shows the columns, the first records and the errors, without a service, and sends nothing [OPS-04]", async () => {
  const file = folder.write(
    "dry.csv",
    "Export of today\nVorname,Nachname,E-Mail-Adresse,Gruppe\nAnn,Öz,a@example.com,x\n,,,\nBo,Li,,\n,,,only a group\nCy,,,\nDi,,,\n",
  );
  const dry = ["import", file, "--account", "nobody@example.com", "--dry-run"];
  const { code, stdout, stderr } = await runCommand(dry);
  expect([code, stderr]).toEqual([4, ""]);
  expect(stdout).toContain("  Vorname         → full_name\n");
  expect(stdout).toContain("  Gruppe          left out\n");
  expect(stdout).toContain("Encoding: UTF-8\nColumns, from line 2:\n");
  expect(stdout).toContain(
    "\nThe first 3 records:\n  line  full_name  email\n  3     Ann Öz     a@example.com\n  5     Bo Li\n  7     Cy\n\n",
  );
  expect(stdout).toContain("4 records to import, 1 unreadable. Nothing was sent.\n  line 6: ");
  expect(JSON.parse((await runCommand([...dry, "--json"])).stdout)).toMatchObject({
    dry_run: true,
    encoding: "utf-8",
    records: 4,
    unreadable: 1,
    columns_left_out: ["Gruppe"],
    first: [
      { line: 3, full_name: "Ann Öz", email: "a@example.com" },
      { line: 5, full_name: "Bo Li" },
      { line: 7, full_name: "Cy" },
    ],
  });
});

test("groups of contacts, and values that cannot be read, are counted by the import and by its dry run [OPS-04]", async () => {
  const { id } = await newClient(service());
  const cards =
    'BEGIN:VCARD\nKIND:group\nFN:Club\nEND:VCARD\nBEGIN:VCARD\nFN:Ann\nTEL;TYPE="x:1\nNOTE:a\0b\nTEL:2\nEND:VCARD\n';
  const args = ["import", folder.write("groups.vcf", cards), "--account", id];
  const lines = ["groups skipped", "values left out, unreadable or too long"];
  const dry = await runCommand([...args, "--dry-run"]);
  const { code, stdout } = await cli(service(), args);
  expect([dry.code, code]).toEqual([0, 0]);
  expect(dry.stdout).toContain(`  ${lines[0]}: 1\n  ${lines[1]}: 2\n`);
  expect(stdout).toMatch(new RegExp(`^${lines[0]} +1\n${lines[1]} +2$`, "m"));
  expect(await cliJson(service(), [...args, "--again"])).toMatchObject({ groups_skipped: 1, values_left_out: 2 });
});

test("the result counts what was created, updated, unchanged and rejected; a finished file begins again, and under its own name it does not [OPS-04]", async () => {
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
  expect(again.stdout).toMatch(/^contacts +3 \(3 unchanged\)$/m);
  expect(again.stderr).not.toContain("resumes");
  const named = [...update, "--name", "mine"];
  await cli(service(), named);
  expect((await cli(service(), named)).stdout).toContain("is finished, and nothing was written. To import ");
  expect(await cliJson(service(), [...update, "--again"], { code: 4 })).toMatchObject({
    contact_changes: { created: 0, updated: 0, unchanged: 3 },
  });
});

test("--strict ends at the first rejected line and names it", async () => {
  const { id } = await newClient(service());
  const file = folder.write(
    "strict.ndjson",
    '{"contact":{"full_name":"Ann"}}\nnonsense\n{"contact":{"full_name":"Bo"}}\n',
  );
  const { code, stderr } = await cli(service(), ["import", file, "--account", id, "--strict"]);
  expect(code).toBe(1);
  expect(stderr).toContain("line 2: is not JSON");
});

test("after --strict, importing the corrected record alone and repeating the command without --strict writes every record once", async () => {
  const { id } = await newClient(service());
  const lines = ["Ann", "Bo"].map((name) => JSON.stringify({ contact: { full_name: name, email: "a@example.com" } }));
  const rest = Array.from({ length: 5 }, (_, at) => JSON.stringify({ contact: { full_name: `Later ${at}` } }));
  const file = folder.write("strict-service.ndjson", [lines[0], lines[1], ...rest].join("\n"));
  const plain = ["import", file, "--account", id];
  const { code, stderr } = await cli(service(), [...plain, "--strict"]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^records: line 2: .* \(--strict stops the import here; later records may be written too\)\. Save the corrected record in a separate file, and import that file\. To import the rest, run the same command without --strict\.\n$/,
    ),
  ]);
  expect((await cli(service(), plain)).code).toBe(4);
  const corrected = folder.write("corrected.ndjson", '{"contact":{"full_name":"Bo"}}');
  expect((await cli(service(), ["import", corrected, "--account", id])).code).toBe(0);
  expect(await contactsOf(service(), id)).toEqual({ count: 7, names: 7 });
  // Without a name of its own, the rest uses the name of this run.
  const piped = await cli(service(), ["import", "-", "--account", id, "--strict"], { input: lines[0] ?? "" });
  expect(piped.stderr).toMatch(/run the same command without --strict and with --name import-[\da-f-]{36}\.\n$/);
});

test("a file of rejects that can no longer be written ends the import with an error", async () => {
  const { id } = await newClient(service());
  const file = folder.write("unreadable.ndjson", "nonsense\n".repeat(3));
  const { code, stderr } = await cli(service(), ["import", file, "--account", id, "--rejects", "/dev/full"]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("records: --rejects: /dev/full cannot be written (ENOSPC)."),
  ]);
});

test("rejects a missing file, an unrecognized format, an unknown account and paused writes, each with a reason", async () => {
  const { id } = await newClient(service());
  const file = folder.write("one.ndjson", nameless(0, 1));
  const rejections: [string[], number, string][] = [
    [["import", folder.path("absent.csv"), "--account", id], 2, "does not exist"],
    [["import", folder.write("data.bin", ""), "--account", id], 2, "--format"],
    [["import", folder.path(""), "--account", id], 2, "is a folder"],
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
