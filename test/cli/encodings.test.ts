// Files in another encoding, or with other line ends, than they are read in: an import and its dry run reject the same.
import { expect, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import type { Ended } from "./cli.ts";
import { cli, startCli, useFolder } from "./cli.ts";
import { contactsOf } from "./imported.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

/** How an import and its dry run end. */
async function both(account: string, file: string, options: string[], input = ""): Promise<Ended[]> {
  const args = ["import", file, "--account", account, ...options];
  return [await startCli([...args, "--dry-run"], { input }).ended, await cli(service(), args, { input })];
}

const latin = (text: string): Uint8Array => Buffer.from(text, "latin1");

test("a file that is not in its encoding is rejected as a whole, with 2, by the import and by its dry run", async () => {
  const { id } = await newClient(service());
  const cut = Uint8Array.from([...Buffer.from("\ufeffname\nAnn\n", "utf16le"), 0x00, 0xd8, 10, 0]);
  const utf8 = ["--encoding", "utf-8"];
  const files: [name: string, content: Uint8Array, encoding: string, options: string[]][] = [
    ["latin.csv", latin("name\nAnn\nMüller\n"), "UTF-8 in line 3", utf8],
    ["latin.vcf", latin("BEGIN:VCARD\nFN:Ann\nEND:VCARD\nBEGIN:VCARD\nFN:Mül\nEND:VCARD\n"), "UTF-8 in line 5", utf8],
    ["cut.csv", Buffer.from("name\nAnn\nMü").subarray(0, -1), "UTF-8 in line 3", []],
    ["marked.csv", cut, "UTF-16LE in line 3", []],
    ["said.csv", latin("name\nAnn\nM\x83\n"), "SHIFT_JIS in line 3", ["--encoding", "shift_jis"]],
    ["said.ndjson", latin('{"contact":{"full_name":"M\x83\n'), "SHIFT_JIS in line 1", ["--encoding", "shift_jis"]],
  ];
  for (const [name, content, encoding, options] of files) {
    const file = folder.write(name, content);
    const stderr = `records: ${file} is not ${encoding}. Set its encoding, such as --encoding windows-1251. Nothing was written.\n`;
    const rejected = { code: 2, stdout: "", stderr };
    expect(await both(id, file, options), name).toEqual([rejected, rejected]);
  }
  expect((await contactsOf(service(), id)).count).toBe(0);
});

test("lines of NDJSON and of standard input that are not in the encoding are rejected, with 4, by the import and by its dry run", async () => {
  const { id } = await newClient(service());
  const lines = '{"contact":{"full_name":"Ann"}}\n{"contact":{"full_name":"Mü"}}\n';
  const problem = expect.stringContaining("line 2: the line is not UTF-8: set --encoding, such as windows-1252");
  for (const ended of await both(id, folder.write("lines.ndjson", latin(lines)), []))
    expect(ended).toMatchObject({ code: 4, stdout: problem });
  const piped = await both(id, "-", ["--format", "csv", "--encoding", "shift_jis"], "name\nMĀ\nAnn\n");
  const shiftJis = expect.stringContaining("line 2: the line is not SHIFT_JIS: set --encoding, such as windows-1252");
  for (const ended of piped) expect(ended).toMatchObject({ code: 4, stdout: shiftJis });
  expect(await contactsOf(service(), id)).toEqual({ count: 2, names: 1 });
});

test("the encoding of a file is recognized, and shown by the import and by its dry run", async () => {
  const { id } = await newClient(service());
  const [dry, imported] = await both(id, folder.write("recognized.csv", latin("name\nAnn\nMüller\n")), []);
  expect([dry?.code, imported?.code]).toEqual([0, 0]);
  expect(dry?.stdout).toContain("Encoding: WINDOWS-1252\n");
  expect(imported?.stderr).toContain("Encoding: WINDOWS-1252\n");
  expect(await contactsOf(service(), id)).toEqual({ count: 2, names: 2 });
});

test("the lines of a CSV file can end with CR alone, in a file or as standard input", async () => {
  const rows = 'name,notes\rAnn,"one\rtwo"\rBo,\r';
  const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(rows, "utf16le")]);
  for (const content of [rows, wide]) {
    const { id } = await newClient(service());
    for (const { code } of await both(id, folder.write("cr.csv", content), [])) expect(code).toBe(0);
    expect(await contactsOf(service(), id)).toEqual({ count: 2, names: 2 });
  }
  const { id } = await newClient(service());
  for (const { code } of await both(id, "-", ["--format", "csv"], rows)) expect(code).toBe(0);
  expect(await contactsOf(service(), id)).toEqual({ count: 2, names: 2 });
  // A line break in a quoted cell may be any.
  const quoted = folder.write("quoted.csv", '"name","other\rcolumn"\r\n"Ann","a\rb"\r\n');
  for (const { code } of await both(id, quoted, ["--name", "quoted"])) expect(code).toBe(0);
  expect((await contactsOf(service(), id)).count).toBe(3);
});
