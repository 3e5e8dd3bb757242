// Every service method reads every field of its request, or hands on what it leaves to something that does.
import { expect, test } from "vitest";
import { everyService } from "../../fixtures/clients/descriptors.ts";
import { handWritten } from "../architecture/sources.ts";
import type { requireAllRead } from "../../src/rpc/routes.ts";
import { unreadRequests } from "./all-read.ts";

/** Whether what is left of a request compiles. */
type Compiles<Rest extends object> = Rest extends Parameters<typeof requireAllRead<Rest>>[0] ? true : false;
type Left = Readonly<{ $typeName: string; $unknown?: readonly object[] }>;

const services = handWritten.filter(({ path }) => /^src\/[\w-]+\/service\.ts$/.test(path));
const rpcs = new Set(everyService.flatMap(({ methods }) => methods.map(({ localName }) => localName)));

test("the rest of a request compiles without a field, and not with one, whichever of two requests has it", () => {
  const nothing: Compiles<Left> = true;
  const optional: Compiles<Left & { readonly pinned?: boolean }> = false;
  const repeated: Compiles<Left & { readonly ids: readonly string[] }> = false;
  const either: Compiles<Left | (Left & { readonly pinned?: boolean })> = false;
  expect([nothing, optional, repeated, either]).toEqual([true, false, false, false]);
});

test("every method of every service passes on its request, or the rest of it", () => {
  expect(services.flatMap((source) => unreadRequests(source, rpcs))).toEqual([]);
  expect(services.length).toBeGreaterThanOrEqual(10);
});

test.each([
  ["fields alone", "searchNotes({ query }) { return search(query); }"],
  ["only fields of a whole request", "searchNotes(request) { return search(request.query); }"],
  ["no request", "searchNotes() { return search(); }"],
  ["a rest that it does not use", "searchNotes({ query, ...rest }) { return search(query, rest.limit); }"],
  ["a rest within the method", "searchNotes(request) { const { query, ...rest } = request; return search(query); }"],
  ["an arrow function", "searchNotes: ({ query }) => search(query)"],
])("finds a method that takes %s", (_what, method) => {
  const source = (text: string) => ({ path: "src/notes/service.ts", text: `const service = { ${text} };` });
  expect(unreadRequests(source(method), rpcs)).toEqual(["src/notes/service.ts: searchNotes"]);
  expect(unreadRequests(source("searchNotes({ query, ...rest }) { requireAllRead(rest); }"), rpcs)).toEqual([]);
});
