// Each collection is written by one room, and its name exists once.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { collections } from "../../src/db/collections.ts";
import { namedByText, writtenBy } from "./writers.ts";

/** Who writes what. `src/db` has the mechanisms of transactions and erasure, which are given their collections. */
const owners: Readonly<Record<keyof typeof collections, readonly string[]>> = {
  accounts: ["src/accounts/"],
  apiKeys: ["src/api-keys/"],
  auditLog: ["src/audit/"],
  claims: ["src/db/", "src/guards/"],
  contacts: ["src/contacts/"],
  dashboardSessions: ["src/sign-in/"],
  endedSessions: ["src/sign-in/"],
  erasures: ["src/accounts/"],
  imports: ["src/ingest/"],
  logoutTokens: ["src/sign-in/"],
  notes: ["src/notes/"],
  restores: ["src/backup/"],
  sessions: ["src/sessions/"],
  switchChanges: ["src/switches/"],
  switches: ["src/switches/"],
  transcripts: ["src/sessions/"],
};

const root = join(import.meta.dirname, "../..");
const sources = ["src", "gateway"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  )
  .filter((path) => path.endsWith(".ts") && !path.startsWith("src/gen/"))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** The collections that a file writes and that are not its room's. */
function strange({ path, text }: { readonly path: string; readonly text: string }): string[] {
  const isOwn = (name: string): boolean => owners[name as keyof typeof owners]?.some((room) => path.startsWith(room));
  return [...writtenBy(text)].filter((name) => !isOwn(name)).map((name) => `${path} writes ${name}`);
}

test("a collection is written by its own room alone", () => {
  // These are given collections by the stores that own them.
  const given = [
    "src/db/insert.ts",
    "src/db/put-batch.ts",
    "src/db/named.ts",
    "src/db/write.ts",
    "src/db/sweep.ts",
    "src/db/put-stored.ts",
  ];
  const found = sources.filter(({ path }) => !given.includes(path)).flatMap(strange);
  expect(found).toEqual([]);
  const written = new Set(sources.flatMap(({ text }) => [...writtenBy(text)]));
  expect(Object.keys(owners).filter((name) => !written.has(name))).toEqual([]);
});

/** Where our collections are named, and where MongoDB's own are. */
const naming = ["src/db/collections.ts", "src/embedded/replica-set.ts", "src/cli/doctor/sharding.ts"];

test("a collection's name exists once", () => {
  const found = sources
    .filter(({ path }) => !naming.includes(path))
    .flatMap(({ path, text }) => namedByText(text).map((name) => `${path}: ${name}`));
  expect(found).toEqual([]);
});

test("a write from another room, and a name that is written out, are found", () => {
  const opened = "const people = db.collection<Contact>(collections.contacts);";
  for (const call of [
    "await people.updateOne({}, {});",
    "await db.collection(collections.contacts).deleteMany({});",
    "await insertInTime(people, document, options, fence);",
    "await contacts.bulkWrite([]);",
  ])
    expect(strange({ path: "src/ingest/new.ts", text: `${opened}\n${call}` }), call).toEqual([
      "src/ingest/new.ts writes contacts",
    ]);
  expect(strange({ path: "src/contacts/new.ts", text: `${opened}\nawait people.updateOne({}, {});` })).toEqual([]);
  expect(strange({ path: "src/ingest/new.ts", text: `${opened}\nawait people.findOne({});` })).toEqual([]);
  expect(namedByText('db.collection("contacts"); const stage = { $unionWith: { coll: "notes" } };')).toEqual([
    "contacts",
    "notes",
  ]);
});
