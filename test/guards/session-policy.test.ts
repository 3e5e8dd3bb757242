// What a signed-in user may do, over fake dependencies: the session, the account, the origin, the enrolment, in this
// order.
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { fail } from "../../src/call/errors.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { ApiKeyService } from "../../src/gen/records/v1/api_keys_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { grantWrites } from "../../src/call/scope.ts";
import type { SignedInUser } from "../../src/guards/call.ts";
import type { Capacity } from "../../src/guards/capacity.ts";
import { unlimited } from "../../src/guards/capacity.ts";
import { countSent, maxBytesPerAccount } from "../../src/large/sending.ts";
import { createTally } from "../../src/call/tally.ts";
import type { Dispatch } from "../../src/call/dispatch.ts";
import type { Made } from "./made.ts";
import { accountId, make, origin, user, publicPoliciesOf, reasonOf, sessionGuardOf, stall } from "./made.ts";

const { createApiKey, revokeApiKey } = ApiKeyService.method;
const session = { cookie: "session", origin };
/** Each operation reads only the credential that it needs. */
const either = { ...session, authorization: "Bearer rec_good" };

let parts: Made;
let dispatch: Dispatch;
beforeEach(() => {
  parts = make();
  dispatch = parts.behind(publicPoliciesOf(parts));
});

function call(...[rpc, headers]: [Parameters<Made["call"]>[1], Record<string, string>]): ReturnType<Made["call"]> {
  return parts.call(dispatch, rpc, headers);
}

test("a user takes from their account's bucket, and is granted only its credentials [RTE-10]", async () => {
  await call(createApiKey, session);
  expect(parts.steps).toEqual([`take account:${accountId.toHexString()}`, "serve CreateApiKey"]);
  expect(parts.grants).toEqual([
    {
      kind: "credentials",
      accountId,
      actor: { person: "ann@example.com", requestId: "r1", address: "192.0.2.1" },
      deadline: expect.anything() as unknown,
    },
  ]);
  expect(parts.observation).toEqual({ account: accountId });
});

test("a user can revoke a key while clients of the account do not read their responses [OPS-70]", async () => {
  const releases: (() => void)[] = [];
  const onEnd = (release: () => void): boolean => releases.push(release) > 0;
  // What is sent is counted for the whole process, and so for the tests that come after this one.
  onTestFinished(() => releases.forEach((release) => release()));
  const sent = { ...createTally(), account: accountId.toHexString(), onEnd };
  countSent({}, sent, maxBytesPerAccount);
  const tally = { ...createTally(), account: accountId.toHexString(), onEnd: () => true };
  const admit = (rpc: Parameters<Dispatch["admit"]>[0]) => dispatch.admit(rpc, { ...parts.inbound(either), tally });
  await expect(admit(revokeApiKey)).resolves.toBeDefined();
  await expect(admit(ContactService.method.createContact)).rejects.toMatchObject({ because: "large responses" });
});

test("reports the first of several reasons in the contract's order, and the audit log records each rejection of a known account", async () => {
  const { world } = parts;
  const reasons = [];
  const enrolled = (betaEnrolled: boolean) => () =>
    Promise.resolve({ ...user, account: { id: accountId, betaEnrolled } });
  for (const [headers, found] of [
    [{}, enrolled(false)],
    [{ cookie: "session" }, () => Promise.resolve({ ...user, account: undefined })],
    [{ cookie: "session" }, enrolled(false)],
    [session, enrolled(false)],
    [session, enrolled(true)],
  ] as const) {
    world.findUser = found;
    world.serve = async () => fail(Reason.API_KEY_EXISTS);
    reasons.push(await reasonOf(call(createApiKey, headers)));
  }
  expect(reasons).toEqual(["NOT_SIGNED_IN", "NO_ACCOUNT", "FOREIGN_ORIGIN", "NOT_ENROLLED", "API_KEY_EXISTS"]);
  expect(parts.steps.filter((step) => step.startsWith("rejected"))).toEqual(
    [401, 403, 403, 403, 409].map((status) => `rejected CreateApiKey ${status}`),
  );
  // A session without an account at its last look-up takes from the address's bucket.
  expect(parts.steps.filter((step) => step.startsWith("take"))).toEqual(
    [
      "address:192.0.2.1",
      "address:192.0.2.1",
      "address:192.0.2.1",
      `account:${accountId.toHexString()}`,
      `account:${accountId.toHexString()}`,
    ].map((bucket) => `take ${bucket}`),
  );
  expect(parts.observation).toEqual({ account: accountId });
});

test.each<[string, () => Promise<SignedInUser | undefined>, string]>([
  ["whose session has ended", () => Promise.resolve(undefined), "NOT_SIGNED_IN"],
  ["who no longer has an account", () => Promise.resolve({ ...user, account: undefined }), "NO_ACCOUNT"],
  [
    "whose account is suspended",
    () => Promise.resolve({ ...user, account: { id: accountId, betaEnrolled: true, suspended: true } }),
    "ACCOUNT_SUSPENDED",
  ],
  [
    "who is no longer enrolled",
    () => Promise.resolve({ ...user, account: { id: accountId, betaEnrolled: false } }),
    "NOT_ENROLLED",
  ],
  ["whose session cannot be read", () => Promise.reject(new Error("away")), "UNAVAILABLE"],
])(
  "once the body has arrived, the change of a user %s is rejected, and takes no second token [CON-03]",
  async (_who, found, reason) => {
    const admitted = await dispatch.admit(createApiKey, parts.inbound(session));
    parts.world.findUser = found;
    expect(await reasonOf(admitted.invoke(create(createApiKey.input)))).toBe(reason);
    expect(parts.steps.filter((step) => /^(take|serve)/.test(step))).toEqual([
      `take account:${accountId.toHexString()}`,
    ]);
  },
);

