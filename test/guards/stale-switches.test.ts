// A request that finds the switches a moment too old waits for fresh ones, at every check: a process that stood still
// rejects nothing for it.
import type { Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { beforeEach, describe, expect, test } from "vitest";
import type { WriteScope } from "../../src/call/scope.ts";
import { confirmGrant, grantWrites, readScope } from "../../src/call/scope.ts";
import { deadlineIn } from "../../src/deadline.ts";
import { fail } from "../../src/errors.ts";
import { ImportRequestSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Operator } from "../../src/guards/internal.ts";
import { createStreamDispatch } from "../../src/guards/stream.ts";
import { makeAssistant, one, token as assistantToken } from "./made-assistant.ts";
import type { Made } from "./made.ts";
import { accountId, internalPolicyOf, make, publicAccessPolicyOf, reasonOf } from "./made.ts";

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

/** From now on the switches are too old until somebody waits for them. */
function stall({ world }: Made, helps = true): void {
  world.isStale = true;
  world.freshen = async () => {
    await Promise.resolve();
    world.isStale = !helps;
  };
}

let parts: Made;
beforeEach(() => {
  parts = make();
});

describe.each(outcomes)("%s", (expected, helps) => {
  test.each([
    ["a read", getContact, one],
    ["a write", createContact, { fullName: "Ann" }],
  ])("%s with a key, before its body and after it", async (_what, rpc, message) => {
    const dispatch = parts.behind(publicAccessPolicyOf(parts));
    const inbound = parts.inbound(key);
    const admitted = await dispatch.admit(rpc, inbound);
    stall(parts, helps);
    expect(await reasonOf(admitted.invoke(create(rpc.input, message)))).toBe(expected);
    stall(parts, helps);
    expect(await reasonOf(dispatch.admit(rpc, inbound))).toBe(expected);
  });

  test("a batch of the internal listener, and each write of it", async () => {
    const dispatch = parts.behind(internalPolicyOf(parts));
    parts.world.serve = async (_rpc, grant) => {
      stall(parts, helps);
      const scope = await (grant as Operator).scopeFor(account);
      stall(parts, helps);
      await confirmGrant(scope);
    };
    expect(await reasonOf(parts.call(dispatch, IngestService.method.upsertContacts, token, batch))).toBe(expected);
  });

  test("the write of a request with a key, and every attempt of it", async () => {
    const dispatch = parts.behind(publicAccessPolicyOf(parts));
    parts.world.serve = async (_rpc, grant) => {
      stall(parts, helps);
      await confirmGrant(grant as WriteScope);
    };
    expect(await reasonOf(parts.call(dispatch, createContact, key, { fullName: "Ann" }))).toBe(expected);
  });

  test("a message of a stream, and its first one", async () => {
    const rpc = IngestService.method.import;
    const dispatch = createStreamDispatch(
      internalPolicyOf(parts),
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

  test("an assistant's request and each of its calls", async () => {
    const { parts: others, accessPolicy } = makeAssistant();
    stall(others, helps);
    const inbound = others.inbound(assistantToken);
    expect(await reasonOf(accessPolicy.enter(inbound))).toBe(expected);
  });
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
