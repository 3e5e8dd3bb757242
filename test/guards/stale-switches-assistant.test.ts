// An assistant's request that finds the operator's switches a moment too old waits for fresh ones, and is then checked
// as if it had just arrived.
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test, vi } from "vitest";
import { fail } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { createCapacity } from "../../src/guards/capacity.ts";
import type { MadeAssistant } from "./made-assistant.ts";
import { facts, makeAssistant, one, token } from "./made-assistant.ts";
import { reasonOf, stall } from "./made.ts";

const { getContact } = ContactService.method;

test.each([
  ["no failure", true],
  ["UNAVAILABLE", false],
])("%s: a request and each of its calls", async (expected, helps) => {
  const { parts, access } = makeAssistant();
  stall(parts, helps);
  const inbound = parts.inbound(token);
  expect(await reasonOf(access.enter(inbound))).toBe(expected);
  parts.world.isStale = false;
  await access.enter(inbound);
  const dispatch = parts.behind(access);
  const admitted = await dispatch.admit(getContact, inbound);
  stall(parts, helps);
  expect(await reasonOf(admitted.invoke(create(getContact.input, one)))).toBe(expected);
  stall(parts, helps);
  expect(await reasonOf(dispatch.admit(getContact, inbound))).toBe(expected);
});

test("a token that no instance remembers is looked up after the wait, and takes one token of its account", async () => {
  const { parts, access, provider } = makeAssistant();
  stall(parts);
  provider.identify = async () => (parts.world.isStale ? fail(Reason.UNAVAILABLE) : facts);
  expect(await reasonOf(access.enter(parts.inbound(token)))).toBe("no failure");
  expect(parts.steps.filter((step) => step.startsWith("take"))).toEqual([`take account:${facts.accountId}`]);
});

test("a request waits in vain only once", async () => {
  const { parts, access } = makeAssistant();
  await access.enter(parts.inbound(token));
  let waits = 0;
  stall(parts, false, () => void (waits += 1));
  expect(await reasonOf(access.enter(parts.inbound(token)))).toBe("UNAVAILABLE");
  expect(waits).toBe(1);
});

/** A request whose token is proven, as that of a batch is before its calls. */
async function provenCall({ parts, access }: MadeAssistant): Promise<() => Promise<unknown>> {
  const inbound = parts.inbound(token);
  const { prove } = await access.enter(inbound);
  await prove();
  return async () => (await parts.behind(access).admit(getContact, inbound)).invoke(create(getContact.input, one));
}

test.each([
  ["no token", {}],
  ["a token that has ended", token],
])("a request with %s does not wait for its 401", async (_what, headers) => {
  const { parts, access, provider } = makeAssistant();
  provider.identify = () => fail(Reason.INVALID_TOKEN);
  stall(parts);
  parts.world.freshen = () => fail(Reason.INTERNAL);
  expect(await reasonOf(access.enter(parts.inbound(headers)))).toBe("INVALID_TOKEN");
});

test("a call whose token ends while it waits gets 401, however recent the token's proof is [RTE-11]", async () => {
  // The end of the wait is in the same millisecond as the proof.
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  onTestFinished(() => clock.mockRestore());
  const made = makeAssistant();
  const call = await provenCall(made);
  expect(await reasonOf(call())).toBe("no failure");
  stall(made.parts, true, () => {
    made.provider.identify = () => fail(Reason.INVALID_TOKEN);
  });
  expect(await reasonOf(call())).toBe("INVALID_TOKEN");
});

test("the time before a body counts against the deadline of its calls, and the time that it takes does not [OPS-15]", async () => {
  const { parts, access } = makeAssistant();
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  onTestFinished(() => clock.mockRestore());
  const { prove, received } = await access.enter(parts.inbound(token, 9_200));
  clock.mockReturnValue(16_000);
  const inbound = received();
  await prove();
  const dispatch = parts.behind(
    access,
    createCapacity(1, () => undefined),
  );
  const call = dispatch.admit(getContact, inbound).then(({ invoke }) => invoke(create(getContact.input, one)));
  expect(await reasonOf(call)).toBe("no failure");
  expect(parts.grants).toMatchObject([{ deadline: { at: 20_000 } }]);
});

test("a call gets 503 if the interface is off after the wait [ADM-06]", async () => {
  const made = makeAssistant();
  const call = await provenCall(made);
  stall(made.parts, true, () => {
    made.parts.world.publicInterface = false;
  });
  made.parts.steps.length = 0;
  expect(await reasonOf(call())).toBe("INTERFACE_DISABLED");
  expect(made.parts.steps).toEqual([]);
});
