// Holds the house to its plan: who may import whom, how large a file may be, and a few habits.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longFunctions } from "./rules/functions.ts";
import { circles, importsOf } from "./rules/imports.ts";

const root = join(import.meta.dirname, "..");

/** What every test may import. */
const tested = ["test/", "fixtures/", "scripts/", "examples/", "client/src/", "gateway/", "src/"];

/** Room → the rooms that it may import, itself included. The first room whose path a file begins with is its own. */
const rooms: readonly (readonly [room: string, may: readonly string[]])[] = [
  ["src/gen/", ["src/gen/"]],
  ["src/search/", ["src/search/", "src/text.ts"]],
  ["src/errors.ts", ["src/gen/"]],
  ["src/instant.ts", []],
  ["src/address.ts", []],
  ["src/text.ts", []],
  ["src/uuid.ts", []],
  ["src/tally.ts", []],
  ["src/logged-error.ts", []],
  ["src/deadline.ts", ["src/gen/", "src/errors.ts", "src/tally.ts"]],
  ["src/turns.ts", []],
  ["src/loopback.ts", []],
  [
    "src/large/",
    ["src/large/", "src/gen/", "src/errors.ts", "src/remembered.ts", "src/tally.ts", "src/turns.ts", "src/text.ts"],
  ],
  ["src/deflated.ts", ["src/large/", "src/text.ts"]],
  ["src/secret-files.ts", []],
  ["src/config.ts", ["src/instant.ts", "src/loopback.ts", "src/secret-files.ts"]],
  ["src/html.ts", []],
  ["src/http/negotiation.ts", []],
  ["src/root.ts", []],
  ["src/remembered.ts", []],
  ["src/db/redis-code.ts", []],
  [
    "src/db/",
    [
      "src/db/",
      "src/gen/",
      "src/search/",
      "src/large/",
      "src/text.ts",
      "src/errors.ts",
      "src/deadline.ts",
      "src/tally.ts",
      "src/guards/scope.ts",
    ],
  ],
  [
    "src/guards/",
    [
      "src/guards/",
      "src/address.ts",
      "src/tally.ts",
      "src/remembered.ts",
      "src/deadline.ts",
      "src/gen/",
      "src/db/",
      "src/errors.ts",
      "src/instant.ts",
      "src/text.ts",
      "src/uuid.ts",
      "src/rpc/dispatch.ts",
    ],
  ],
  ["src/rpc/dispatch.ts", ["src/errors.ts", "src/deadline.ts", "src/tally.ts"]],
  [
    "src/rpc/",
    [
      "src/rpc/",
      "src/gen/",
      "src/guards/",
      "src/tally.ts",
      "src/large/",
      "src/deflated.ts",
      "src/errors.ts",
      "src/deadline.ts",
      "src/text.ts",
      "src/http/exchange.ts",
      "gateway/response.ts",
      "gateway/body.ts",
      "gateway/enum-names.ts",
      "gateway/timestamps.ts",
    ],
  ],
  ["src/contacts/", domain("src/contacts/", "src/notes/store.ts", "src/notes/document.ts")],
  [
    "src/sessions/",
    domain("src/sessions/", "src/notes/document.ts", "src/instant.ts", "src/deflated.ts", "src/large/", "src/text.ts"),
  ],
  ["src/notes/", domain("src/notes/", "src/instant.ts", "src/text.ts")],
  ["src/accounts/", domain("src/accounts/", "src/api-keys/store.ts", "src/audit/store.ts", "src/guards/internal.ts")],
  ["src/audit/", domain("src/audit/", "src/guards/call.ts", "src/guards/internal.ts", "src/rpc/dispatch.ts")],
  [
    "src/api-keys/",
    domain("src/api-keys/", "src/remembered.ts", "src/uuid.ts", "src/accounts/store.ts", "src/audit/store.ts"),
  ],
  [
    "src/sign-in/",
    domain(
      "src/sign-in/",
      "src/loopback.ts",
      "src/http/negotiation.ts",
      "src/accounts/store.ts",
      "src/audit/store.ts",
      "src/guards/call.ts",
    ),
  ],
  [
    "src/mcp/",
    [
      "src/mcp/",
      "src/text.ts",
      "src/uuid.ts",
      "src/tally.ts",
      "src/remembered.ts",
      "src/gen/",
      "src/errors.ts",
      "src/db/message.ts",
      "src/db/mongo.ts",
      "src/deflated.ts",
      "src/search/words.ts",
      "src/accounts/store.ts",
      "src/audit/store.ts",
      "src/guards/assistant.ts",
      "src/guards/call.ts",
      "src/http/exchange.ts",
      "src/http/public.ts",
      "src/rpc/dispatch.ts",
      "src/sign-in/",
      "gateway/",
    ],
  ],
  [
    "src/dashboard/",
    [
      "src/dashboard/",
      "src/root.ts",
      "src/html.ts",
      "src/gen/",
      "src/errors.ts",
      "src/db/mongo.ts",
      "src/deadline.ts",
      "src/http/exchange.ts",
      "src/http/negotiation.ts",
      "src/http/static-files.ts",
      "src/rpc/dispatch.ts",
      "src/sign-in/sign-in.ts",
      "gateway/body.ts",
      "gateway/response.ts",
    ],
  ],
  [
    "src/reference/",
    [
      "src/reference/",
      "src/root.ts",
      "src/html.ts",
      "src/gen/",
      "src/errors.ts",
      "src/http/exchange.ts",
      "src/http/public.ts",
      "src/http/static-files.ts",
      "src/rpc/dispatch.ts",
      "gateway/",
    ],
  ],
  ["src/health/", domain("src/health/")],
  [
    "src/instance/",
    domain(
      "src/instance/",
      "src/config.ts",
      "src/guards/internal.ts",
      "src/http/exchange.ts",
      "src/http/public.ts",
      "src/rpc/dispatch.ts",
      "gateway/response.ts",
    ),
  ],
  ["src/switches/", domain("src/switches/", "src/guards/switches.ts", "src/guards/internal.ts")],
  [
    "src/ingest/",
    domain(
      "src/ingest/",
      "src/uuid.ts",
      "src/deflated.ts",
      "src/guards/internal.ts",
      "src/guards/erased-answers.ts",
      "src/guards/stream.ts",
      "src/guards/validate.ts",
      "src/contacts/",
      "src/sessions/",
      "src/notes/",
    ),
  ],
  [
    "src/http/",
    [
      "src/http/",
      "src/turns.ts",
      "src/address.ts",
      "src/tally.ts",
      "src/gen/",
      "src/errors.ts",
      "src/deadline.ts",
      "src/config.ts",
      "src/rpc/",
      "gateway/linger.ts",
      "gateway/response.ts",
      "gateway/served-text.ts",
    ],
  ],
  [
    "src/log.ts",
    ["src/address.ts", "src/tally.ts", "src/config.ts", "src/logged-error.ts", "src/observability/record.ts"],
  ],
  [
    "src/observability/",
    [
      "src/observability/",
      "src/root.ts",
      "src/tally.ts",
      "src/errors.ts",
      "src/logged-error.ts",
      "src/config.ts",
      "src/db/",
      "src/guards/capacity.ts",
      "src/ingest/import.ts",
      "src/services.ts",
      "src/log.ts",
      "src/http/exchange.ts",
      "src/http/listener.ts",
      "src/http/inbound.ts",
      "src/rpc/dispatch.ts",
    ],
  ],
  [
    "src/embedded/",
    [
      "src/embedded/",
      "src/loopback.ts",
      "src/deadline.ts",
      "src/html.ts",
      "src/http/negotiation.ts",
      "src/gen/",
      "src/config.ts",
      "src/services.ts",
      "src/api-keys/",
      "src/guards/internal.ts",
      "src/db/message.ts",
      "src/search/",
      "src/text.ts",
    ],
  ],
  ["src/services.ts", ["src/"]],
  ["src/background.ts", ["src/services.ts", "src/db/"]],
  ["src/app/", ["src/", "gateway/"]],
  ["src/app.ts", ["src/"]],
  ["src/main.ts", ["src/"]],
  [
    "src/cli/doctor/",
    [
      "src/cli/",
      "src/loopback.ts",
      "src/gen/",
      "src/config.ts",
      "src/services.ts",
      "src/secret-files.ts",
      "src/db/mongo.ts",
      "src/db/indexes.ts",
      "src/db/collections.ts",
      "src/db/redis-code.ts",
      "src/sign-in/",
      "src/embedded/running.ts",
    ],
  ],
  [
    "src/cli/migrate-actions.ts",
    ["src/cli/", "src/services.ts", "src/logged-error.ts", "src/db/", "src/embedded/running.ts"],
  ],
  [
    "src/cli/",
    [
      "src/cli/",
      "src/loopback.ts",
      "src/secret-files.ts",
      "src/uuid.ts",
      "src/gen/",
      "src/instant.ts",
      "src/observability/release.ts",
      "gateway/enum-names.ts",
      "gateway/timestamps.ts",
    ],
  ],
  ["gateway/plugin/", ["gateway/plugin/", "gateway/path-template.ts", "gateway/provider-mark.ts"]],
  [
    "gateway/",
    [
      "gateway/",
      "src/text.ts",
      "src/turns.ts",
      "src/gen/",
      "src/errors.ts",
      "src/deflated.ts",
      "src/large/",
      "src/http/negotiation.ts",
      "src/instant.ts",
      "src/rpc/dispatch.ts",
    ],
  ],
  ["client/src/", ["client/src/"]],
  ["examples/", ["examples/", "client/src/index.ts", "src/gen/"]],
  // The code of another commit is loaded from where it was checked out.
  ["fixtures/service/older.ts", ["a computed path"]],
  ["fixtures/", ["fixtures/", "bin/bundle.js", "src/"]],
  ["drills/", ["drills/", "fixtures/", "src/", "gateway/"]],
  ["bench/", ["bench/", "fixtures/", "bin/bundle.js", "src/"]],
  ["scripts/", ["scripts/", "drills/bulk/", "fixtures/", "gateway/"]],
  // Tests of drills and of the bench, and the two files that speak of both.
  ["test/drills/", [...tested, "drills/"]],
  ["test/bench/", [...tested, "bench/"]],
  ["test/support/left-out.ts", [...tested, "drills/upgrade/release.ts"]],
  ["test/service-user.test.ts", [...tested, "bench/processes.ts"]],
  // What is generated is loaded file by file, and what a test generates from its scratch copy.
  ["test/exercises/add-an-endpoint.ts", ["test/exercises/", "fixtures/", "a computed path"]],
  ["test/faults/broken/operations.ts", [...tested, "a computed path"]],
  ["test/gateway/plugin.test.ts", [...tested, "a computed path"]],
  ["test/", tested],
];

