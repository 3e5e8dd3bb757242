// The public access policy and the chain behind it, over fake dependencies: which key is accepted, in which order, and
// what the service is granted.
import { create } from "@bufbuild/protobuf";
import { MongoNetworkError, UUID } from "mongodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { NoteService } from "../../src/gen/records/v1/notes_pb.ts";
import type { UnprovenCredential } from "../../src/call/scope.ts";
import { requireGrant } from "../../src/call/scope.ts";
import { Failure, fail } from "../../src/call/errors.ts";
import { timersLeftBy } from "../support/own-timers.ts";
import { accountId, keyFacts, reasonOf } from "./made.ts";
import { ann, createContact, getContact, key, one, usePublicPolicy } from "./public-policy.ts";

const { parts, dispatch, call } = usePublicPolicy();

describe("with a key", () => {
  test("a read takes from its key's account, gets that account's scope, and is recorded as a use [RTE-09]", async () => {
    expect(await call(getContact, key, one)).toEqual({
      message: expect.objectContaining({ $typeName: "records.v1.GetContactResponse" }) as unknown,
      replayed: false,
      body: undefined,
    });
    expect(parts().steps).toEqual([
      "find",
      `take account:${accountId.toHexString()}`,
      "serve GetContact",
      "find",
      "used rec_good",
    ]);
    expect(parts().grants).toMatchObject([{ kind: "records", accountId, unproven: { proven: true } }]);
    expect(parts().observation).toEqual({ account: accountId, keyPrefix: "rec_good" });
    expect(() => requireGrant(parts().grants[0] as never)).toThrow("Access denied");
  });

  test("reports the first of several reasons in the contract's order [ERR-10, ERR-11, ERR-12, ERR-13]", async () => {
    const { world } = parts();
    const wrong = { authorization: "Bearer rec_good", "idempotency-key": "two words" };
    world.waitMs = 1;
    world.publicInterface = world.writes = false;
    world.findKey = () => Promise.resolve(undefined);
    world.serve = async () => fail(Reason.NOT_FOUND);
    const fixed = [
      () => (world.waitMs = 0),
      () => (world.publicInterface = true),
      () => (world.findKey = () => Promise.resolve({ ...keyFacts, readOnly: true })),
      () => (world.findKey = () => Promise.resolve(keyFacts)),
      () => (world.writes = true),
    ];
    const reported = [];
    for (const fix of fixed) {
      reported.push(await reasonOf(call(createContact, wrong)));
      fix();
    }
    expect(reported).toEqual(["RATE_LIMITED", "INTERFACE_DISABLED", "INVALID_KEY", "ACCESS_DENIED", "WRITES_PAUSED"]);
    await expect(call(createContact, wrong)).rejects.toMatchObject({
      violations: [{ field: "Idempotency-Key" }, { field: "full_name" }],
    });
    expect(parts().grants).toEqual([]);
    expect(await reasonOf(call(createContact, { ...wrong, "idempotency-key": "one" }, ann))).toBe("NOT_FOUND");
  });

  const noBearer = "The Authorization header has no bearer token. Send the key as `Authorization: Bearer <API_KEY>`.";
  const noHeader = new Failure(Reason.MISSING_KEY).message;
  const noKey = new Failure(Reason.INVALID_KEY).message;

  test.each<[Record<string, string>, string, string]>([
    [{}, "MISSING_KEY", noHeader],
    [{ cookie: "session" }, "MISSING_KEY", noHeader],
    [{ authorization: "" }, "INVALID_KEY", noBearer],
    [{ authorization: "Basic rec_good" }, "INVALID_KEY", noBearer],
    [{ authorization: "Not Bearer rec_good" }, "INVALID_KEY", noBearer],
    [{ authorization: "Bearer rec_good rec_good" }, "INVALID_KEY", noBearer],
    [{ authorization: "Bearerrec_good" }, "INVALID_KEY", noBearer],
    [{ authorization: "Bearer good" }, "INVALID_KEY", noKey],
  ])(
    "the credential %j is %s, takes from the address's bucket, and is not looked up [AUT-01, AUT-03, RTE-11]",
    async (headers, reasonName, message) => {
      await expect(call(getContact, headers, one)).rejects.toMatchObject({ reasonName, message });
      expect(parts().steps).toEqual(["take address:192.0.2.1"]);
    },
  );

  test("a write that would be rejected by remembered facts is checked by a look-up, and a read never is", async () => {
    const { world, steps } = parts();
    world.findKey = () => Promise.resolve({ ...keyFacts, readOnly: true });
    world.serve = async (_rpc, grant) => void (grant as { unproven: { setProven(): void } }).unproven.setProven();
    await call(getContact, key, one);
    const finds = async (rpc: Parameters<typeof call>[0], message: object): Promise<[string | undefined, number]> => {
      steps.length = 0;
      const reason = await reasonOf(call(rpc, key, message));
      return [reason, steps.filter((step) => step === "find").length];
    };
    expect(await finds(getContact, one)).toEqual(["no failure", 0]);
    expect((await finds(createContact, ann))[0]).toBe("ACCESS_DENIED");
    world.findKey = () => Promise.resolve(undefined);
    expect(await finds(createContact, ann)).toEqual(["INVALID_KEY", 1]);
    world.findKey = () => Promise.resolve(keyFacts);
    await call(getContact, key, one);
    world.writes = false;
    expect(await finds(getContact, one)).toEqual(["no failure", 0]);
    world.findKey = () => Promise.resolve(undefined);
    expect(await finds(createContact, ann)).toEqual(["INVALID_KEY", 1]);
  });

  test("a read trusts the remembered key until the data verifies it, and looks it up if nothing did", async () => {
    await call(getContact, key, one);
    parts().steps.length = 0;
    parts().world.serve = async (_rpc, grant) =>
      void (grant as { unproven: { setProven(): void } }).unproven.setProven();
    await call(getContact, key, one);
    expect(parts().steps).toEqual([`take account:${accountId.toHexString()}`, "serve GetContact", "used rec_good"]);
    expect(parts().grants[1]).toMatchObject({
      accountId,
      unproven: { proof: { stages: [{ name: keyFacts.hash }] }, proven: true },
    });
    parts().steps.length = 0;
    parts().world.serve = () => Promise.resolve();
    await call(getContact, key, one);
    expect(parts().steps).toEqual([
      `take account:${accountId.toHexString()}`,
      "serve GetContact",
      "find",
      "used rec_good",
    ]);
  });

  test("a write that does not verify its key itself looks it up, and is granted the right to write", async () => {
    await call(getContact, key, one);
    parts().steps.length = 0;
    await call(createContact, key, ann);
    expect(parts().steps).toEqual([
      `take account:${accountId.toHexString()}`,
      "serve CreateContact",
      "find",
      "used rec_good",
    ]);
    expect(() => requireGrant(parts().grants[1] as never)).not.toThrow();
  });

  test("a read that MongoDB cannot serve is 503, and its key is not looked up again", async () => {
    await call(getContact, key, one);
    parts().steps.length = 0;
    parts().world.serve = () => Promise.reject(new MongoNetworkError("gone"));
    expect(await reasonOf(call(getContact, key, one))).toBe("UNAVAILABLE");
    expect(parts().steps.slice(-1)).toEqual(["serve GetContact"]);
  });

  test("an rpc that nobody serves is an unknown path, and takes no token", async () => {
    expect(await reasonOf(call(NoteService.method.searchNotes, key))).toBe("UNKNOWN_PATH");
    expect(parts().steps).toEqual([]);
  });

  test("the deadline of a request counts from its arrival, without the time of its body", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const admitted = await dispatch().admit(
        createContact,
        parts().inbound({ ...key, "idempotency-key": "k" }, performance.now() - 800),
      );
      vi.advanceTimersByTime(60_000);
      const due = performance.now() + 4_000;
      parts().world.serve = () => new Promise(() => undefined);
      let reported: Failure | undefined;
      admitted.invoke(create(createContact.input, ann)).catch((failure: Failure) => (reported = failure));
      await vi.advanceTimersByTimeAsync(3_999);
      expect([parts().keyed[0]?.scope.deadline.at, reported]).toEqual([due, undefined]);
      await vi.advanceTimersByTimeAsync(1);
      expect(reported).toMatchObject({
        reason: Reason.UNAVAILABLE,
        message: "The service could not respond in time. Try again.",
      });
      parts().world.serve = () => Promise.resolve();
      expect(await timersLeftBy(() => call(createContact, key, ann))).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

test("checks the switches again once the body has arrived [CON-03]", async () => {
  const { world, inbound } = parts();
  for (const [rpc, off, reason] of [
    [getContact, "publicInterface", "INTERFACE_DISABLED"],
    [createContact, "publicInterface", "INTERFACE_DISABLED"],
    [createContact, "writes", "WRITES_PAUSED"],
  ] as const) {
    const admitted = await dispatch().admit(rpc, inbound(key));
    world[off] = false;
    expect(await reasonOf(admitted.invoke(create(rpc.input, rpc === getContact ? one : ann)))).toBe(reason);
    // A message that cannot be read does not bypass it.
    expect(await reasonOf(admitted.reject([]))).toBe(reason);
    expect(await reasonOf(admitted.prove())).toBe(reason);
    world[off] = true;
  }
  expect(parts().grants).toEqual([]);
});

test("while the interface is off, 503 precedes the 401 of a key that was revoked meanwhile, which is not looked up", async () => {
  await call(getContact, key, one);
  const admitted = await dispatch().admit(getContact, parts().inbound(key));
  parts().world.publicInterface = false;
  parts().world.findKey = () => Promise.resolve(undefined);
  parts().steps.length = 0;
  expect(await reasonOf(admitted.invoke(create(getContact.input, one)))).toBe("INTERFACE_DISABLED");
  expect(parts().steps).toEqual([]);
});

test("before the body arrives, it is known what is wrong with the headers and with given fields [ERR-08]", async () => {
  const admitted = await dispatch().admit(createContact, parts().inbound({ ...key, "idempotency-key": "two words" }));
  const wrong = create(createContact.input, { fullName: "" });
  const fieldsOf = (found: readonly { readonly field: string }[]): string[] => found.map(({ field }) => field);
  expect(fieldsOf(admitted.headViolations())).toEqual(["Idempotency-Key"]);
  expect(fieldsOf(admitted.headViolations(wrong))).toEqual(["Idempotency-Key"]);
  expect(fieldsOf(admitted.headViolations(wrong, ["full_name"]))).toEqual(["full_name", "Idempotency-Key"]);
});

test("keys whose hashes differ in a single byte are never confused, at their first use and later", async () => {
  const [other, last] = [new UUID(), 0xff];
  parts().world.findKey = async (hash) => ({
    ...keyFacts,
    hash,
    accountId: hash.value().at(-1) === last ? other : accountId,
  });
  const secrets = ["rec_\u00fe", "rec_\u00ff"];
  for (const secret of [...secrets, ...secrets]) await call(getContact, { authorization: `Bearer ${secret}` }, one);
  const accounts = [accountId, other, accountId, other];
  expect(parts().grants).toMatchObject(accounts.map((account) => ({ kind: "records", accountId: account })));
  expect(parts().steps.filter((step) => step.startsWith("take"))).toEqual(
    accounts.map((account) => `take account:${account.toHexString()}`),
  );
});

test("a key that each of its reads proves is looked up once, however long it has been in use", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  onTestFinished(() => clock.mockRestore());
  parts().world.serve = async (_rpc, grant) => (grant as { unproven: UnprovenCredential }).unproven.setProven();
  for (const at of [10_000, 10_100, 20_000, 30_000]) {
    clock.mockReturnValue(at);
    await call(getContact, key, one);
  }
  expect(parts().steps.filter((step) => step === "find")).toHaveLength(1);
});
