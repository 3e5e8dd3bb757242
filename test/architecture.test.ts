// Which files may import which, and that there is no import cycle.
import { expect, test } from "vitest";
import { importsOfPrograms, unusedPermissions } from "./architecture/permissions.ts";
import { rooms, tested, wrongImports } from "./architecture/rooms.ts";
import type { Source } from "./architecture/sources.ts";
import { allHandWritten, served } from "./architecture/sources.ts";
import { circles, foreignToPage, importsOf, loadersIn, roomImports } from "./rules/imports.ts";
import type { Example } from "./rules/rule.ts";
import { declareRule } from "./rules/rule.ts";

/** A file that imports another, by its path. */
const importing = (what: string, path: string, from: string): Example => [what, `import { one } from "${from}";`, path];

declareRule({
  title: "every file imports only what its room may, statically, dynamically and as types",
  sources: allHandWritten,
  breaches: (sources) => sources.flatMap((source) => wrongImports(source.path, importsOf(source))),
  path: "gateway/handler.ts",
  bad: [
    ["a static import", 'import { createContactStore } from "../src/contacts/store.ts";'],
    ["an import of a type", 'import type { ContactStore } from "../src/contacts/store.ts";'],
    ["a dynamic import", 'const { createContactStore } = await import("../src/contacts/store.ts");'],
    ["a dynamic import of a template", "await import(`../src/contacts/store.ts`);"],
    ["a type that is imported where it stands", 'let store: import("../src/contacts/store.ts").ContactStore;'],
    ["an export from elsewhere", 'export { createContactStore } from "../src/contacts/store.ts";'],
    ["a path that is computed", "await import(name);"],
    ["a place on the disk", 'import { one } from "/srv/records/src/contacts/store.ts";'],
    ["a place on the disk as a URL", 'await import("file:///srv/records/src/contacts/store.ts");'],
    ["require", 'require("../src/contacts/store.ts");'],
    ["a require that is created", 'createRequire(import.meta.url)("../src/contacts/store.ts");'],
    ["a resolver that is created", 'nodeModule.createRequire(import.meta.url).resolve("../src/contacts/store.ts");'],
    ["a path that is resolved", 'import.meta.resolve("../src/contacts/store.ts");'],
    ["a thread", 'new Worker("../src/contacts/store.ts");'],
    ["a URL beside the file", 'new URL("../src/contacts/store.ts", import.meta.url);'],
    importing("a file with the other extensions", "src/contacts/hidden.mts", "../mcp/tools.ts"),
    importing("a file of no room", "src/nobody/one.ts", "./two.ts"),
    importing("a drill that imports a test", "drills/kills/kills.ts", "../../test/support/client.ts"),
    importing("the bench that imports a test", "bench/search.ts", "../test/support/client.ts"),
    importing("the bench that imports a drill", "bench/search.ts", "../drills/kills/kills.ts"),
    importing("a script that imports a test", "scripts/schemathesis.ts", "../test/support/client.ts"),
    importing("a fixture that imports a test", "fixtures/service/child.ts", "../../test/support/client.ts"),
    importing("a fixture that imports a drill", "fixtures/service/child.ts", "../../drills/kills/kills.ts"),
    importing(
      "a test that is of no drill, and imports one",
      "test/contacts/get.test.ts",
      "../../drills/kills/kills.ts",
    ),
  ],
  good: [
    ["an import of its own room", 'import { route } from "./router.ts";'],
    ["a package", 'createRequire(import.meta.url).resolve("mongodb");'],
    ["a URL that is no code", 'new URL("./page.css", import.meta.url);'],
  ],
});

test("every permission of the table is used", () => {
  const imports = new Map(allHandWritten.map((source) => [source.path, importsOf(source)] as const));
  expect([...imports.values()].flat().length).toBeGreaterThan(1_000);
  expect(rooms.length).toBeGreaterThan(50);
  expect(unusedPermissions(rooms, imports, tested)).toEqual([]);
});

test.each([
  ["of a file", [["src/a.ts", ["src/b.ts"]]], "src/a.ts ← src/b.ts"],
  ["of a folder", [["src/a/", ["src/b/", "src/c/"]]], "src/a/ ← src/b/"],
  ["of a test beyond those of all tests", [["test/a/", ["test/", "drills/"]]], "test/a/ ← drills/"],
  [
    "of a room behind another one",
    [
      ["src/", []],
      ["src/a/", ["src/b/"]],
    ],
    "src/a/ ← src/b/",
  ],
] as const)("finds a permission that nobody uses: %s", (_what, table, unused) => {
  const imports = new Map([
    ["src/a/one.ts", ["src/c/one.ts"]],
    ["test/a/one.ts", ["test/b.ts"]],
  ]);
  expect(unusedPermissions(table, imports, ["test/"])).toContain(unused);
});

const file = (path: string, ...targets: string[]): Source => ({
  path,
  text: targets.map((target) => `import type { One } from "./${target}";`).join("\n"),
});

