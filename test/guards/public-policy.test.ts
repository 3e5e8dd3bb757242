// The public access policy and the chain behind it, over parts made by hand: who is let in, in which order, and what
// the service is granted.
import { create } from "@bufbuild/protobuf";
import { MongoNetworkError } from "mongodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { NoteService } from "../../src/gen/records/v1/notes_pb.ts";
import { createCapacity } from "../../src/guards/capacity.ts";
import { requireGrant } from "../../src/guards/scope.ts";
import { createThrottle } from "../../src/guards/throttle.ts";
import type { Failure } from "../../src/errors.ts";
import { fail } from "../../src/errors.ts";
import type { Dispatch, RpcResponse } from "../../src/rpc/dispatch.ts";
import { timersLeftBy } from "../support/own-timers.ts";
import type { Made } from "./made.ts";
import { accountId, contactId, keyFacts, make, publicAccessPolicyOf, reasonOf } from "./made.ts";

const { getContact, searchContacts, createContact, updateContact } = ContactService.method;
const { checkHealth } = HealthService.method;
const key = { authorization: "Bearer rec_good" };
const one = { contactId };
const ann = { fullName: "Ann" };

let parts: Made;
let dispatch: Dispatch;
beforeEach(() => {
  parts = make();
  dispatch = parts.behind(publicAccessPolicyOf(parts));
});

function call(
  rpc: Parameters<Made["call"]>[1],
  headers?: Record<string, string>,
  message?: object,
): Promise<RpcResponse> {
  return parts.call(dispatch, rpc, headers, message);
}

