// Data, credentials and settings are reached through the one place that guards them.
import { expect, test } from "vitest";
import type { Source } from "./sources.ts";
import { handWritten } from "./sources.ts";

test("only the guards grant the right to write", () => {
  const granting = handWritten.filter(
    ({ path, text }) => /\bgrantWrites\b/.test(text) && !/^src\/(?:guards\/|call\/scope\.ts)/.test(path),
  );
  expect(granting.map(({ path }) => path)).toEqual([]);
});

test("of the service, only config and the embedded parts read the environment", () => {
  const reading = handWritten
    .filter(({ path, text }) => /process\.env/.test(text) && !/^(examples|fixtures|drills|bench)\//.test(path))
    .map(({ path }) => path);
  expect(reading.sort()).toEqual(["src/cli/records.ts", "src/embedded/parts.ts", "src/main.ts"]);
});

/** Statements of a file that use a collection which it opens. */
function collectionCalls(text: string): string[] {
  const names = [...text.matchAll(/\b(?:const|let) (\w+)(?:: [^=;]+)? = [^;\n]*\.collection(?:<[^;\n]*>)?\(/g)].map(
    ([, name = ""]) => name,
  );
  const methods =
    "(?:find|findOne|countDocuments|aggregate|distinct|insertOne|insertMany|updateOne|updateMany|replaceOne|deleteOne|deleteMany|findOneAnd\\w+|bulkWrite)\\([^;]*;";
  const chained = [...text.matchAll(new RegExp(`\\.collection(?:<[^;\\n]*>)?\\([^()]*\\)\\.${methods}`, "g"))];
  const named = [...text.matchAll(new RegExp(`\\b(\\w+)\\.${methods}`, "g"))].filter(([, name = ""]) =>
    [...names, "collection", "claims"].includes(name),
  );
  const commands = [...text.matchAll(/\bdb(?:\([^()]*\))?\.command\([^;]*;/g)];
  return [...chained, ...named, ...commands].map(([call]) => call);
}

/** In a transaction, or with the options of `write` handed on: what only mentions the words is not. */
const handedOn =
  /insertInTime|\{(?: upsert: true,)? session \}|\.\.\.options\b|\boptions,?\s*\)|session: options\.session|session: session as ClientSession|\.\.\.options, session/;

test("outside a transaction collections are read and written through src/db alone: under the lease, and not after the deadline [CON-04, CON-05]", () => {
  const service = handWritten.filter(({ path }) => path.startsWith("src/") && !/^src\/(db|embedded|cli)\//.test(path));
  const loose = service.flatMap(({ path, text }) =>
    collectionCalls(text)
      .filter((call) => !handedOn.test(call))
      .map((call) => `${path}: ${call}`),
  );
  expect(loose).toEqual([]);
  expect(service.flatMap(({ text }) => collectionCalls(text)).length).toBeGreaterThan(30);
});

test("a call that goes past src/db is seen", () => {
  for (const call of [
    "notes.findOne({ _id });",
    'db.collection("api_keys").findOne({ _id });',
    "notes.findOne({ _id }, { session: undefined });",
    "notes.deleteMany({ account_id: other });",
    "notes.updateMany({}, { $set: { content } });",
    'db.command({ find: "notes" });',
  ]) {
    const seen = collectionCalls(`const notes = db.collection<Note>("notes");\nawait ${call}`);
    expect([seen.length, seen.some((one) => handedOn.test(one))], call).toEqual([1, false]);
  }
});

/** Look-ups of credentials outside a recognizer's `lookUp`, which the composition root passes in. */
function looseLookUps({ path, text }: Source): string[] {
  if (!/^src\/(?!app[./]|embedded\/|cli\/)/.test(path)) return [];
  const lines = text
    .split("\n")
    .filter((line) => /\b(?:keys|apiKeys|tokens|signIn)\??\.(?:find|identify)\(|\bfind\(cookies[,)]/.test(line));
  return lines
    .filter(
      (line) =>
        !/\blookUp: \(deadline(?:: Deadline)?\) => /.test(line) &&
        !/^\s*(?:async )?find\(cookies, deadline\) \{$/.test(line),
    )
    .map((line) => `${path}: ${line.trim()}`);
}

test("a credential of any kind is looked up by a recognizer, which limits look-ups that fail [RTE-20]", () => {
  expect(handWritten.flatMap(looseLookUps)).toEqual([]);
  expect(
    looseLookUps({ path: "src/mcp/endpoint.ts", text: "const facts = await tokens.identify(token);" }),
  ).toHaveLength(1);
  expect(
    looseLookUps({
      path: "src/dashboard/surface.ts",
      text: 'const found = await signIn.find(inbound.header("cookie"));',
    }),
  ).toHaveLength(1);
});

test("every query of records goes through db/read or db/write, which name the account", () => {
  const records = /\b(contacts|sessions|notes|transcripts)\.(find|findOne|aggregate|countDocuments)\(/;
  const stores = handWritten.filter(
    ({ path, text }) => /^src\/(contacts|sessions|notes)\//.test(path) && records.test(text),
  );
  for (const { path, text } of stores) {
    for (const [query] of text.matchAll(/\b(?:contacts|sessions|notes|transcripts)\.(?:find|findOne)\([^;]*;/g))
      expect(query, path).toContain("account_id");
  }
});

/** Deletions of records whose filter names no account: a spread one is named `filter`, and built beside it. */
function deletionsOfAll({ path, text }: Source): string[] {
  if (!/^src\/(?:contacts|sessions|notes|ingest)\//.test(path)) return [];
  return [...text.matchAll(/\.(?:deleteOne|deleteMany|findOneAndDelete)\([^;]*;/g)]
    .map(([call]) => call)
    .filter((call) => !/account_id|\.\.\.filter\b/.test(call))
    .map((call) => `${path}: ${call}`);
}

test("a deletion of records names the account, in a transaction too", () => {
  expect(handWritten.flatMap(deletionsOfAll)).toEqual([]);
  const call = "await notes.deleteMany({ contact_id }, { session });";
  expect(deletionsOfAll({ path: "src/notes/store.ts", text: call })).toHaveLength(1);
  expect(deletionsOfAll({ path: "src/notes/store.ts", text: call.replace("{ c", "{ account_id, c") })).toEqual([]);
});
