// Every operation of the generated descriptors is known to the tests: what is added without tests fails here.
import { describe, expect, test } from "vitest";
import type { RpcFacts } from "../fixtures/clients/descriptors.ts";
import { everyService, rpcsOf } from "../fixtures/clients/descriptors.ts";
import { operations, operationsOf } from "../fixtures/clients/operations.ts";
import { endpoints } from "../fixtures/clients/wires.ts";
import { everyOperation } from "../faults/broken/operations.ts";
import { withMadeUp } from "../support/made-up.ts";
import { exceptions, promises, recordWrites, requestTo, writesIn } from "../support/writes.ts";
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

/** Operations that have no endpoint, and those that no case succeeds or fails with. */
function untested(all: readonly RpcFacts[]): string[] {
  return all
    .filter(({ caller }) => caller === "key" || caller === "anyone")
    .flatMap(({ rpc: { name } }) => {
      const own = cases.filter((one) => one.rpc === name);
      return [
        ...(name in endpoints ? [] : [`${name} has no endpoint in test/fixtures/clients/wires.ts`]),
        ...(own.some(({ code }) => code === "ok") ? [] : [`${name} succeeds in no case of test/cases`]),
        ...(own.some(({ code }) => code !== "ok") || name === "CheckHealth"
          ? []
          : [`${name} fails in no case of test/cases`]),
      ];
    });
}

test("the tests know every service of the generated descriptors", async () => {
  const known = rpcsOf(everyService).map(({ path }) => path);
  expect(known.sort()).toEqual(await everyOperation());
});

test("every public operation has an endpoint and cases on every wire", () => {
  expect(untested(rpcsOf(everyService))).toEqual([]);
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

/** Whether REST has the rpc makes no difference: neither has a route. */
describe.each([
  ["records.v1.MadeUpService", "MergeContacts", "test/fixtures/clients/wires.ts"],
  ["records.ingest.v1.MadeUpService", "HideContacts", "test/fixtures/clients/ingest-requests.ts"],
])("a new write of %s", (service, rpc, place) => {
  const services = withMadeUp(service, rpc);
  const path = `${service}/${rpc}`;
  const of = { contact: "", session: "" };

  test.each(promises)("fails the tests of %s, which have no request for it", (promised) => {
    const added = writesIn(promised, services).filter((write) => write.path === path);
    expect(added).toHaveLength(1);
    for (const write of added) expect(() => requestTo(write, of)).toThrow(`the tests do not know the RPC ${path}: add`);
    for (const write of writesIn(promised)) expect(requestTo(write, of)).toBeDefined();
    expect(writesIn(promised)).toHaveLength(writesIn(promised, services).length - 1);
  });

  test("fails with a message that says where to add it", () => {
    const [write] = writesIn("isolation", services).filter((one) => one.path === path);
    expect(() => write && requestTo(write, of)).toThrow(place);
  });
});

test("a new public operation fails the tests of all operations", () => {
  const services = withMadeUp("records.v1.ContactService", "MergeContacts");
  expect(() => operationsOf(services)).toThrow(
    "the tests do not know the RPC records.v1.ContactService/MergeContacts: add its endpoint",
  );
  expect(untested(rpcsOf(services))).toEqual([
    "MergeContacts has no endpoint in test/fixtures/clients/wires.ts",
    "MergeContacts succeeds in no case of test/cases",
    "MergeContacts fails in no case of test/cases",
  ]);
});
