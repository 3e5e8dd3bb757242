// Every operation of the generated descriptors is known to the tests: what is added without tests fails here.
import { expect, test } from "vitest";
import { operations } from "../../fixtures/clients/operations.ts";
import { endpoints } from "../../fixtures/clients/wires.ts";
import { everyOperation } from "../faults/broken/operations.ts";
import { routes } from "../../src/gen/rest.ts";
import { beyondCases } from "./beyond-rest.cases.ts";
import { contactReadCases } from "./contact-reads.cases.ts";
import { contactWriteCases } from "./contact-writes.cases.ts";
import { healthCases, noteCases } from "./records.cases.ts";
import { sessionCases } from "./sessions.cases.ts";
import { timelineNoteCases } from "./timeline-notes.cases.ts";

const cases = [
  ...beyondCases,
  ...contactReadCases,
  ...contactWriteCases,
  ...healthCases,
  ...noteCases,
  ...sessionCases,
  ...timelineNoteCases,
];

/** Public operations that a request with an API key, or without any credential, never reaches. */
const bySession = ["ApiKeyService", "AuditService"];

/** Whether an rpc has no route, and cases of its own instead. */
function isBeyondRest(name: string): boolean {
  return !routes.some(({ rpc }) => rpc.name === name) && beyondCases.some(({ rpc }) => rpc === name);
}

/** Operations that have no endpoint, and those that no case succeeds or fails with. */
function untested(all: readonly string[]): string[] {
  return all
    .filter((name) => name.startsWith("records.v1."))
    .flatMap((name) => {
      const [service = "", rpc = ""] = name.replace("records.v1.", "").split("/");
      if (bySession.includes(service)) return [];
      const own = cases.filter((one) => one.rpc === rpc);
      return [
        ...(rpc in endpoints || isBeyondRest(rpc) ? [] : [`${rpc} has no endpoint in fixtures/clients/wires.ts`]),
        ...(own.some(({ code }) => code === "ok") ? [] : [`${rpc} succeeds in no case of test/cases`]),
        ...(own.some(({ code }) => code !== "ok") || rpc === "CheckHealth"
          ? []
          : [`${rpc} fails in no case of test/cases`]),
      ];
    });
}

test("every public operation has an endpoint and cases on every wire", async () => {
  expect(untested(await everyOperation())).toEqual([]);
});

test("an operation without them is seen", () => {
  expect(untested(["records.v1.ContactService/MergeContacts"])).toEqual([
    "MergeContacts has no endpoint in fixtures/clients/wires.ts",
    "MergeContacts succeeds in no case of test/cases",
    "MergeContacts fails in no case of test/cases",
  ]);
});

test("reads and writes are distinguished by the descriptors, and each has a request", () => {
  const names = (write: boolean) => operations.filter(({ writes }) => writes === write).map(({ rpc }) => rpc);
  expect(names(true).sort()).toEqual(expect.arrayContaining(["AppendContactNote", "CreateContact", "UpdateContact"]));
  expect([...names(true), ...names(false), "CheckHealth"].sort()).toEqual(Object.keys(endpoints).sort());
});
