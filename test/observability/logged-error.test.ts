// What the log has of an error: its class and where it was thrown, and never its message.
import { MongoBulkWriteError, MongoServerError } from "mongodb";
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { Failure } from "../../src/call/errors.ts";
import { createLog } from "../../src/log/log.ts";
import { loggedError, shownError } from "../../src/log/logged-error.ts";

const private_ = "Ann Lovelace";
const reply = {
  ok: 0,
  code: 11000,
  codeName: "DuplicateKey",
  errmsg: `E11000 dup key: { full_name: "${private_}" }`,
  keyValue: { full_name: private_ },
  errorLabels: ["TransientTransactionError"],
};

/** Errors whose message, fields or nested errors hold what a record says. */
const errors: readonly (readonly [string, unknown])[] = [
  ["of the server", new MongoServerError(reply)],
  [
    "of a bulk write",
    new MongoBulkWriteError({ message: private_, code: 11000, writeErrors: [] }, { insertedCount: 0 } as never),
  ],
  ["of a parser", caught(() => JSON.parse(`["${private_}`))],
  [
    "with a message of several lines, one like a frame",
    new Error(`no\n    at ${private_} (${private_}:1:1)\n    at ${private_}:2:2`),
  ],
  [
    "with a name and a code that are texts",
    Object.assign(new Error("no"), {
      name: private_,
      code: private_,
      codeName: private_,
      errorLabels: [private_],
      syscall: private_,
    }),
  ],
  [
    "with a cause",
    new Failure(Reason.UNAVAILABLE, { cause: new Error(private_, { cause: new MongoServerError(reply) }) }),
  ],
  ["of many", new AggregateError([new Error(private_)], private_)],
  ["whose stack was replaced", Object.assign(new Error("no"), { stack: private_ })],
  ["that is none", private_],
  ["that is an object", { message: private_ }],
];

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each(errors)("the line of an error %s contains nothing of its message", async (_name, err) => {
  const lines = new PassThrough();
  createLog("info", lines).error({ err }, "request failed");
  const line = String(lines.read());
  expect(line).not.toContain("Ann");
  expect(JSON.parse(line)).toMatchObject({ level: 50, msg: "request failed", err: { type: expect.any(String) } });
});

test("the line has the class, the codes, the labels, the causes and our own frames", () => {
  const {
    stack = [],
    cause,
    ...facts
  } = loggedError(new Failure(Reason.UNAVAILABLE, { cause: new MongoServerError(reply) }));
  expect(facts).toEqual({ type: "Failure", reason: "UNAVAILABLE" });
  expect(stack).toEqual([]);
  expect(cause).toMatchObject({
    type: "MongoServerError",
    code: 11000,
    code_name: "DuplicateKey",
    labels: ["TransientTransactionError"],
  });
  expect(cause?.stack?.[0]).toMatch(/logged-error\.test\.ts:\d+:\d+\)?$/);
  expect(loggedError(Object.assign(new Error(""), { code: "ECONNREFUSED", syscall: "connect" }))).toMatchObject({
    code: "ECONNREFUSED",
    syscall: "connect",
  });
});

test("a cause that is its own cause ends", () => {
  const error = new Error("a");
  error.cause = error;
  expect(JSON.stringify(loggedError(error)).match(/"type"/g)).toHaveLength(5);
});

test("a line for an operator shows a message of our own or of the operating system, and no other [OPS-52]", () => {
  expect(shownError(new Error("MONGODB_URI: must be a replica set"))).toBe("MONGODB_URI: must be a replica set");
  expect(shownError(caught(() => readFileSync("/nowhere/file")))).toBe(
    "ENOENT: no such file or directory, open '/nowhere/file'",
  );
  expect(shownError(new Failure(Reason.NOT_FOUND))).toBe("There is no such record in this account. Check the id.");
  expect(shownError(new Failure(Reason.UNAVAILABLE, { cause: new MongoServerError(reply) }))).toMatch(
    /^The service cannot respond right now\. Try again\. \(MongoServerError 11000 DuplicateKey.*\)$/,
  );
  expect(shownError(new MongoServerError(reply))).toMatch(/^MongoServerError 11000 DuplicateKey( at |$)/);
  for (const [, error] of errors.filter(([name]) => !/^with a message|^with a name|^whose/.test(name)))
    expect(shownError(error)).not.toContain(private_);
});
