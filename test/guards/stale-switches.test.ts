// A request that finds the switches a moment too old waits for fresh ones before it is identified and before its work:
// a process that stood still rejects nothing that arrived meanwhile.
import type { Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { beforeEach, describe, expect, test } from "vitest";
import type { WriteScope } from "../../src/call/scope.ts";
import { confirmGrant, grantWrites, readScope } from "../../src/call/scope.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { fail } from "../../src/call/errors.ts";
import { ImportRequestSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createCapacity } from "../../src/guards/capacity.ts";
import type { Operator } from "../../src/guards/internal.ts";
import { createStreamDispatch } from "../../src/guards/stream.ts";
import { one } from "./made-assistant.ts";
import type { Made } from "./made.ts";
import { accountId, internalPoliciesOf, keyFacts, make, publicPoliciesOf, reasonOf, stall } from "./made.ts";

const { getContact, createContact } = ContactService.method;
const account = accountId.toHexString();
const key = { authorization: "Bearer rec_good" };
const token = { authorization: "Bearer token-one" };
const batch = { accountId: account, contacts: [{ fullName: "Ann" }] };

/** The wait for the switches helps, or does not. */
const outcomes = [
  ["no failure", true],
  ["UNAVAILABLE", false],
] as const;

async function* noMessages(): AsyncGenerator<Message> {}

let parts: Made;
beforeEach(() => {
  parts = make();
});

describe.each(outcomes)("%s", (expected, helps) => {
  test.each([
    ["a read", getContact, one],
    ["a write", createContact, { fullName: "Ann" }],
  ])("%s with a key, before its body and after it", async (_what, rpc, message) => {
    const dispatch = parts.behind(publicPoliciesOf(parts));
    const inbound = parts.inbound(key);
    const admitted = await dispatch.admit(rpc, inbound);
    stall(parts, helps);
    expect(await reasonOf(admitted.invoke(create(rpc.input, message)))).toBe(expected);
    stall(parts, helps);
    expect(await reasonOf(dispatch.admit(rpc, inbound))).toBe(expected);
  });

  test("a batch of the internal listener, and each write of it", async () => {
    const dispatch = parts.behind(internalPoliciesOf(parts));
    parts.world.serve = async (_rpc, grant) => {
      stall(parts, helps);
      const scope = await (grant as Operator).scopeFor(account);
      stall(parts, helps);
      await confirmGrant(scope);
    };
    expect(await reasonOf(parts.call(dispatch, IngestService.method.upsertContacts, token, batch))).toBe(expected);
  });

  test("a message of a stream, and its first one", async () => {
    const rpc = IngestService.method.import;
    const dispatch = createStreamDispatch(
      internalPoliciesOf(parts),
      new Map([[rpc, (messages: AsyncIterable<Message>) => messages]]),
    );
    const received = async (before: () => void, between: () => void): Promise<void> => {
      before();
      const stream = await dispatch.admit(rpc, parts.inbound(token));
      const messages = (async function* () {
        between();
        yield create(ImportRequestSchema, { accountId: account });
      })();
      for await (const _ of stream(messages)) void _;
    };
    const nothing = (): void => undefined;
    expect(await reasonOf(received(nothing, () => stall(parts, helps)))).toBe(expected);
    parts.world.isStale = false;
    expect(await reasonOf(received(() => stall(parts, helps), nothing))).toBe(expected);
  });
});

test("a key that no instance remembers is looked up after the wait, because a look-up fails until then", async () => {
  const dispatch = parts.behind(publicPoliciesOf(parts));
  stall(parts);
  parts.world.findKey = async () => (parts.world.isStale ? fail(Reason.UNAVAILABLE) : keyFacts);
  expect(await reasonOf(parts.call(dispatch, getContact, key, one))).toBe("no failure");
  // The account is not known before the wait.
  expect(parts.steps.slice(0, 3)).toEqual(["find", "find", `take account:${keyFacts.accountId}`]);
  expect(parts.steps.filter((step) => step.startsWith("take"))).toHaveLength(1);
});

test("a key that cannot be looked up after the wait either takes a token of the address [RTE-11]", async () => {
  const dispatch = parts.behind(publicPoliciesOf(parts));
  stall(parts, false);
  parts.world.findKey = () => fail(Reason.UNAVAILABLE);
  expect(await reasonOf(parts.call(dispatch, getContact, key, one))).toBe("UNAVAILABLE");
  expect(parts.steps).toEqual(["find", "find", "take address:192.0.2.1"]);
});

test("a revoked key gets 401 although writes were paused while the request waited [ERR-12, AUT-01]", async () => {
  const dispatch = parts.behind(publicPoliciesOf(parts));
  expect(await reasonOf(parts.call(dispatch, getContact, key, one))).toBe("no failure");
  parts.world.findKey = () => Promise.resolve(undefined);
  stall(parts, true, () => {
    parts.world.writes = false;
  });
  expect(await reasonOf(parts.call(dispatch, createContact, key, { fullName: "Ann" }))).toBe("INVALID_KEY");
});

test.each([
  ["a known", true],
  ["an unknown", false],
])(
  "the switches can become too old while the throttle responds for %s key: the request takes one token, and waits",
  async (_which, isKnown) => {
    const dispatch = parts.behind(publicPoliciesOf(parts));
    if (isKnown) expect(await reasonOf(parts.call(dispatch, getContact, key, one))).toBe("no failure");
    parts.steps.length = 0;
    parts.world.onTake = () => stall(parts);
    expect(await reasonOf(parts.call(dispatch, getContact, key, one))).toBe("no failure");
    expect(parts.steps.filter((step) => step.startsWith("take"))).toHaveLength(1);
  },
);

test("a key that cannot be looked up while the switches are fresh is rejected without a wait, and takes a token", async () => {
  const dispatch = parts.behind(publicPoliciesOf(parts));
  parts.world.findKey = () => fail(Reason.UNAVAILABLE);
  let waits = 0;
  parts.world.onTake = () => stall(parts, true, () => void (waits += 1));
  expect(await reasonOf(dispatch.admit(getContact, parts.inbound(key)))).toBe("UNAVAILABLE");
  expect([waits, parts.steps]).toEqual([0, ["find", "take address:192.0.2.1"]]);
});

test("a caller who sends too many requests gets 429 without a wait, and takes no part in it [ERR-12]", async () => {
  const dispatch = parts.behind(publicPoliciesOf(parts));
  stall(parts);
  parts.world.freshen = () => fail(Reason.INTERNAL);
  parts.world.waitMs = 1_000;
  expect(await reasonOf(parts.call(dispatch, getContact, key, one))).toBe("RATE_LIMITED");
});

test.each([
  ["a request", (made: Made) => made.call(made.behind(publicPoliciesOf(made)), getContact, key, one)],
  [
    "a request of the internal listener",
    (made: Made) => made.call(made.behind(internalPoliciesOf(made)), IngestService.method.upsertContacts, token, batch),
  ],
])("%s waits once, however long the wait lasted in vain", async (_what, send) => {
  let waits = 0;
  stall(parts, false, () => void (waits += 1));
  expect(await reasonOf(send(parts))).toBe("UNAVAILABLE");
  expect(waits).toBe(1);
});

test("a request that waits holds no slot, neither before its body nor after it", async () => {
  const capacity = createCapacity(1, () => undefined);
  const dispatch = parts.behind(publicPoliciesOf(parts, capacity), capacity);
  const admitted = await dispatch.admit(getContact, parts.inbound(key));
  const working: number[] = [];
  const stallSlowly = (): void => {
    parts.world.isStale = true;
    parts.world.freshen = async () => {
      await new Promise(setImmediate);
      working.push(capacity.state().working.verified);
      parts.world.isStale = false;
    };
  };
  stallSlowly();
  expect(await reasonOf(admitted.invoke(create(getContact.input, one)))).toBe("no failure");
  stallSlowly();
  expect(await reasonOf(dispatch.admit(getContact, parts.inbound(key)))).toBe("no failure");
  expect(working).toEqual([0, 0]);
});

test("requests that queue for a slot when the switches become too old are served", async () => {
  const capacity = createCapacity(1, () => undefined);
  const dispatch = parts.behind(publicPoliciesOf(parts, capacity), capacity);
  await parts.call(dispatch, getContact, key, one);
  const admitted = await Promise.all(Array.from({ length: 20 }, () => dispatch.admit(getContact, parts.inbound(key))));
  let served = 0;
  parts.world.serve = async () => {
    served += 1;
    if (served === 1) stall(parts);
    await new Promise(setImmediate);
  };
  const reasons = await Promise.all(admitted.map(({ invoke }) => reasonOf(invoke(create(getContact.input, one)))));
  expect([new Set(reasons), served]).toEqual([new Set(["no failure"]), 20]);
});

test("no request waits longer than its caller does, and nothing starts for it afterwards", async () => {
  const policy = publicPoliciesOf(parts);
  const dispatch = parts.behind(policy);
  const inbound = { ...parts.inbound(key), limits: { expiresAt: performance.now() + 50 } };
  const admitted = await dispatch.admit(createContact, inbound);
  stall(parts, false);
  parts.world.freshen = () => new Promise(() => undefined);
  parts.steps.length = 0;
  expect(await reasonOf(admitted.invoke(create(createContact.input, { fullName: "Ann" })))).toBe("DEADLINE_EXCEEDED");
  expect(parts.steps).toEqual([]);
  const streams = createStreamDispatch(internalPoliciesOf(parts), new Map([[IngestService.method.import, noMessages]]));
  const stream = { ...parts.inbound(token), limits: { expiresAt: performance.now() + 50 } };
  expect(await reasonOf(streams.admit(IngestService.method.import, stream))).toBe("DEADLINE_EXCEEDED");
});

test.each([
  ["a key", "MISSING_KEY", (made: Made) => made.behind(publicPoliciesOf(made)).admit(createContact, made.inbound())],
  [
    "a service token",
    "INVALID_SERVICE_TOKEN",
    (made: Made) => made.behind(internalPoliciesOf(made)).admit(IngestService.method.upsertContacts, made.inbound()),
  ],
])("a request without %s does not wait for its 401", async (_what, reason, request) => {
  stall(parts);
  parts.world.freshen = () => fail(Reason.INTERNAL);
  expect(await reasonOf(request(parts))).toBe(reason);
});

test("a write with a key does not wait between the proof of the key and its command [AUT-01]", async () => {
  const dispatch = parts.behind(publicPoliciesOf(parts));
  parts.world.serve = async (_rpc, grant) => {
    stall(parts);
    await confirmGrant(grant as WriteScope);
  };
  expect(await reasonOf(parts.call(dispatch, createContact, key, { fullName: "Ann" }))).toBe("UNAVAILABLE");
});

test("a write waits for what its right waits for, and is checked afterwards [ERR-16]", async () => {
  const steps: string[] = [];
  const ready = async (): Promise<void> => void steps.push("waited");
  const recheck = (): void => {
    steps.push("checked");
    fail(Reason.WRITES_PAUSED);
  };
  const scope = grantWrites(readScope(new UUID(), deadlineIn(1_000)), undefined, recheck, ready);
  expect(await reasonOf(confirmGrant(scope))).toBe("WRITES_PAUSED");
  expect(steps).toEqual(["waited", "checked"]);
});
