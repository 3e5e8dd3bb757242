// `npx tsx test/exercises/add-a-field.ts`: adds a field to a contact in a scratch copy, and counts the files it takes.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const copy = mkdtempSync(join(tmpdir(), "records-exercise-"));

/** What a person writes: the field in the messages, and its row in the domain's document. */
const protos: readonly (readonly [file: string, message: string, number: number])[] = [
  ["proto/records/v1/contacts.proto", "Contact", 13],
  ["proto/records/v1/contacts.proto", "CreateContactRequest", 4],
  ["proto/records/v1/contacts.proto", "UpdateContactRequest", 6],
  ["proto/records/ingest/v1/items.proto", "ContactItem", 12],
];
const mapping = "src/contacts/document.ts";
const lastRow = '    inferredName: "inferred_name",\n';

try {
  const { stdout: files } = git("ls-files", "-co", "--exclude-standard");
  for (const file of files.split("\n").filter((name) => name !== "")) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  cpSync(join(root, "client/node_modules"), join(copy, "client/node_modules"), { recursive: true });
  spawnSync("git", ["init", "-q"], { cwd: copy });
  spawnSync("git", ["add", "-A"], { cwd: copy });

  for (const [file, message, number] of protos) {
    const rules = '[(buf.validate.field).string.max_len = 200, (records.v1.field).example = "Acme"]';
    const field = `  // The company.\n  optional string company = ${number} ${file.includes("ingest") ? "" : rules};\n`;
    change(file, (text) => text.replace(new RegExp(`(message ${message} \\{\\n[^]*?\\n)(\\})`), `$1${field}$2`));
  }
  expect("the generator runs", run("npx", "tsx", "scripts/generate.ts").status === 0);

  const incomplete = run("node_modules/.bin/tsc", "--noEmit");
  const named = [...new Set([...incomplete.stdout.matchAll(/^([\w/.-]+)\(\d+/gm)].map(([, file]) => file))];
  expect(`the compiler asks for the mapping alone: ${named.join(", ")}`, named.join() === mapping);

  change(mapping, (text) => text.replace(lastRow, `${lastRow}    company: "company",\n`));
  const complete = run("node_modules/.bin/tsc", "--noEmit");
  expect(`then it compiles${complete.stdout}`, complete.status === 0);
  const test = run("npx", "vitest", "run", "test/ingest/every-field.test.ts", "test/cli/formats.test.ts");
  expect("and the field is written, changed, read, exported and imported", test.status === 0);

  const changed = spawnSync("git", ["diff", "--name-only"], { cwd: copy, encoding: "utf8" }).stdout.trim().split("\n");
  const generated = /^(?:src\/gen\/|client\/src\/schema\.ts$)/;
  const byHand = changed.filter((file) => !generated.test(file));
  console.log(`changed by hand: ${byHand.join(", ")}`);
  expect("no other file", byHand.join() === [protos[3]?.[0], protos[0]?.[0], mapping].join());
} finally {
  rmSync(copy, { recursive: true, force: true });
}

function git(...options: string[]): { readonly stdout: string } {
  return spawnSync("git", options, { cwd: root, encoding: "utf8" });
}

function run(program: string, ...options: string[]): { readonly status: number | null; readonly stdout: string } {
  return spawnSync(program, options, { cwd: copy, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function change(file: string, edit: (text: string) => string): void {
  const before = readFileSync(join(copy, file), "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`${file} is not as the exercise expects it`);
  writeFileSync(join(copy, file), after);
}

function expect(what: string, holds: boolean): void {
  console.log(`${holds ? "yes" : "NO"}: ${what}`);
  if (!holds) process.exitCode = 1;
}
