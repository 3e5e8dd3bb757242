// The right to write: what a write reports if that right has ended before it, and after another write of its request.
import { expect, test } from "vitest";
import { UUID } from "mongodb";
import type { WriteScope } from "../../src/call/scope.ts";
import { confirmGrant, grantWrites, noteWrite, readScope } from "../../src/call/scope.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import type { FailureReason } from "../../src/call/errors.ts";
import { fail } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";

const records = readScope(new UUID(), deadlineIn(1_000));
const endedBy = (reason: FailureReason): WriteScope => grantWrites(records, undefined, () => fail(reason));

test("a pause in the middle of a batch is reported with the cause, and says that a part may be done [ERR-16]", async () => {
  const scope = endedBy(Reason.WRITES_PAUSED);
  const message = "Writes are temporarily unavailable, but reads work. Try again later.";
  await expect(confirmGrant(scope)).rejects.toMatchObject({ reason: Reason.WRITES_PAUSED, message });
  noteWrite(scope);
  await expect(confirmGrant(scope)).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    message: `${message} A part of the request may be done.`,
    because: "WRITES_PAUSED",
  });
});

test("a credential that ends in the middle of a batch is reported as it is between batches", async () => {
  const scope = endedBy(Reason.INVALID_SERVICE_TOKEN);
  noteWrite(scope);
  await expect(confirmGrant(scope)).rejects.toMatchObject({ reason: Reason.INVALID_SERVICE_TOKEN });
});

test("a scope that may only read does not gain the right to write when a write begins", async () => {
  noteWrite(records as WriteScope);
  await expect(confirmGrant(records as WriteScope)).rejects.toMatchObject({ reason: Reason.ACCESS_DENIED });
});
