// Every operation of the generated descriptors is known to the tests: what is added without tests fails here.
import { expect, test } from "vitest";
import { everyService, rpcsOf } from "../fixtures/clients/descriptors.ts";
import { operations } from "../fixtures/clients/operations.ts";
import { endpoints } from "../fixtures/clients/wires.ts";
import { everyOperation } from "../faults/broken/operations.ts";
import { exceptions, promises, recordWrites, writesIn } from "../support/writes.ts";
import { beyondRestCases } from "./beyond-rest.cases.ts";
import { contactReadCases } from "./contact-reads.cases.ts";
import { contactWriteCases } from "./contact-writes.cases.ts";
import { healthCases, noteCases } from "./records.cases.ts";
import { sessionCases } from "./sessions.cases.ts";
import { timelineNoteCases } from "./timeline-notes.cases.ts";

const cases = [
  ...beyondRestCases,
  ...contactReadCases,
  ...contactWriteCases,
  ...healthCases,
  ...noteCases,
  ...sessionCases,
  ...timelineNoteCases,
];

test("the tests know every service of the generated descriptors", async () => {
  const known = rpcsOf(everyService).map(({ path }) => path);
  expect(known.sort()).toEqual(await everyOperation());
});

test("every public operation has a case that succeeds and one that fails, on every wire", () => {
  const names = rpcsOf(everyService)
    .filter(({ caller }) => caller === "key" || caller === "anyone")
    .map(({ rpc }) => rpc.name);
  const tested = (isSuccess: boolean) =>
    new Set<string>(cases.filter(({ code }) => (code === "ok") === isSuccess).map(({ rpc }) => rpc));
  expect(names.filter((name) => !tested(true).has(name))).toEqual([]);
  // Nothing makes health fail.
  expect(names.filter((name) => !tested(false).has(name))).toEqual(["CheckHealth"]);
});

test("reads and writes are distinguished by the descriptors, and each has a request", () => {
  const names = (write: boolean) => operations.filter(({ writes }) => writes === write).map(({ rpc }) => rpc);
  expect(names(true).sort()).toEqual(expect.arrayContaining(["AppendContactNote", "CreateContact", "UpdateContact"]));
  expect([...names(true), ...names(false), "CheckHealth"].sort()).toEqual(Object.keys(endpoints).sort());
});

test("every exception in a list of writes is a write of the descriptors", () => {
  const known = recordWrites().map(({ path }) => path);
  expect(
    promises.flatMap((promised) => Object.keys(exceptions[promised])).filter((path) => !known.includes(path)),
  ).toEqual([]);
  for (const promised of promises) expect(writesIn(promised).length, promised).toBeGreaterThanOrEqual(2);
});