function domain(own: string, ...more: string[]): string[] {
  return [
    own,
    "src/gen/",
    "src/db/",
    "src/search/",
    "src/errors.ts",
    "src/deadline.ts",
    "src/guards/scope.ts",
    "src/rpc/routes.ts",
    ...more,
  ];
}

interface File {
  readonly path: string;
  readonly text: string;
}

function filesIn(...folders: string[]): File[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
      .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), "utf8") })),
  );
}

const files = filesIn("src", "gateway", "client/src", "examples", "fixtures", "drills", "bench");
const handWritten = files.filter(({ path }) => !path.startsWith("src/gen/") && path !== "client/src/schema.ts");

const imports = new Map(
  [...handWritten, ...filesIn("scripts", "test")].map((file) => [file.path, importsOf(file)] as const),
);

/** What a file imports and may not, by the table. */
function wrongImports(path: string, targets: readonly string[]): string[] {
  const may = rooms.find(([room]) => path.startsWith(room))?.[1];
  if (may === undefined) return [`${path} is in no room`];
  return targets
    .filter((target) => !may.some((room) => target.startsWith(room)))
    .map((target) => `${path} → ${target}`);
}

test("every file imports only what its room may, statically, dynamically and as types", () => {
  expect([...imports].flatMap(([path, targets]) => wrongImports(path, targets))).toEqual([]);
  expect([...imports.values()].flat().length).toBeGreaterThan(1_000);
});

