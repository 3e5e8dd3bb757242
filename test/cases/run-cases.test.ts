// The table of cases can fail: an outcome that differs from what a case states is seen.
import { expect, test } from "vitest";
import { expectStated } from "../support/run-cases.ts";

const stated = { http: 404, code: "not_found", reason: "NOT_FOUND" } as const;
const message = "There is no such record in this account. Check the id.";
const outcome = { http: 404, code: "not_found", reason: "NOT_FOUND", message, body: undefined };
const holds = (change: object): void => expectStated(stated, { name: "connect" }, { ...outcome, ...change }, message);

test.each([
  ["another status", { http: 403 }],
  ["another code", { code: "permission_denied" }],
  ["another reason", { reason: "CONTACT_ARCHIVED" }],
  ["no reason", { reason: undefined }],
  ["another message", { message: "There is no such contact." }],
  ["no message", { message: undefined }],
])("a case detects %s", (_what, change) => {
  expect(() => holds({})).not.toThrow();
  expect(() => holds(change)).toThrow();
});
