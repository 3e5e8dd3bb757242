// Who may import whom, and that no import leads in a circle.
import { expect, test } from "vitest";
import { circles, importsOf, roomImports } from "./rules/imports.ts";
import { rooms, tested, wrongImports } from "./architecture/rooms.ts";
import { domain } from "./architecture/service-rooms.ts";
import { handWritten, sourcesIn } from "./architecture/sources.ts";

const imports = new Map(
  [...handWritten, ...sourcesIn("scripts", "test")].map((file) => [file.path, importsOf(file)] as const),
);

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

/** The files of the service. */
const served = new Map([...imports].filter(([path]) => /^(?:src|gateway)\//.test(path)));

test("no room of src and gateway reaches itself through another, by imports of types either", () => {
  expect(circles(roomImports(served)).map((circle) => circle.join(" → "))).toEqual([]);
  const circular = new Map([
    ["src/contacts/store.ts", ["src/notes/store.ts", "src/contacts/document.ts"]],
    ["src/notes/document.ts", ["src/log.ts"]],
    ["src/log.ts", ["src/contacts/document.ts"]],
    ["gateway/plugin/main.ts", ["gateway/router.ts"]],
  ]);
  expect(circles(roomImports(circular)).map((circle) => circle.join(" → "))).toContain(
    "src/contacts → src/notes → src/log.ts → src/contacts",
  );
  expect(circles(roomImports(circular)).flat()).not.toContain("gateway");
});

test("no file of src and gateway reaches itself by its imports, of types either", () => {
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
