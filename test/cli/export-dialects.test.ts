// `records export` for other programs: columns, the byte order mark and versions of vCard.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { cli, cliJson, useFolder } from "./cli.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

test("an export has the columns of Google or Outlook, a byte order mark, or vCard 4.0, if that is set [OPS-04]", async () => {
  const { id, put } = await newClient(service());
  await put.contacts(
    { external_id: "c-1", full_name: "Jörg, X", email: "j@example.com", phone: "+49 1", notes: "a\nb", memory: "m" },
    { full_name: "Archived", archived_at: "2025-01-01T00:00:00Z" },
  );
  const exported = async (name: string, ...options: readonly string[]): Promise<string> => {
    await cliJson(service(), ["export", folder.path(name), "--account", id, ...options]);
    return readFileSync(folder.path(name), "utf8");
  };
  expect(await exported("g.csv", "--columns", "google")).toBe(
    'First Name,Notes,E-mail 1 - Value,Phone 1 - Value\r\n"Jörg, X","a\nb",j@example.com,+49 1\r\n',
  );
  expect(await exported("o.csv", "--columns", "outlook", "--bom")).toBe(
    '\uFEFFFirst Name,E-mail Address,Primary Phone,Notes\r\n"Jörg, X",j@example.com,+49 1,"a\nb"\r\n',
  );
  expect(await exported("r.csv", "--bom")).toMatch(/^\uFEFFid,external_id,full_name,[^]*\r\n.*,Archived,/);
  expect(await exported("four.vcf", "--vcard-version", "4.0")).toMatch(
    /^BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Jörg\\, X\r\n[^]*\r\nUID;VALUE=text:c-1\r\n/,
  );
  expect(await exported("three.vcf")).toMatch(/^BEGIN:VCARD\r\nVERSION:3.0\r\n[^]*\r\nUID:c-1\r\n/);
});

test("an option for another format, or with --all, is rejected [OPS-04]", async () => {
  const { id } = await newClient(service());
  for (const [name, ...options] of [
    ["a.vcf", "--bom"],
    ["a.ndjson", "--columns", "google"],
    ["a.csv", "--vcard-version", "4.0"],
  ] as const) {
    const { code, stderr } = await cli(service(), ["export", folder.path(name), "--account", id, ...options]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/(is|are) only for (CSV|vCard) files/)]);
  }
  const all = await cli(service(), ["export", folder.path("all"), "--all", "--vcard-version", "4.0"]);
  expect([all.code, all.stderr]).toEqual([2, expect.stringContaining("--vcard-version cannot be used with --all.")]);
});