test("every permission of the table is used", () => {
  const unused = rooms.flatMap(([room, may], at) => {
    const own = [...imports].filter(([path]) => rooms.findIndex(([one]) => path.startsWith(one)) === at);
    const targets = own.flatMap(([, all]) => all);
    // What every domain and every test may import, and a room of itself, need not be used by each.
    const shared = room.startsWith("test/") && may !== tested ? tested : domain(room);
    const granted = may.filter((one) => one !== room && !shared.includes(one));
    return granted.filter((one) => !targets.some((target) => target.startsWith(one))).map((one) => `${room} ← ${one}`);
  });
  expect(unused).toEqual([]);
});

test.each([
  ["a static import", 'import { createContactStore } from "../src/contacts/store.ts";'],
  ["an import of a type", 'import type { ContactStore } from "../src/contacts/store.ts";'],
  ["a dynamic import", 'const { createContactStore } = await import("../src/contacts/store.ts");'],
  ["a type that is imported where it stands", 'let store: import("../src/contacts/store.ts").ContactStore;'],
  ["an export from elsewhere", 'export { createContactStore } from "../src/contacts/store.ts";'],
  ["a path that is computed", "await import(name);"],
])("a store in the gateway is seen: %s", (_what, text) => {
  expect(wrongImports("gateway/handler.ts", importsOf({ path: "gateway/handler.ts", text }))).toHaveLength(1);
});

test.each([
  ["a drill that imports a test", "drills/kills/kills.ts", "../../test/support/client.ts"],
  ["the bench that imports a test", "bench/search.ts", "../test/support/client.ts"],
  ["the bench that imports a drill", "bench/search.ts", "../drills/kills/kills.ts"],
  ["a script that imports a test", "scripts/schemathesis.ts", "../test/support/client.ts"],
  ["a fixture that imports a test", "fixtures/service/child.ts", "../../test/support/client.ts"],
  ["a fixture that imports a drill", "fixtures/service/child.ts", "../../drills/kills/kills.ts"],
  ["a test that is of no drill, and imports one", "test/contacts/get.test.ts", "../../drills/kills/kills.ts"],
])("what rooms share is in fixtures, and this is seen: %s", (_what, path, from) => {
  expect(wrongImports(path, importsOf({ path, text: `import { one } from "${from}";` }))).toHaveLength(1);
});