describe("with a key", () => {
  test("a read takes from its key's account, gets that account's scope, and is noted as a use [RTE-09]", async () => {
    expect(await call(getContact, key, one)).toEqual({
      message: expect.objectContaining({ $typeName: "records.v1.GetContactResponse" }) as unknown,
      replayed: false,
      body: undefined,
    });
    expect(parts.steps).toEqual([
      "find",
      `take account:${accountId.toHexString()}`,
      "serve GetContact",
      "used rec_good",
    ]);
    expect(parts.grants).toEqual([
      { kind: "records", accountId, unproven: undefined, deadline: expect.anything() as unknown },
    ]);
    expect(parts.observation).toEqual({ account: accountId, keyPrefix: "rec_good" });
    expect(() => requireGrant(parts.grants[0] as never)).toThrow("Access denied");
  });

  test("of many things that are wrong the first in the contract's order is reported [ERR-10, ERR-11, ERR-12, ERR-13]", async () => {
    const { world } = parts;
    const wrong = { authorization: "Bearer rec_good", "idempotency-key": "two words" };
    world.waitMs = 1;
    world.publicInterface = world.writes = false;
    world.findKey = () => Promise.resolve(undefined);
    world.serve = async () => fail(Reason.NOT_FOUND);
    const mended = [
      () => (world.waitMs = 0),
      () => (world.publicInterface = true),
      () => (world.findKey = () => Promise.resolve({ ...keyFacts, readOnly: true })),
      () => (world.findKey = () => Promise.resolve(keyFacts)),
      () => (world.writes = true),
    ];
    const told = [];
    for (const mend of mended) {
      told.push(await reasonOf(call(createContact, wrong)));
      mend();
    }
    expect(told).toEqual(["RATE_LIMITED", "INTERFACE_DISABLED", "INVALID_KEY", "ACCESS_DENIED", "WRITES_PAUSED"]);
    await expect(call(createContact, wrong)).rejects.toMatchObject({
      violations: [{ field: "Idempotency-Key" }, { field: "full_name" }],
    });
    expect(parts.grants).toEqual([]);
    expect(await reasonOf(call(createContact, { ...wrong, "idempotency-key": "one" }, ann))).toBe("NOT_FOUND");
  });

  test("a read requests no right to write, and continues while writes are paused [AUT-05, ERR-17]", async () => {
    parts.world.writes = false;
    parts.world.findKey = () => Promise.resolve({ ...keyFacts, readOnly: true });
    expect(await reasonOf(call(getContact, key, one))).toBe("no failure");
  });

  test.each<[Record<string, string>, string]>([
    [{}, "MISSING_KEY"],
    [{ cookie: "session" }, "MISSING_KEY"],
    [{ authorization: "" }, "INVALID_KEY"],
    [{ authorization: "Basic rec_good" }, "INVALID_KEY"],
    [{ authorization: "Not Bearer rec_good" }, "INVALID_KEY"],
    [{ authorization: "Bearer rec_good rec_good" }, "INVALID_KEY"],
    [{ authorization: "Bearerrec_good" }, "INVALID_KEY"],
    [{ authorization: "Bearer good" }, "INVALID_KEY"],
  ])(
    "the credential %j is %s, charged to the address and not looked up [AUT-01, AUT-03, RTE-11]",
    async (headers, reason) => {
      expect(await reasonOf(call(getContact, headers, one))).toBe(reason);
      expect(parts.steps).toEqual(["take address:192.0.2.1"]);
    },
  );

  test("the scheme counts in any case, and any number of blanks after it", async () => {
    expect(await reasonOf(call(getContact, { authorization: "bEARER   rec_good" }, one))).toBe("no failure");
  });

  test("a key store that cannot be read is 503, never 401, and says why to the log [AUT-04]", async () => {
    const cause = new Error("away");
    parts.world.findKey = () => Promise.reject(cause);
    await expect(call(getContact, key, one)).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, cause });
    expect(parts.steps).toEqual(["find", "take address:192.0.2.1"]);
  });

  test("a read trusts what it remembers of a key until the data proves it, and looks it up where nothing did", async () => {
    await call(getContact, key, one);
    parts.steps.length = 0;
    parts.world.serve = async (_rpc, grant) =>
      void ((grant as { unproven: { proven: boolean } }).unproven.proven = true);
    await call(getContact, key, one);
    expect(parts.steps).toEqual([`take account:${accountId.toHexString()}`, "serve GetContact", "used rec_good"]);
    expect(parts.grants[1]).toMatchObject({
      accountId,
      unproven: { proof: { stages: [{ name: keyFacts.hash }] }, proven: true },
    });
    parts.steps.length = 0;
    parts.world.serve = () => Promise.resolve();
    await call(getContact, key, one);
    expect(parts.steps).toEqual([
      `take account:${accountId.toHexString()}`,
      "serve GetContact",
      "find",
      "used rec_good",
    ]);
  });

  test.each([
    ["served", () => Promise.resolve()],
    ["refused by its service", async () => fail(Reason.NOT_FOUND)],
  ])("a key that was revoked meanwhile is 401 before its request is %s, and is forgotten", async (_what, serve) => {
    await call(getContact, key, one);
    Object.assign(parts.world, { findKey: () => Promise.resolve(undefined), serve });
    parts.steps.length = 0;
    expect(await reasonOf(call(getContact, key, one))).toBe("INVALID_KEY");
    expect(parts.steps.at(-1)).toBe("find");
    expect(await reasonOf(call(getContact, key, {}))).toBe("INVALID_KEY");
    expect(parts.steps.slice(-2)).toEqual(["find", "take address:192.0.2.1"]);
  });

  test("a key that can no longer be looked up is 503 [AUT-04]", async () => {
    await call(getContact, key, one);
    const cause = new Error("away");
    parts.world.findKey = () => Promise.reject(cause);
    await expect(call(getContact, key, one)).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, cause });
  });

  test("a write looks its key up each time, and is granted the right to write", async () => {
    await call(getContact, key, one);
    parts.steps.length = 0;
    await call(createContact, key, ann);
    expect(parts.steps).toEqual([
      `take account:${accountId.toHexString()}`,
      "find",
      "serve CreateContact",
      "used rec_good",
    ]);
    expect(() => requireGrant(parts.grants[1] as never)).not.toThrow();
  });

  test("an update is told that it changes nothing: its message is completed as a whole [CUP-10]", async () => {
    expect(await reasonOf(call(updateContact, key, one))).toBe("INVALID_REQUEST");
  });

  test("an idempotency key counts where the rpc takes one, and nowhere else [IDM-14]", async () => {
    const once = { ...key, "idempotency-key": "again" };
    expect(await call(createContact, once, ann)).toMatchObject({ replayed: true, body: "as it was" });
    expect(parts.observation.replayed).toBe(true);
    expect(await call(updateContact, once, { ...one, ...ann })).toMatchObject({ replayed: false, body: undefined });
    expect(await call(getContact, { ...key, "idempotency-key": "two words" }, one)).toMatchObject({ replayed: false });
    expect(parts.steps.filter((step) => step.startsWith("once"))).toEqual(["once CreateContact again"]);
  });

  test.each([
    ["", 1],
    ["a b", 1],
    ["é", 1],
    ["a".repeat(129), 1],
    ["!~", 0],
    ["a".repeat(128), 0],
  ])("the idempotency key %j has %i faults", async (value, faults) => {
    const told = await call(createContact, { ...key, "idempotency-key": value }, ann).then(
      () => [],
      ({ violations }: { violations: unknown[] }) => violations,
    );
    expect(told).toEqual(
      faults === 0
        ? []
        : [
            {
              field: "Idempotency-Key",
              rule: "string.pattern",
              message: "must be 1 to 128 printable ASCII characters without spaces (! to ~)",
            },
          ],
    );
  });

  test("a first response under an idempotency key is no replay", async () => {
    expect(await call(createContact, { ...key, "idempotency-key": "first" }, ann)).toMatchObject({ replayed: false });
    expect(parts.observation).not.toHaveProperty("replayed");
  });

  test("that MongoDB cannot serve is 503, and the key is not looked up again", async () => {
    await call(getContact, key, one);
    parts.steps.length = 0;
    parts.world.serve = () => Promise.reject(new MongoNetworkError("gone"));
    expect(await reasonOf(call(getContact, key, one))).toBe("UNAVAILABLE");
    expect(parts.steps.slice(-1)).toEqual(["serve GetContact"]);
  });

  test("what a surface could not read is rejected in its own words, once the key is proven [ERR-12]", async () => {
    const found = [{ field: "", rule: "json", message: "the body must be JSON" }];
    const admitted = await dispatch.admit(getContact, parts.inbound(key));
    await expect(admitted.reject(found)).rejects.toMatchObject({ reason: Reason.INVALID_REQUEST, violations: found });
    parts.world.findKey = () => Promise.resolve(undefined);
    expect(await reasonOf((await dispatch.admit(getContact, parts.inbound(key))).reject(found))).toBe("INVALID_KEY");
  });

  test("an rpc that nobody serves is no path, and nothing is charged", async () => {
    expect(await reasonOf(call(NoteService.method.searchNotes, key))).toBe("UNKNOWN_PATH");
    expect(parts.steps).toEqual([]);
  });

  test("a request is served at its deadline, counted from its arrival and without what its body took", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const admitted = await dispatch.admit(
        createContact,
        parts.inbound({ ...key, "idempotency-key": "k" }, performance.now() - 800),
      );
      vi.advanceTimersByTime(60_000);
      const due = performance.now() + 4_000;
      parts.world.serve = () => new Promise(() => undefined);
      let told: Failure | undefined;
      admitted.invoke(create(createContact.input, ann)).catch((failure: Failure) => (told = failure));
      await vi.advanceTimersByTimeAsync(3_999);
      expect([parts.keyed[0]?.scope.deadline.at, told]).toEqual([due, undefined]);
      await vi.advanceTimersByTimeAsync(1);
      expect(told).toMatchObject({
        reason: Reason.UNAVAILABLE,
        message: "The service could not respond in time. Try again.",
      });
      parts.world.serve = () => Promise.resolve();
      expect(await timersLeftBy(() => call(createContact, key, ann))).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("without a credential", () => {
  test("health is served, also while the interface is off and a key cannot be looked up [HLT-04, ERR-15]", async () => {
    parts.world.publicInterface = parts.world.writes = false;
    parts.world.findKey = () => Promise.reject(new Error("away"));
    expect(await reasonOf(call(checkHealth))).toBe("no failure");
    expect(await reasonOf(call(checkHealth, key))).toBe("no failure");
    expect(parts.steps).toEqual([
      "take address:192.0.2.1",
      "serve CheckHealth",
      "find",
      "take address:192.0.2.1",
      "serve CheckHealth",
    ]);
    expect(parts.grants).toEqual([undefined, undefined]);
  });

  test("health with a key is charged to the key, which is looked up once, and is no use of it [RTE-09]", async () => {
    for (let turn = 0; turn < 2; turn++) await call(checkHealth, key);
    const charged = [`take account:${accountId.toHexString()}`, "serve CheckHealth"];
    expect(parts.steps).toEqual(["find", ...charged, ...charged]);
    expect(parts.observation).toMatchObject({ account: accountId });
  });

  test("what is no rpc is charged, and nothing else [ERR-10]", async () => {
    await dispatch.throttle(parts.inbound());
    await dispatch.throttle(parts.inbound(key));
    expect(parts.steps).toEqual(["take address:192.0.2.1", "find", `take account:${accountId.toHexString()}`]);
    parts.world.waitMs = 1;
    expect(await reasonOf(dispatch.throttle(parts.inbound()))).toBe("RATE_LIMITED");
  });
});

test("a request above the bound is 503 after the throttle, health is not, and a finished request counts no more [RTE-22]", async () => {
  let rejected = 0;
  let end = (): void => undefined;
  parts.world.serve = (rpc) => (rpc === getContact ? new Promise((resolve) => (end = resolve)) : Promise.resolve());
  const capacity = createCapacity(1, () => (rejected += 1), 0);
  dispatch = parts.behind(publicAccessPolicyOf(parts, capacity), capacity);
  const first = call(getContact, key, one);
  await vi.waitFor(() => expect(parts.steps).toContain("serve GetContact"));
  parts.steps.length = 0;
  await expect(call(searchContacts, key, { query: "ann" })).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    message: "The service has too many requests at once. Try again.",
  });
  expect(await reasonOf(dispatch.throttle(parts.inbound()))).toBe("UNAVAILABLE");
  expect([parts.steps, rejected]).toEqual([[`take account:${accountId.toHexString()}`], 2]);
  parts.world.waitMs = 1;
  expect(await reasonOf(call(searchContacts, key, { query: "ann" }))).toBe("RATE_LIMITED");
  parts.world.waitMs = 0;
  expect(await reasonOf(call(checkHealth))).toBe("no failure");
  end();
  await first;
  parts.world.serve = async () => fail(Reason.NOT_FOUND);
  for (let turn = 0; turn < 2; turn++)
    expect(await reasonOf(call(searchContacts, key, { query: "ann" }))).toBe("NOT_FOUND");
  expect(await reasonOf(dispatch.throttle(parts.inbound()))).toBe("no failure");
});