declareRule({
  title: "no room of src and gateway reaches itself through another, by imports of types either",
  sources: served,
  breaches: (sources) =>
    circles(roomImports(new Map(sources.map((source) => [source.path, importsOf(source)])))).map((circle) =>
      circle.join(" → "),
    ),
  bad: [
    ["two folders", [file("src/a/one.ts", "../b/one.ts"), file("src/b/two.ts", "../a/two.ts")]],
    ["a folder and a file", [file("src/a/one.ts", "../b.ts"), file("src/b.ts", "a/two.ts")]],
    [
      "three folders",
      [file("src/a/one.ts", "../b/one.ts"), file("src/b/two.ts", "../c/one.ts"), file("src/c/two.ts", "../a/two.ts")],
    ],
    ["the gateway", [file("gateway/one.ts", "../src/a/one.ts"), file("src/a/two.ts", "../../gateway/two.ts")]],
  ],
  good: [
    ["files of one folder", [file("src/a/one.ts", "two.ts"), file("src/a/two.ts", "one.ts")]],
    ["one way", [file("src/a/one.ts", "../b/one.ts"), file("gateway/plugin/one.ts", "../two.ts")]],
  ],
});

declareRule({
  title: "no file of src and gateway reaches itself by its imports, of types either",
  sources: served,
  breaches: (sources) =>
    circles(new Map(sources.map((source) => [source.path, importsOf(source)]))).map((circle) => circle.join(" → ")),
  bad: [
    ["a circle of one", [file("src/a.ts", "a.ts")]],
    ["a circle of two", [file("src/a.ts", "b.ts"), file("src/b.ts", "a.ts")]],
    ["a circle behind a file", [file("src/a.ts", "b.ts"), file("src/b.ts", "c.ts"), file("src/c.ts", "b.ts")]],
  ],
  good: [["two ways to one file", [file("src/a.ts", "b.ts", "c.ts"), file("src/b.ts", "c.ts"), file("src/c.ts")]]],
});

test("reports a cycle once for each of its files, beginning with that file", () => {
  const imports = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b"]],
  ]);
  expect(circles(imports).map((circle) => circle.join(" → "))).toEqual(["b → c → b", "c → b → c"]);
});

declareRule({
  title: "only main imports app, nobody imports main, and fixtures import as main does",
  sources: allHandWritten,
  breaches: importsOfPrograms,
  bad: [
    importing("main", "src/services.ts", "./main.ts"),
    importing("main by a fixture", "fixtures/service/child.ts", "../../src/main.ts"),
    importing("app", "src/services.ts", "./app.ts"),
    importing("app by a drill", "drills/kills/kills.ts", "../../src/app.ts"),
    importing("a step of app", "src/main.ts", "./app/listeners.ts"),
  ],
  good: [
    importing("main, which imports app", "src/main.ts", "./app.ts"),
    importing("a fixture that imports app", "fixtures/service/service.ts", "../../src/app.ts"),
  ],
});

declareRule({
  title: "no code of src and gateway is loaded other than by its imports",
  sources: served,
  breaches: (sources) => sources.flatMap(loadersIn),
  exceptions: [
    // Where a package of npm is: the one that is run as a program, and the one whose files are served.
    ...["createRequire", "node:module"].flatMap((one) => [
      `src/embedded/memory-server.ts: ${one}`,
      `src/reference/assets.ts: ${one}`,
      // Data of a package, which only the first international phone needs.
      `src/search/calling-codes.ts: ${one}`,
    ]),
  ],
  bad: [
    ["createRequire", "createRequire(import.meta.url)(name);"],
    ["createRequire of the module", "nodeModule.createRequire(import.meta.url)(name);"],
    ["createRequire by another name", 'import { createRequire as load } from "node:module";'],
    ["the module by another name", 'import own from "module";'],
    ["import.meta.resolve", "import.meta.resolve(name);"],
    ["import.meta.resolve as a value", 'const resolve = import.meta["resolve"];'],
    ["getBuiltinModule", 'process.getBuiltinModule("module");'],
    ["getBuiltinModule as a value", "const load = process.getBuiltinModule;"],
    ["a thread", "new Worker(name);"],
    ["a thread by another name", 'import { Worker as Own } from "node:worker_threads";'],
    ["a URL beside the file", "new URL(name, import.meta.url);"],
    ["require", "require(name);"],
    ["a text that is run", "eval(text);"],
    ["a text that becomes a function", "new Function(text);"],
  ],
  good: [["a URL", "new URL(target, base);"]],
});

declareRule({
  title: "the script of a page imports only files of the same page",
  sources: served.filter(({ path }) => /\/page\/.*\.[cm]?js$/.test(path)),
  breaches: (sources) => sources.flatMap(foreignToPage),
  path: "src/guide/page/guide.js",
  bad: [
    ["a file of the service", 'import { one } from "../guide.ts";'],
    ["a file of another page", 'import { one } from "../../dashboard/page/dashboard.js";'],
    ["a package", 'import { one } from "jose";'],
    ["another host", 'import("https://cdn.example/one.js");'],
    ["a path that is computed", "import(name);"],
    ["an export from elsewhere", 'export { one } from "../one.ts";'],
  ],
  good: [["a file beside it", 'import { one } from "./one.js";\nexport { one };']],
});
