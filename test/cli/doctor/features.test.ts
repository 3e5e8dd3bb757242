// A server that is not MongoDB: the doctor finds out by trying, and says so.
import { MongoServerError } from "mongodb";
import { expect, test } from "vitest";
import { checkFeatures } from "../../../src/cli/doctor/mongodb.ts";
import { isUnavailable } from "../../../src/db/mongo.ts";

const rejecting = (code: number, errmsg: string, codeName?: string) => (): Promise<never> =>
  Promise.reject(new MongoServerError({ code, errmsg, codeName }));

test.each([
  [303, "Feature not supported: linearizable", "FeatureNotSupported"],
  [304, "Aggregation stage not supported", undefined],
  [115, "Command is not supported", "CommandNotSupported"],
])("code %i is a fault that names databases that imitate MongoDB [OPS-04]", async (code, errmsg, codeName) => {
  expect(await checkFeatures(rejecting(code, errmsg, codeName))).toMatchObject({
    status: "fault",
    message: `The server lacks what the service needs: ${errmsg} (${codeName ?? code}).`,
    fix: expect.stringContaining("Amazon DocumentDB, Azure Cosmos DB") as string,
  });
  expect(isUnavailable(new MongoServerError({ code, errmsg }))).toBe(false);
});

test("a read that the primary does not confirm in time is a fault, although commands without a majority work [OPS-04]", async () => {
  expect(await checkFeatures(rejecting(50, "operation exceeded time limit", "MaxTimeMSExpired"))).toMatchObject({
    status: "fault",
    message: "The primary does not confirm a read within 2.5 seconds, so requests get 503.",
  });
});

test("a server that steps down is no fault of its features [OPS-04]", async () => {
  expect(await checkFeatures(rejecting(11602, "interrupted", "InterruptedDueToReplStateChange"))).toMatchObject({
    status: "note",
  });
});