test("once the body has arrived, a change applies to the account that the user has by then", async () => {
  const admitted = await dispatch.admit(createApiKey, parts.inbound(session));
  const other = new UUID();
  parts.world.findUser = () => Promise.resolve({ ...user, account: { id: other, betaEnrolled: true } });
  await admitted.invoke(create(createApiKey.input));
  expect(parts.grants).toMatchObject([{ kind: "credentials", accountId: other }]);
});

test("a caller without a session is still not signed in when identified again, and takes no token", async () => {
  const guard = sessionGuardOf(parts);
  const caller = await guard.identifyAgain(parts.inbound());
  expect(() => guard.require(caller)).toThrow("You are not signed in.");
  expect(parts.steps).toEqual([]);
});

test("under overload, a session counts for its account once it is known, and no cookie counts for nobody [RTE-22]", async () => {
  const guard = sessionGuardOf(parts);
  expect([guard.presume(""), guard.presume("session")]).toEqual([undefined, "unknown"]);
  await guard.identify(parts.inbound(session));
  expect(guard.presume("session")).toEqual({ bucket: `account:${accountId.toHexString()}`, isOverdue: false });
  expect(guard.presume("another")).toBe("unknown");
});

async function off(): Promise<SignedInUser> {
  parts.world.publicInterface = false;
  return user;
}

async function stale(): Promise<SignedInUser> {
  parts.world.isStale = true;
  return user;
}

test.each<[string, () => ReturnType<Made["world"]["findUser"]>, string]>([
  ["whose session ends", () => Promise.resolve(undefined), "NOT_SIGNED_IN"],
  [
    "whose identity is linked to another account",
    () => Promise.resolve({ ...user, account: { id: new UUID(), betaEnrolled: true } }),
    "NOT_SIGNED_IN",
  ],
  [
    "whose account is suspended",
    () => Promise.resolve({ ...user, account: { id: accountId, betaEnrolled: true, suspended: true } }),
    "ACCOUNT_SUSPENDED",
  ],
  ["for whom the interface is switched off", off, "INTERFACE_DISABLED"],
  ["for whom it is no longer known whether it is on", stale, "UNAVAILABLE"],
])("records that were read for a user %s meanwhile are not shown [CON-03, MCP-52]", async (_who, found, reason) => {
  const guard = sessionGuardOf(parts);
  const reading = guard.readRecords(parts.inbound(session), deadlineIn(1_000), user, async (scope) => {
    expect(() => grantWrites(scope)).toThrow();
    parts.world.findUser = found;
    return "records";
  });
  expect(await reasonOf(reading)).toBe(reason);
});

test("records are read once the switches are fresh, and not while the interface is off [ADM-01, MCP-52]", async () => {
  stall(parts);
  const read = (): Promise<boolean> => Promise.resolve(parts.world.isStale);
  const shown = (): Promise<boolean> =>
    sessionGuardOf(parts).readRecords(parts.inbound(session), deadlineIn(1_000), user, read);
  expect(await shown()).toBe(false);
  parts.world.publicInterface = false;
  expect(await reasonOf(shown())).toBe("INTERFACE_DISABLED");
});

test("records that were read for a user who is still signed in are shown [MCP-52]", async () => {
  const read = (): Promise<string> => Promise.resolve("records");
  const shown = sessionGuardOf(parts).readRecords(parts.inbound(session), deadlineIn(1_000), user, read);
  expect(await shown).toBe("records");
});

describe("a page", () => {
  /** What a page is served with: the kind of its slot, with or without a verified credential, and the user. */
  async function enter(headers: Record<string, string>): Promise<unknown[]> {
    const served: unknown[] = [];
    const capacity: Capacity = {
      ...unlimited,
      run: (credential, _deadline, work) => {
        parts.steps.push("slot");
        served.push(credential);
        return work();
      },
    };
    const guard = sessionGuardOf(parts, capacity);
    const receive = (): Promise<string> => Promise.resolve(void parts.steps.push("receive")).then(() => "body");
    await guard.enter(parts.inbound(headers), deadlineIn(1_000), receive, async (found, body) => {
      served.push(found()?.name, body);
    });
    return served;
  }

  test("is served to a user in a slot for known callers, and to others in one for unknown callers", async () => {
    expect(await enter(session)).toEqual(["verified", "ann@example.com", "body"]);
    expect(await enter({})).toEqual(["unverified", undefined, "body"]);
    expect(await enter({ cookie: "" })).toEqual(["unverified", undefined, "body"]);
    expect(parts.steps.filter((step) => step.startsWith("take"))).toEqual([
      `take account:${accountId.toHexString()}`,
      "take address:192.0.2.1",
      "take address:192.0.2.1",
    ]);
  });

  test("is throttled before its body is received, and takes a slot only after that [RTE-22]", async () => {
    await enter(session);
    expect(parts.steps).toEqual([`take account:${accountId.toHexString()}`, "receive", "slot"]);
  });

  test("is 503 if the session cannot be read, as soon as the page needs the user", async () => {
    const cause = new Error("away");
    parts.world.findUser = () => Promise.reject(cause);
    await expect(enter(session)).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, cause });
  });
});