test("no file of src and gateway reaches itself by its imports, of types either", () => {
  const served = new Map([...imports].filter(([path]) => /^(?:src|gateway)\//.test(path)));
  expect(circles(served).map((circle) => circle.join(" → "))).toEqual([]);
  expect(
    circles(
      new Map([
        ["a", ["b"]],
        ["b", ["c"]],
        ["c", ["b"]],
      ]),
    ).map((circle) => circle.join(" → ")),
  ).toEqual(["b → c → b", "c → b → c"]);
});

test("nobody imports main, and only main imports app, and fixtures as main does", () => {
  const importers = (target: RegExp): string[] =>
    [...imports]
      .filter(([path, targets]) => !/^(?:test|scripts)\//.test(path) && targets.some((one) => target.test(one)))
      .map(([path]) => path);
  expect(importers(/^src\/main\.ts$/)).toEqual([]);
  expect(importers(/^src\/app\.ts$/).filter((path) => !path.startsWith("fixtures/service/"))).toEqual(["src/main.ts"]);
  expect(importers(/^src\/app\//).filter((path) => !/^src\/app[./]/.test(path))).toEqual([]);
});

test("only the guards grant the right to write", () => {
  const granting = handWritten.filter(
    ({ path, text }) => /\bgrantWrites\b/.test(text) && !path.startsWith("src/guards/"),
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
function looseLookUps({ path, text }: { path: string; text: string }): string[] {
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
function deletionsOfAll({ path, text }: File): string[] {
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

/** Fixtures that return bodies of every shape: the tests state what is in them. */
const ofEveryShape = ["fixtures/service/service.ts", "fixtures/sign-in/assistants.ts"];

test.each([
  ["any", /(?:: |<|\bas )any\b(?! \w)/],
  ["@ts-ignore", /@ts-(ignore|expect-error|nocheck)/],
  ["export default", /^export default/m],
  ["export *", /^export \*/m],
  ["TODO", /\b(TODO|FIXME|XXX)\b/],
])("no file has %s", (name, pattern) => {
  const having = handWritten.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
  expect(having.sort()).toEqual(name === "any" ? ofEveryShape : []);
});

test("every file opens with one sentence on what it is for, and none has more than 300 lines", () => {
  for (const { path, text } of handWritten) {
    expect(text, path).toMatch(/^(?:\/\/ |\/\*\*)\S[^]*?[.:]\n/);
    expect(text.split("\n").length, path).toBeLessThanOrEqual(300);
  }
});

test("no function in src and gateway is longer than 60 lines", () => {
  const served = handWritten.filter(({ path }) => /^(?:src|gateway)\//.test(path));
  expect(served.flatMap((file) => longFunctions(file, 60))).toEqual([]);
});

test.each([
  ["a function", "function long() {", "}"],
  ["a function within another", "function outer() { function long() {", "}}"],
  ["an arrow function", "const long = async () => {", "};"],
  ["a method of an object", "const store = { async long() {", "} };"],
  ["a method of a class", "class Store { long() {", "} }"],
])("a function of 61 lines is found: %s", (_what, head, foot) => {
  const text = (lines: number): string => [head, ...Array<string>(lines - 2).fill("  next();"), foot].join("\n");
  const found = longFunctions({ path: "src/store.ts", text: text(61) }, 60);
  expect(found).toContain("src/store.ts:1 long (61 lines)");
  expect(longFunctions({ path: "src/store.ts", text: text(60) }, 60)).toEqual([]);
});

/** Lines of comments that are too long: the formatter breaks code, and leaves comments as they are. */
function longComments(text: string): string[] {
  return text.split("\n").filter((line) => line.length > 120 && /^\s*(?:\/\/|\/\*\*|\* (?!\*\*))/.test(line));
}

test("no comment has a line of more than 120 columns", () => {
  expect(handWritten.flatMap(({ path, text }) => longComments(text).map((line) => `${path}: ${line}`))).toEqual([]);
  expect(longComments(`/** ${"a".repeat(120)} */`)).toHaveLength(1);
});

test("no folder is called utils, common or helpers", () => {
  expect(
    handWritten.filter(({ path }) => /\/(utils?|common|helpers?|lib)(\/|\.ts$)/.test(path)).map(({ path }) => path),
  ).toEqual([]);
});
