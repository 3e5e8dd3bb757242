// `npx tsx test/exercises/forget-a-field.ts`: adds a field to every request in a scratch copy, and to no service; the
// compiler has to name every service.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createScratch, expect } from "./scratch.ts";

const scratch = createScratch();

/** What reads requests: the services, and the two streams that have a file of their own. */
const readers = [
  ...["accounts", "api-keys", "audit", "backup", "health", "instance", "notes", "sessions", "switches"].map(
    (domain) => `src/${domain}/service.ts`,
  ),
  // A contact's fields are those of its table.
  ...["src/contacts/service.ts", "src/contacts/document.ts"],
  ...["src/ingest/service.ts", "src/ingest/streams.ts", "src/ingest/import-stream.ts"],
];

try {
  for (const name of readdirSync(join(scratch.folder, "proto"), { recursive: true, encoding: "utf8" })) {
    if (!/\.proto$/.test(name) || !/message \w+Request \{/.test(scratch.read(`proto/${name}`))) continue;
    scratch.change(`proto/${name}`, (text) =>
      text.replace(/(message \w+Request \{)(\n[^]*?\n)?\}/g, "$1$2  // Forgotten.\n  optional bool forgotten = 99;\n}"),
    );
  }
  expect("the generator runs", scratch.run("npx", "tsx", "scripts/generate.ts").status === 0);
  const named = scratch.uncompiled();
  for (const reader of readers) expect(`the compiler names ${reader}`, named.includes(reader));
  const others = named.filter((file) => !readers.includes(file) && file.startsWith("src/"));
  expect(`and no other file of the service: ${others.join(", ")}`, others.length === 0);
} finally {
  scratch.remove();
}
