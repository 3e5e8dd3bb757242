// `records import` again and again: an account stays in step with a file that a source writes every night.
import { expect, test, vi } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";
import { cli, cliJson, useFolder } from "./cli.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

type Row = Readonly<Record<string, unknown>>;

/** The contacts of an account by their external id, or else their name. */
async function contactsOf({ id }: Client): Promise<ReadonlyMap<string, Row>> {
  const all = await service().app.client.db().collection("contacts").find().toArray();
  return new Map(
    all
      .filter(({ account_id }) => String(account_id) === id)
      .map((one) => [String(one["external_id"] ?? one["full_name"]), one]),
  );
}

const header = "external_id,full_name,email,phone";
const csv = (...rows: readonly string[]): string => `${[header, ...rows].join("\n")}\n`;

function importing({ id }: Client, name: string, text: string, ...options: readonly string[]) {
  return ["import", folder.write(name, text), "--account", id, ...options];
}

test("columns that a file lacks leave their fields alone, emptied cells clear them, and unchanged contacts are not written, with and without --sync [IMP-01, IMP-02]", async () => {
  for (const options of [[], ["--sync"]]) {
    const client = await newClient(service());
    await client.put.contacts(
      { external_id: "c-1", full_name: "Ann", email: "ann@example.com", phone: "+1", notes: "n", memory: "m" },
      { external_id: "c-2", full_name: "Bo", email: "bo@example.com", notes: "kept" },
    );
    const before = await contactsOf(client);
    const night = csv("c-1,Ann,ann@example.com,", "c-2,Bo,bo@example.com,");
    const result = await cliJson(service(), importing(client, "night.csv", night, ...options));
    expect(result).toMatchObject({ done: true, contact_changes: { created: 0, updated: 1, unchanged: 1 } });
    const after = await contactsOf(client);
    expect(after.get("c-1")).toMatchObject({ phone: null, notes: "n", memory: "m" });
    expect(after.get("c-2")).toEqual(before.get("c-2"));
  }
});

test("an older state of a file is restored, and the same state changes nothing, with and without --sync [IMP-01, IMP-02]", async () => {
  for (const options of [[], ["--sync"]]) {
    const client = await newClient(service());
    const [first, second] = [
      csv("c-1,Ann,ann@example.com,+1", ",Nameless,nameless@example.com,"),
      csv("c-1,Anna,ann@example.com,", ",Nameless,nameless@example.com,+2"),
    ];
    for (const [name, text] of [
      ["one.csv", first],
      ["two.csv", second],
      ["one.csv", first],
    ] as const)
      expect((await cli(service(), importing(client, name, text, ...options))).code).toBe(
        options.length === 0 && name === "two.csv" ? 4 : 0,
      );
    const restored = await contactsOf(client);
    expect(restored.get("c-1")).toMatchObject({ full_name: "Ann", phone: "+1" });
    const again = await cliJson(service(), importing(client, "one.csv", first, ...options));
    expect(again).toMatchObject({ resumed_from: 0, contact_changes: { created: 0, updated: 0, unchanged: 2 } });
    expect(await contactsOf(client)).toEqual(restored);
  }
});

test("the properties that no card of a vCard file has stay as they are [IMP-01]", async () => {
  const client = await newClient(service());
  const contact = { full_name: "Ann", phone: "+1", notes: "n", memory: "m" };
  await client.put.contacts({ ...contact, external_id: "u-1" }, { ...contact, external_id: "u-2" });
  const card = (uid: string, ...lines: readonly string[]): string =>
    ["BEGIN:VCARD", "VERSION:3.0", `UID:${uid}`, "FN:Ann B", ...lines, "END:VCARD", ""].join("\r\n");
  await cliJson(service(), importing(client, "book.vcf", card("u-1", "TEL:+2") + card("u-2")));
  const after = await contactsOf(client);
  expect(after.get("u-1")).toMatchObject({ full_name: "Ann B", phone: "+2", notes: "n", memory: "m" });
  expect(after.get("u-2")).toMatchObject({ full_name: "Ann B", phone: null, notes: "n", memory: "m" });
});

test("a record of NDJSON is complete, and with --sync it leaves the fields alone that no record of the file has [IMP-01]", async () => {
  const client = await newClient(service());
  const all = { full_name: "Ann", phone: "+1", notes: "n", memory: "m" };
  await client.put.contacts({ ...all, external_id: "c-1" });
  const file = '{"contact":{"external_id":"c-1","fullName":"Ann","phone":null}}\n';
  await cliJson(service(), importing(client, "a.ndjson", file, "--sync"));
  expect((await contactsOf(client)).get("c-1")).toMatchObject({ ...all, phone: null });
  await cliJson(service(), importing(client, "a.ndjson", file));
  expect((await contactsOf(client)).get("c-1")).toMatchObject({ full_name: "Ann", notes: null, memory: null });
});

test("--archive-missing archives what the file no longer has, and restores what it has again [OPS-04]", async () => {
  const client = await newClient(service());
  await client.put.contacts({ full_name: "By hand" });
  const people = Array.from({ length: 10 }, (_, at) => `c-${at},P ${at},p${at}@example.com,`);
  const sync = (rows: readonly string[], ...more: readonly string[]) =>
    cliJson(service(), importing(client, "crm.csv", csv(...rows), "--sync", "--archive-missing", ...more));
  expect(await sync(people)).toMatchObject({ archived: 0, contact_changes: { created: 10 } });
  await client.put.contacts({ external_id: "c-9", full_name: "P 9", email: "p9@example.com", memory: "m" });
  expect(await sync(people.slice(0, 8))).toMatchObject({ archived: 2, contact_changes: { unchanged: 8 } });
  const gone = await contactsOf(client);
  expect([...gone].filter(([, one]) => one["archived_at"] !== null).map(([key]) => key)).toEqual(["c-8", "c-9"]);
  expect(await sync(people)).toMatchObject({ archived: 0, contact_changes: { updated: 2, unchanged: 8 } });
  const back = await contactsOf(client);
  expect(back.get("c-9")).toMatchObject({ archived_at: null, memory: "m" });
  expect(back.size).toBe(11);
});

