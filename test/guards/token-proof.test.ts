// A known token that is verified in its read, over fake dependencies: what verifies it, and what contradicts it.
import { create } from "@bufbuild/protobuf";
import type { MockInstance } from "vitest";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { deadlineMs } from "../../src/call/deadline.ts";
import { fail } from "../../src/call/errors.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Proof, UnprovenCredential } from "../../src/call/scope.ts";
import { reasonOf } from "./made.ts";
import type { MadeAssistant } from "./made-assistant.ts";
import { account, facts, makeAssistant, one, token } from "./made-assistant.ts";

const { getContact } = ContactService.method;

let parts: MadeAssistant["parts"];
let provider: MadeAssistant["provider"];
let access: MadeAssistant["access"];
let knownRead: MadeAssistant["knownRead"];
beforeEach(() => void ({ parts, provider, access, knownRead } = makeAssistant()));

/** Reads with a scope as `db/read.ts` does: only a credential that is not proven yet is proven with the data. */
const shows = async (_rpc: unknown, grant: unknown): Promise<void> => {
  const { unproven } = grant as { unproven?: UnprovenCredential };
  if (unproven?.proven === false) unproven.proof.require([]);
};

/** Reads once with a known token, and proves it. Returns the reasons of both, and what was done. */
async function readOnce(): Promise<{ read: string | undefined; proven: string | undefined; steps: string[] }> {
  await access.enter(parts.inbound(token));
  parts.steps.length = 0;
  const inbound = parts.inbound(token);
  const { prove } = await access.enter(inbound);
  const work = parts
    .behind(access)
    .admit(getContact, inbound)
    .then((admitted) => admitted.invoke(create(getContact.input, one)));
  const [read, proven] = await Promise.all([reasonOf(work), reasonOf(prove(work))]);
  return { read, proven, steps: parts.steps };
}
const served = [`take account:${account}`, "serve GetContact", "verify token-one"];

test("a known token is verified with its read, once, and not looked up", async () => {
  parts.world.serve = shows;
  expect(await readOnce()).toEqual({ read: "no failure", proven: "no failure", steps: served });
});

test("a known token is verified once by a read of several commands", async () => {
  const needed: unknown[] = [];
  parts.world.serve = async (rpc, grant) => {
    const { unproven } = grant as { unproven?: UnprovenCredential };
    needed.push(unproven?.proven);
    await shows(rpc, grant);
    needed.push(unproven?.proven);
  };
  expect(await readOnce()).toEqual({ read: "no failure", proven: "no failure", steps: served });
  expect(needed).toEqual([false, true]);
});

test("a known token is looked up if the read verified nothing, before anything is sent", async () => {
  expect(await readOnce()).toEqual({
    read: "no failure",
    proven: "no failure",
    steps: [...served, "identify token-one"],
  });
});

test("a known token is looked up if it is not verified for the same sign-in: it may have been revoked at the provider", async () => {
  parts.world.serve = shows;
  provider.verifies = () => false;
  expect(await readOnce()).toEqual({
    read: "no failure",
    proven: "no failure",
    steps: [...served, "identify token-one"],
  });
  const entered = await access.enter(parts.inbound(token));
  provider.identify = async () => fail(Reason.INVALID_TOKEN);
  expect(await reasonOf(entered.prove())).toBe("INVALID_TOKEN");
});

test("a known token is looked up if the read shows that it has ended", async () => {
  parts.world.serve = () => Promise.resolve(fail(Reason.INVALID_TOKEN));
  const entered = async (): Promise<unknown> => {
    await access.enter(parts.inbound(token));
    provider.identify = async () => fail(Reason.INVALID_TOKEN);
    return (await access.enter(parts.inbound(token))).prove(Promise.reject(new Error("ended")));
  };
  expect(await reasonOf(entered())).toBe("INVALID_TOKEN");
});

/** Reads with a scope whose proof fails, as where the sign-in is another than it was. Responds after `wait`. */
const refutes = async (_rpc: unknown, grant: unknown, wait?: Promise<void>): Promise<void> => {
  const { unproven } = grant as { unproven?: UnprovenCredential };
  const isNeeded = unproven?.proven === false;
  await wait;
  const ended = vi.spyOn(facts.proof as Proof, "require").mockImplementation(() => fail(Reason.INVALID_TOKEN));
  try {
    if (isNeeded) unproven.proof.require([]);
  } finally {
    ended.mockRestore();
  }
};

