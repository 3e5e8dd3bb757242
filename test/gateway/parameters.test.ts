// How path and query parameters are read (contract §2.3, §2.4, §2.11).
import { expect, test } from "vitest";
import type { RequestField } from "../../src/http/route.ts";
import { table } from "../../src/http/route.ts";
import { createRequestReader } from "../../gateway/request.ts";
import { readText, readValue } from "../../src/http/scalar.ts";
import type { Violation } from "../../src/call/errors.ts";

const route = table.find(({ template, method }) => template === "/v1/sessions" && method === "GET")!;
const search = table.find(({ template }) => template === "/v1/notes")!;

function read(query: string, of = route): { fields: Record<string, unknown>; faults: string[] } {
  const { message, violations } = createRequestReader(of)([], query, undefined);
  const { $typeName: _, ...fields } = message as unknown as Record<string, unknown>;
  return { fields, faults: violations.map(({ field, message }) => `${field}: ${message}`) };
}

test("an invalid query is a fault of every other request, even of one without parameters", () => {
  const getApiKey = table.find(({ template, method }) => template === "/v1/api-key" && method === "GET")!;
  expect([read("", getApiKey).faults, read("%zz", getApiKey).faults]).toEqual([[], [expect.any(String)]]);
});

test("names a required parameter that is missing [CSR-03]", () => {
  expect(read("", search).faults).toEqual(["query: is required"]);
  expect(read("query=%ff", search).faults).toEqual(["query: must be percent-encoded UTF-8"]);
  expect(read("limit=x&other=%ff", search).faults).toEqual([
    "other: must be percent-encoded UTF-8",
    "query: is required",
    "limit: must be a whole number in digits, without a sign or leading zeros",
  ]);
});

test.each([
  ["2026-01-31T09:30:00+02:00", "2026-01-31T09:30:00+02:00"],
  ["2026-01-31T09:30:00%2B02:00", "2026-01-31T09:30:00+02:00"],
  ["2026-01-31T09:30:00-02:00", "2026-01-31T09:30:00-02:00"],
  ["2026-01-31", "2026-01-31"],
  ["a+b", "a b"],
])("from=%s reaches the service as %s [SLS-14]", (text, value) => {
  expect(read(`from=${text}`)).toEqual({ fields: { from: value }, faults: [] });
});

test("keeps a blank in other parameters, although it means a + in the offset of a time", () => {
  expect(read("query=minutes+10:30").fields).toEqual({ query: "minutes 10:30" });
});

const common = { name: "f", local: "f", required: false, nullable: true };
const bool: RequestField = { ...common, kind: "bool" };
const int32: RequestField = { ...common, kind: "int32", least: -2147483648, most: 2147483647 };
const text: RequestField = { ...common, kind: "string", instant: false };
const access: RequestField = { ...common, kind: "enum", values: { read_write: 1, read_only: 2 } };

test.each([
  [bool, "true", true],
  [bool, "false", false],
  [bool, "1", "must be true or false"],
  [access, "read_only", 2],
  [access, "READ_ONLY", "must be one of read_write, read_only"],
  [access, "constructor", "must be one of read_write, read_only"],
])("in a query, %o reads %s as %o", (field, text, expected) => {
  const violations: Violation[] = [];
  expect(readText(field, text, violations) ?? violations[0]?.message).toBe(expected);
});

test.each([
  [bool, true, true],
  [bool, "true", "must be true or false"],
  [int32, 1.0, 1],
  [int32, -2_147_483_648, -2_147_483_648],
  [int32, -2_147_483_649, "must be at least -2147483648"],
  [int32, 2_147_483_648, "must be at most 2147483647"],
  [int32, 1.5, "must be a whole number"],
  [int32, "1", "must be a whole number"],
  [access, "read_write", 1],
  [access, 1, "must be one of read_write, read_only"],
  [access, ["read_only"], "must be one of read_write, read_only"],
  [text, "1", "1"],
  [text, 1, "must be a string"],
])("in a body, %o reads %o as %o [VAL-06]", (field, value, expected) => {
  const violations: Violation[] = [];
  expect(readValue(field, value, violations) ?? violations[0]?.message).toBe(expected);
});

test.each([
  [bool, 1, "type"],
  [int32, 2_147_483_648, "range"],
  [int32, -2_147_483_649, "range"],
  [access, "none", "enum"],
])("a violation has a machine-readable rule: that of %o and %o is %s", (field, value, rule) => {
  const violations: Violation[] = [];
  readValue(field, value, violations);
  expect(violations).toMatchObject([{ field: "f", rule }]);
});
