// The access policy of assistants, over fake dependencies: who is authorized, in which order, and when a token is
// verified.
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { beforeEach, expect, test, vi } from "vitest";
import { fail } from "../../src/call/errors.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { TokenFacts } from "../../src/guards/call.ts";
import { grantWrites } from "../../src/call/scope.ts";
import { accountId, reasonOf } from "./made.ts";
import type { MadeAssistant } from "./made-assistant.ts";
import { account, facts, makeAssistant, one, token } from "./made-assistant.ts";

const { getContact, createContact } = ContactService.method;

let parts: MadeAssistant["parts"];
let provider: MadeAssistant["provider"];
let access: MadeAssistant["access"];
beforeEach(() => void ({ parts, provider, access } = makeAssistant()));

test("an access token takes from its account's bucket: a new one after it is verified, a known one before [RTE-16]", async () => {
  for (let turn = 0; turn < 2; turn++) {
    const { holder, prove } = await access.enter(parts.inbound(token));
    expect(holder).toEqual(facts);
    await prove();
  }
  expect(parts.observation).toEqual({ account: accountId });
  expect(parts.steps).toEqual([
    "identify token-one",
    `take account:${account}`,
    "identify token-one",
    `take account:${account}`,
    "identify token-one",
  ]);
});

test("verifies a known token for every request: one that has ended is rejected, and afterwards throttled as a new one", async () => {
  await access.enter(parts.inbound(token));
  provider.identify = async () => fail(Reason.INVALID_TOKEN);
  const { prove } = await access.enter(parts.inbound(token));
  expect(await reasonOf(prove())).toBe("INVALID_TOKEN");
  parts.steps.length = 0;
  expect(await reasonOf(access.enter(parts.inbound(token)))).toBe("INVALID_TOKEN");
  expect(parts.steps).toEqual(["identify token-one", "take address:192.0.2.1"]);
});

test.each<[string, Partial<TokenFacts>, string]>([
  ["whose user no longer has an account", { accountId: undefined }, "NO_ACCOUNT"],
  ["whose account was suspended", { suspended: true }, "ACCOUNT_SUSPENDED"],
])("rejects a known token %s", async (_, changed, reason) => {
  await access.enter(parts.inbound(token));
  provider.identify = () => Promise.resolve({ ...facts, ...changed });
  const { prove } = await access.enter(parts.inbound(token));
  expect(await reasonOf(prove())).toBe(reason);
});

test("a known token whose user has another account now gets 503, with the cause in the log", async () => {
  await access.enter(parts.inbound(token));
  provider.identify = () => Promise.resolve({ ...facts, accountId: new UUID() });
  const { prove } = await access.enter(parts.inbound(token));
  await expect(prove()).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, because: "other account" });
});

test("verifies a token once the body has arrived, a new one too, and again if that took long", async () => {
  const slow = await access.enter(parts.inbound(token));
  expect(parts.steps.filter((step) => step.startsWith("identify"))).toHaveLength(1);
  await slow.prove();
  expect(parts.steps.filter((step) => step.startsWith("identify"))).toHaveLength(2);
  provider.identify = async () => fail(Reason.INVALID_TOKEN);
  await slow.prove();
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now + 10_000);
  try {
    expect(await reasonOf(slow.prove())).toBe("INVALID_TOKEN");
  } finally {
    clock.mockRestore();
  }
});

test("further calls of a request take from the account's bucket as well [RTE-25]", async () => {
  const inbound = parts.inbound(token);
  await access.enter(inbound);
  await access.throttleMore(inbound, 9);
  expect(parts.steps.at(-1)).toBe(`take 9 of account:${account}`);
  // 20 ms are for the first call, which takes a token as well when the request is sent again.
  parts.world.waitMs = 1_990;
  await expect(access.throttleMore(inbound, 9)).rejects.toMatchObject({
    reason: Reason.RATE_LIMITED,
    retryAfterSeconds: 3,
  });
});

test("the log has the account of a throttled request, although its token is new", async () => {
  parts.world.waitMs = 1;
  expect(await reasonOf(access.enter(parts.inbound(token)))).toBe("RATE_LIMITED");
  expect(parts.observation).toEqual({ account: accountId });
});

test("a request without a valid token takes from the address's bucket, and calls no service", async () => {
  expect(await reasonOf(access.enter(parts.inbound()))).toBe("INVALID_TOKEN");
  expect(parts.steps).toEqual(["take address:192.0.2.1"]);
  provider.identify = async () => fail(Reason.INVALID_TOKEN);
  expect(await reasonOf(access.enter(parts.inbound(token)))).toBe("INVALID_TOKEN");
  expect(parts.steps).toEqual(["take address:192.0.2.1", "identify token-one", "take address:192.0.2.1"]);
});

test("a call with a valid token reads the account's records, and takes nothing more", async () => {
  const inbound = parts.inbound(token);
  await (await access.enter(inbound)).prove();
  parts.steps.length = 0;
  const dispatch = parts.behind(access);
  await (await dispatch.admit(getContact, inbound)).invoke(create(getContact.input, one));
  expect(parts.steps).toEqual(["serve GetContact"]);
  expect(parts.grants).toEqual([
    { kind: "records", accountId, unproven: undefined, deadline: expect.anything() as unknown },
  ]);
  await expect(dispatch.admit(createContact, inbound)).rejects.toMatchObject({
    reason: Reason.ACCESS_DENIED,
    message: "Access denied: assistants can only read.",
  });
  expect(() => grantWrites(parts.grants[0] as never)).toThrow("Access denied");
});

test("a read that took long verifies the token again before its response: an ended token gets no data", async () => {
  const inbound = parts.inbound(token);
  const { prove } = await access.enter(inbound);
  await prove();
  const dispatch = parts.behind(access);
  const read = async (): Promise<string | undefined> =>
    reasonOf((await dispatch.admit(getContact, inbound)).invoke(create(getContact.input, one)));
  provider.identify = () => Promise.resolve({ ...facts, suspended: true });
  expect(await read()).toBe("no failure");
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 600);
  try {
    expect(await read()).toBe("ACCOUNT_SUSPENDED");
  } finally {
    clock.mockRestore();
  }
});

test.each<[string, Partial<TokenFacts>, string]>([
  ["without an account", { accountId: undefined }, "NO_ACCOUNT"],
  ["of a suspended account", { suspended: true }, "ACCOUNT_SUSPENDED"],
])(
  "looks up a token %s each time, and accepts it as soon as there is an account in service",
  async (_what, changed, reason) => {
    provider.identify = () => Promise.resolve({ ...facts, ...changed });
    for (let turn = 0; turn < 2; turn++) expect(await reasonOf(access.enter(parts.inbound(token)))).toBe(reason);
    expect(parts.steps.filter((step) => step.startsWith("identify"))).toHaveLength(2);
    provider.identify = () => Promise.resolve(facts);
    expect((await access.enter(parts.inbound(token))).holder).toEqual(facts);
    expect(parts.observation).toEqual({ account: accountId });
  },
);