test("a known token is looked up if its read contradicts the remembered facts, and is served if it is valid", async () => {
  parts.world.serve = (rpc, grant) => refutes(rpc, grant);
  expect(await readOnce()).toEqual({
    read: "no failure",
    proven: "no failure",
    steps: [...served, "identify token-one"],
  });
});

test.each([
  ["a read", 0],
  ["a look-up", 1],
])("a known token has ended if a read contradicts it after %s that verified it", async (_, lookUps) => {
  const { read, prove } = await knownRead();
  let first: (() => void) | undefined;
  const granted = new Promise<void>((resolve) => (first = resolve));
  let go: (() => void) | undefined;
  const wait = new Promise<void>((resolve) => (go = resolve));
  parts.world.serve = async (rpc, grant) => {
    first?.();
    await refutes(rpc, grant, wait);
  };
  const refuted = reasonOf(read());
  await granted;
  parts.world.serve = shows;
  if (lookUps === 1) provider.verifies = () => false;
  expect(await reasonOf(read())).toBe("no failure");
  provider.identify = async () => fail(Reason.INVALID_TOKEN);
  go?.();
  expect([await refuted, await reasonOf(prove())]).toEqual(["INVALID_TOKEN", "INVALID_TOKEN"]);
});

test("a known token has ended if a look-up says so while another read verifies it", async () => {
  const { read, prove } = await knownRead();
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now);
  try {
    parts.world.serve = async (rpc, grant) => {
      clock.mockReturnValue(now + 600);
      await shows(rpc, grant);
    };
    provider.identify = async () => {
      provider.identify = async () => fail(Reason.INVALID_TOKEN);
      expect(await reasonOf(read())).toBe("no failure");
      clock.mockReturnValue(now + 700);
      return provider.identify("", undefined as never);
    };
    expect(await reasonOf(read())).toBe("INVALID_TOKEN");
    expect(await reasonOf(prove())).toBe("INVALID_TOKEN");
  } finally {
    clock.mockRestore();
  }
});

test("a known token is looked up within the deadline of its request, also after a read that took all of it [OPS-15]", async () => {
  await access.enter(parts.inbound(token));
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now);
  const { prove } = await access.enter(parts.inbound(token));
  const ends: number[] = [];
  provider.identify = (_token, { at }) => {
    ends.push(at);
    return Promise.resolve(facts);
  };
  try {
    const read = Promise.resolve().then(() => clock.mockReturnValue(now + deadlineMs - 100));
    expect(await reasonOf(prove(read))).toBe("no failure");
    expect(ends).toEqual([now + deadlineMs]);
  } finally {
    clock.mockRestore();
  }
});

test("a known token that each of its reads proves is looked up once, however long it has been in use", async () => {
  const clock = vi.spyOn(performance, "now");
  onTestFinished(() => clock.mockRestore());
  let lookUps = 0;
  provider.identify = async () => {
    lookUps += 1;
    return facts;
  };
  parts.world.serve = shows;
  for (const at of [10_000, 10_100, 20_000, 30_000]) {
    clock.mockReturnValue(at);
    expect(await readOnce()).toMatchObject({ read: "no failure", steps: served });
  }
  expect(lookUps).toBe(1);
});

test("a look-up proves a token for half a second, and a verification that began before it is not repeated", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  onTestFinished(() => clock.mockRestore());
  const { prove } = await access.enter(parts.inbound(token));
  parts.steps.length = 0;
  provider.verifies = () => {
    clock.mockReturnValue(10_400);
    return true;
  };
  await prove();
  provider.verifies = () => true;
  clock.mockReturnValue(10_899);
  await prove();
  expect(parts.steps).toEqual(["verify token-one", "identify token-one"]);
  clock.mockReturnValue(10_900);
  await prove();
  expect(parts.steps).toHaveLength(4);
});

test("a read gets no data if the interface was switched off before the read proved its token [ERR-14]", async () => {
  parts.world.serve = async (rpc, grant) => {
    await shows(rpc, grant);
    parts.world.publicInterface = false;
  };
  expect(await readOnce()).toMatchObject({ read: "INTERFACE_DISABLED", steps: served });
});

test("a known token is looked up if the read that verified it began long before", async () => {
  let clock: MockInstance | undefined;
  const now = performance.now();
  parts.world.serve = async (rpc, grant) => {
    clock = vi.spyOn(performance, "now").mockReturnValue(now + 600);
    await shows(rpc, grant);
  };
  try {
    expect((await readOnce()).steps).toContain("identify token-one");
  } finally {
    clock?.mockRestore();
  }
});
