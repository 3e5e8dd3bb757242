// Which errors of the driver mean that MongoDB cannot serve, and which that the service is wrong.
import * as mongodb from "mongodb";
import { MongoError, MongoServerError } from "mongodb";
import { describe, expect, test } from "vitest";
import { mongoFailureOf, isUnavailable } from "../../src/db/mongo.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";

function ofServer(code: number | undefined): Error {
  return new MongoServerError({ message: "injected", ...(code === undefined ? {} : { code }) });
}

/** The classes by which the driver says that it was called wrongly. */
const programmingErrors = [
  "MongoAPIError",
  "MongoInvalidArgumentError",
  "MongoTransactionError",
  "MongoMissingCredentialsError",
  "MongoMissingDependencyError",
  "MongoCursorExhaustedError",
  "MongoCursorInUseError",
  "MongoTailableCursorError",
  "MongoBatchReExecutionError",
];

/** The prototypes of all errors that the driver exports, but for those of the server. */
const driverErrors = Object.entries(mongodb as Record<string, unknown>).flatMap(
  ([name, value]): [string, MongoError][] => {
    const prototype: unknown = typeof value === "function" ? value.prototype : undefined;
    return prototype instanceof MongoError && !(prototype instanceof MongoServerError) && value !== MongoServerError
      ? [[name, prototype]]
      : [];
  },
);

describe("the driver's own errors", () => {
  test("include every error by which the driver reports a wrong call", () => {
    expect(driverErrors.map(([name]) => name)).toEqual(expect.arrayContaining(programmingErrors));
  });

  test.each(driverErrors)(
    "%s means that MongoDB cannot serve, unless the service has called the driver wrongly",
    (name, prototype) => {
      const error: unknown = Object.create(prototype, { errorLabelSet: { value: new Set() } });
      expect(isUnavailable(error)).toBe(!programmingErrors.includes(name));
    },
  );
});

test.each([
  24,
  43,
  46,
  50,
  64,
  91,
  112,
  134,
  187,
  189,
  216,
  246,
  251,
  262,
  290,
  365,
  9001,
  10107,
  11600,
  11601,
  11602,
  13435,
  14031,
  399,
  undefined,
])("the server's error %s means that it cannot serve, and so does an unknown one", (code) => {
  expect(mongoFailureOf(ofServer(code))).toMatchObject({ reason: Reason.UNAVAILABLE, cause: { message: "injected" } });
});

test.each([2, 9, 14, 20, 59, 72, 121, 10334, 11000, 40414, 40415, 51024])(
  "the server's error %i means that the service is wrong",
  (code) => {
    expect(mongoFailureOf(ofServer(code)).reason).toBe(Reason.INTERNAL);
  },
);

test.each([11, 13, 18, 31, 33])(
  "the server's error %i means that the service's user lacks a right, and is UNAVAILABLE",
  (code) => {
    expect(mongoFailureOf(ofServer(code))).toMatchObject({ reason: Reason.UNAVAILABLE });
  },
);

test.each([
  new TypeError("undefined is not a function"),
  new RangeError("of its own"),
  Object.assign(new Error("no such file"), { code: "ENOENT" }),
  "a text",
])("%s is an error of the service itself, and is INTERNAL", (error) => {
  expect(mongoFailureOf(error).reason).toBe(Reason.INTERNAL);
});
