// Checks the table of failures against the proto's list of reasons and the contract's statuses and codes.
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { FailureReason } from "../../src/call/errors.ts";
import { Failure, failures, isForTheLog, reasonName } from "../../src/call/errors.ts";
import { Reason, ReasonSchema } from "../../src/gen/records/v1/errors_pb.ts";

test("the table has every reason of the proto and no other", () => {
  expect(
    Object.keys(failures)
      .map(Number)
      .sort((a, b) => a - b),
  ).toEqual(ReasonSchema.values.map(({ number }) => number).sort((a, b) => a - b));
});

test.each([
  ["MISSING_KEY", 401, Code.Unauthenticated],
  ["INVALID_KEY", 401, Code.Unauthenticated],
  ["ACCESS_DENIED", 403, Code.PermissionDenied],
  ["NOT_FOUND", 404, Code.NotFound],
  ["DUPLICATE_EMAIL", 409, Code.AlreadyExists],
  ["CONTACT_ARCHIVED", 409, Code.FailedPrecondition],
  ["IDEMPOTENCY_KEY_REUSED", 409, Code.Aborted],
  ["INVALID_REQUEST", 422, Code.InvalidArgument],
  ["RATE_LIMITED", 429, Code.ResourceExhausted],
  ["INTERFACE_DISABLED", 503, Code.Unavailable],
  ["WRITES_PAUSED", 503, Code.Unavailable],
  ["UNAVAILABLE", 503, Code.Unavailable],
  ["METHOD_NOT_ALLOWED", 405, Code.Unimplemented],
  ["UNSUPPORTED_MEDIA_TYPE", 415, Code.Unimplemented],
  ["DEADLINE_EXCEEDED", 504, Code.DeadlineExceeded],
  ["ACCOUNT_SUSPENDED", 403, Code.PermissionDenied],
  ["CANCELLED", 499, Code.Canceled],
] as const)("%s is %i, and over RPC code %i [WIR-05, WIR-06, WIR-07, WIR-08]", (name, http, code) => {
  const reason = Reason[name];
  expect(failures[reason]).toMatchObject({ http, code });
  expect(reasonName(reason)).toBe(name);
});

test("writes an error line for failures of the service: an unexpected error, or a 5xx with a cause [OPS-26]", () => {
  const cause = new Error("why");
  const logged = (options: { readonly cause?: unknown }) =>
    ReasonSchema.values
      .map(({ number }) => new Failure(number as FailureReason, options))
      .filter(isForTheLog)
      .map(({ reasonName: name }) => name)
      .sort();
  expect(logged({})).toEqual(["INTERNAL", "UNSPECIFIED"]);
  expect(logged({ cause })).toEqual([
    "DEADLINE_EXCEEDED",
    "INTERFACE_DISABLED",
    "INTERNAL",
    "UNAVAILABLE",
    "UNSPECIFIED",
    "WRITES_PAUSED",
  ]);
});

test("every message is a sentence for a user, without internal terms", () => {
  for (const { message } of Object.values(failures)) {
    expect(message).toMatch(/\.$/);
    expect(message).not.toMatch(/mongo|redis|stack|undefined|null|Error/i);
  }
});