test("a contact that is known by its email alone is archived and restored like others [OPS-04]", async () => {
  const client = await newClient(service());
  const rows = ["Ann,ann@example.com", "Bo,bo@example.com", "Cy,cy@example.com"];
  const sync = (kept: readonly string[]) =>
    cliJson(
      service(),
      importing(client, "mail.csv", `name,email\n${kept.join("\n")}\n`, "--sync", "--archive-missing"),
    );
  await sync(rows);
  expect(await sync(rows.slice(1))).toMatchObject({ archived: 1 });
  expect(await sync(rows)).toMatchObject({ archived: 0, contact_changes: { created: 0, updated: 1, unchanged: 2 } });
});

test("a truncated file archives nothing without --yes, and is not imported at all [OPS-04]", async () => {
  const client = await newClient(service());
  const people = Array.from({ length: 10 }, (_, at) => `c-${at},P ${at},p${at}@example.com,`);
  const sync = (text: string) => importing(client, "crm.csv", text, "--sync", "--archive-missing");
  await cliJson(service(), sync(csv(...people)));
  const before = await contactsOf(client);
  for (const cut of [csv(...people.slice(0, 6), "c-6,P"), csv(), ""]) {
    const { code, stderr } = await cli(service(), sync(cut));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/lacks \d+ of the 10 contacts of .+ Nothing was done\./)]);
  }
  expect(await contactsOf(client)).toEqual(before);
  const confirmed = await cliJson(service(), [...sync(csv(...people.slice(0, 2))), "--yes"]);
  expect(confirmed).toMatchObject({ archived: 8 });
});

test("nothing is archived for an entry that cannot be read, unless its external id is known [OPS-04]", async () => {
  const client = await newClient(service());
  const people = Array.from({ length: 10 }, (_, at) => `c-${at},P ${at},p${at}@example.com,`);
  const sync = (...rows: readonly string[]) =>
    cliJson(service(), importing(client, "crm.csv", csv(...rows), "--sync", "--archive-missing"), { code: 4 });
  await cliJson(service(), importing(client, "crm.csv", csv(...people), "--sync"));
  expect(await sync(...people.slice(0, 9), "c-9,P 9,p9,,,x")).toMatchObject({
    archived: 0,
    not_archived: 1,
    rejected: 1,
  });
  expect(await sync(...people.slice(0, 8), "c-9,P 9,no address,")).toMatchObject({ archived: 1, not_archived: 0 });
  expect((await contactsOf(client)).get("c-9")).toMatchObject({ archived_at: null });
});

test("swapped emails are rejected every time, until their rows were imported without emails [OPS-04]", async () => {
  const client = await newClient(service());
  const run = async (...rows: readonly string[]) =>
    (await cli(service(), importing(client, "swap.csv", csv(...rows), "--sync"))).code;
  const swapped = ["c-1,Ann,two@example.com,", "c-2,Bo,one@example.com,"];
  expect(await run("c-1,Ann,one@example.com,", "c-2,Bo,two@example.com,")).toBe(0);
  expect([await run(...swapped), await run(...swapped)]).toEqual([4, 4]);
  expect([await run("c-1,Ann,,", "c-2,Bo,,"), await run(...swapped)]).toEqual([0, 0]);
  expect((await contactsOf(client)).get("c-1")).toMatchObject({ full_name: "Ann", email: "two@example.com" });
});

test("--sync rejects a record that it could not find again [OPS-04]", async () => {
  const client = await newClient(service());
  const text = csv("c-1,Ann,,", ",Bo,bo@example.com,", ",Cy,,");
  const { code, stdout } = await cli(service(), importing(client, "crm.csv", text, "--sync"));
  expect([code, stdout]).toEqual([4, expect.stringContaining("  line 4: has no id, external id or email")]);
  expect((await contactsOf(client)).size).toBe(2);
});

test("an archived contact stays archived, with the values of the file, unless --archive-missing is set [OPS-04]", async () => {
  const client = await newClient(service());
  await client.put.contacts({ external_id: "c-1", full_name: "Ann", archived_at: "2025-01-01T00:00:00Z" });
  await cliJson(service(), importing(client, "crm.csv", csv("c-1,Anna,,"), "--sync"));
  const [found] = (await contactsOf(client)).values();
  expect(found).toMatchObject({ full_name: "Anna", archived_at: new Date("2025-01-01T00:00:00Z") });
});

test("options that contradict --sync, and standard input, are rejected [OPS-04]", async () => {
  const { id } = await newClient(service());
  const file = folder.write("x.csv", csv("c-1,Ann,,"));
  for (const options of [
    ["--sync", "--again"],
    ["--sync", "--name", "n"],
    ["--sync", "--update-by", "email"],
    ["--archive-missing"],
    ["--sync", "--yes"],
  ])
    expect((await cli(service(), ["import", file, "--account", id, ...options])).code).toBe(2);
  const piped = await cli(service(), ["import", "-", "--account", id, "--sync"]);
  expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining("--sync needs a file")]);
});
