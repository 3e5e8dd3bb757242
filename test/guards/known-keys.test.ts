// What an instance remembers of a key, over fake dependencies: to whom it belongs, and how long it needs no look-up.
import { UUID } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import type { UnprovenCredential } from "../../src/call/scope.ts";
import { accountId, keyFacts, reasonOf } from "./made.ts";
import { createContact, getContact, key, one, usePublicPolicy } from "./public-policy.ts";

const { parts, dispatch, call } = usePublicPolicy();

test("keys whose hashes differ in a single byte are never confused, at their first use and later", async () => {
  const [other, last] = [new UUID(), 0xff];
  parts().world.findKey = async (hash) => ({
    ...keyFacts,
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

test("a key of a suspended account is rejected before the body of its request arrives", async () => {
  parts().world.findKey = () => Promise.resolve({ ...keyFacts, suspended: true });
  expect(await reasonOf(dispatch().admit(createContact, parts().inbound(key)))).toBe("ACCOUNT_SUSPENDED");
});