describe("the throttle", () => {
  test.each([
    [1, 1, "1 second"],
    [1_000, 1, "1 second"],
    [1_001, 2, "2 seconds"],
    [59_400, 60, "60 seconds"],
  ])(
    "says in its text too how long to wait, for a wire without Retry-After: %i ms [RTE-03, RTE-14]",
    async (waitMs, seconds, words) => {
      const fallback = vi.fn();
      const throttle = createThrottle(undefined, { take: () => Promise.resolve(waitMs) }, fallback);
      await expect(throttle("somebody")).rejects.toMatchObject({
        reason: Reason.RATE_LIMITED,
        retryAfterSeconds: seconds,
        message: `Too many requests. Try again in ${words}.`,
      });
      expect(fallback).not.toHaveBeenCalled();
    },
  );

  test("asks the bucket that all share, and its own where that cannot decide, which is reported [RTE-08, RTE-13]", async () => {
    let away = false;
    let fallbacks = 0;
    const full = { take: () => Promise.resolve(5_000) };
    const shared = { take: () => (away ? Promise.reject(new Error("Redis is away")) : Promise.resolve(0)) };
    const throttle = createThrottle(shared, full, () => (fallbacks += 1));
    expect(await reasonOf(throttle("somebody"))).toBe("no failure");
    expect(fallbacks).toBe(0);
    away = true;
    expect(await reasonOf(throttle("somebody"))).toBe("RATE_LIMITED");
    expect(fallbacks).toBe(1);
  });
});
