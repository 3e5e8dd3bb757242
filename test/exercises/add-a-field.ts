// `npx tsx test/exercises/add-a-field.ts`: adds a field to a contact in a scratch copy, and counts the files it takes.
import { createScratch, expect } from "./scratch.ts";

const scratch = createScratch();
const { change, run } = scratch;

/** What a user writes: the field in the messages, and its row in the domain's document. */
const protos: readonly (readonly [file: string, message: string, number: number])[] = [
  ["proto/records/v1/contacts.proto", "Contact", 13],
  ["proto/records/v1/contacts.proto", "CreateContactRequest", 4],
  ["proto/records/v1/contacts.proto", "UpdateContactRequest", 6],
  ["proto/records/ingest/v1/items.proto", "ContactItem", 12],
];
const mapping = "src/contacts/document.ts";
const lastRow = '    inferredName: "inferred_name",\n';

try {
  for (const [file, message, number] of protos) {
    const rules = '[(buf.validate.field).string.max_len = 200, (records.v1.field).example = "Acme"]';
    const field = `  // The company.\n  optional string company = ${number} ${file.includes("ingest") ? "" : rules};\n`;
    change(file, (text) => text.replace(new RegExp(`(message ${message} \\{\\n[^]*?\\n)(\\})`), `$1${field}$2`));
  }
  expect("the generator runs", run("npx", "tsx", "scripts/generate.ts").status === 0);

  const named = scratch.uncompiled();
  expect(`the compiler asks for the mapping alone: ${named.join(", ")}`, named.join() === mapping);

  change(mapping, (text) => text.replace(lastRow, `${lastRow}    company: "company",\n`));
  const complete = run("node_modules/.bin/tsc", "--noEmit");
  expect(`then it compiles${complete.stdout}`, complete.status === 0);
  const test = run("npx", "vitest", "run", "test/ingest/every-field.test.ts", "test/cli/formats.test.ts");
  expect("and the field is written, changed, read, exported and imported", test.status === 0);

  const byHand = scratch.changedByHand();
  console.log(`changed by hand: ${byHand.join(", ")}`);
  expect("no other file", byHand.join() === [protos[3]?.[0], protos[0]?.[0], mapping].join());
} finally {
  scratch.remove();
}
