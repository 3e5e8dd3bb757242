// The recognizer of credentials over test doubles: which bucket a look-up takes from, and how many run at once.
import { UUID } from "mongodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Failure, fail } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { KnownBuckets } from "../../src/guards/known-buckets.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import { createCapacity } from "../../src/guards/capacity.ts";
import type { Arrival, Credential, Recognition, Recognizer } from "../../src/guards/credentials.ts";
import { createRecognizer } from "../../src/guards/credentials.ts";
import { accountBucket } from "../../src/guards/throttle.ts";
import { reasonOf, waiting } from "./made.ts";

interface Holder {
  readonly accountId: UUID | undefined;
}

const account = new UUID("3f2a8c54-0000-4000-8000-000000000001");
const bucketOfAccount = `account:${account.toHexString()}`;
/** The steps in their order: `find a`, `take …`. */
let steps: string[];
let lookUps: KnownBuckets;
let rejectedLookUps: number;
let find: (name: string) => Promise<Holder | undefined>;
let recognizer: Recognizer<Holder>;

function make(slots = 8, burst = 3, maxWaiting = 256): void {
  steps = [];
  rejectedLookUps = 0;
  lookUps = createKnownBuckets({ rate: 0.001, burst });
  const throttle = (bucket: string): Promise<void> => Promise.resolve(void steps.push(`take ${bucket}`));
  const parts = {
    throttle,
    lookUps,
    capacity: createCapacity(slots, () => undefined, waiting(maxWaiting)),
    onRejectedLookUp: () => (rejectedLookUps += 1),
  };
  recognizer = createRecognizer(parts, (holder: Holder) => holder.accountId && accountBucket(holder.accountId));
}
beforeEach(() => {
  make();
  find = () => Promise.resolve({ accountId: account });
});

function credential(name: string, provenLater = true): Credential<Holder> {
  return {
    name,
    isProvenLater: () => provenLater,
    lookUp() {
      steps.push(`find ${name}`);
      return find(name);
    },
  };
}
const arrival = (changes: Partial<Arrival<Holder>> = {}): Arrival<Holder> => ({
  address: "192.0.2.1",
  deadline: deadlineIn(4_000),
  optional: false,
  onHolder: () => undefined,
  ...changes,
});
const recognize = (
  name: string | undefined,
  changes: Partial<Arrival<Holder>> = {},
  provenLater = true,
): Promise<Recognition<Holder>> =>
  recognizer.recognize(name === undefined ? undefined : credential(name, provenLater), arrival(changes));

test("an invalid credential takes a look-up from its network; with none left it is rejected, and known ones are served [RTE-20]", async () => {
  await recognize("good");
  find = () => Promise.resolve(undefined);
  for (const address of ["2001:db8::1", "2001:db8::2", "2001:db8::3"])
    expect(await recognize(`forged for ${address}`, { address })).toEqual({ kind: "invalid", failure: undefined });
  expect(steps.slice(2)).toEqual(
    ["2001:db8::1", "2001:db8::2", "2001:db8::3"].flatMap((address) => [
      `find forged for ${address}`,
      "take address:2001:db8:0:0::/64",
    ]),
  );
  steps.length = 0;
  await expect(recognize("forged", { address: "2001:db8::4" })).rejects.toMatchObject({
    reason: Reason.RATE_LIMITED,
    retryAfterSeconds: 1_000,
  });
  expect([steps, rejectedLookUps]).toEqual([[], 1]);
  expect(await recognize("good", { address: "2001:db8::4" })).toMatchObject({ kind: "valid", proven: false });
  expect(await recognize(undefined, { address: "2001:db8::4" })).toEqual({ kind: "invalid", failure: undefined });
  expect(await recognize("forged", { address: "2001:db8:0:1::4" })).toEqual({ kind: "invalid", failure: undefined });
  expect(steps).toEqual([
    `take ${bucketOfAccount}`,
    "take address:2001:db8:0:0::/64",
    "find forged",
    "take address:2001:db8:0:1::/64",
  ]);
});

test("a look-up without a result takes only a token of the address [RTE-20, AUT-04]", async () => {
  const cause = new Error("away");
  find = () => Promise.reject(cause);
  for (let turn = 0; turn < 5; turn++) expect(await recognize(`key ${turn}`)).toEqual({ kind: "unreadable", cause });
  expect(steps.filter((step) => step === "take address:192.0.2.1")).toHaveLength(5);
});

test("a 401 means that the credential is invalid, and any other failure that its validity is unknown [RTE-20]", async () => {
  find = async () => fail(Reason.INVALID_TOKEN, { message: "It has expired." });
  expect(await recognize("one")).toMatchObject({ kind: "invalid", failure: expect.any(Failure) as unknown });
  find = async () => fail(Reason.UNAVAILABLE);
  expect(await recognize("two")).toMatchObject({ kind: "unreadable" });
});

describe("a remembered credential that no request proves", () => {
  /** Looks the credential up, and uses it later without a proof. */
  async function useUnproven(): Promise<void> {
    await recognize("key");
    await vi.advanceTimersByTimeAsync(1);
    expect(await recognize("key")).toMatchObject({ kind: "valid", proven: false });
    steps.length = 0;
  }
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("is looked up at its next use after a second, before the throttle, and no longer takes a token of its holder once it has ended [RTE-11]", async () => {
    await useUnproven();
    find = () => Promise.resolve(undefined);
    await vi.advanceTimersByTimeAsync(999);
    expect(await recognize("key")).toMatchObject({ kind: "valid", proven: false });
    await vi.advanceTimersByTimeAsync(1);
    expect(await recognize("key")).toEqual({ kind: "invalid", failure: undefined });
    expect(steps).toEqual([`take ${bucketOfAccount}`, "find key", "take address:192.0.2.1"]);
  });

  test("is looked up once by requests at the same time, and once a second while it is valid", async () => {
    await useUnproven();
    for (let turn = 0; turn < 3; turn++) {
      await vi.advanceTimersByTimeAsync(1_000);
      await Promise.all(Array.from({ length: 5 }, () => recognize("key")));
      await vi.advanceTimersByTimeAsync(1);
      await recognize("key");
    }
    expect(steps.filter((step) => step === "find key")).toHaveLength(3);
    expect(steps.filter((step) => step === `take ${bucketOfAccount}`)).toHaveLength(18);
  });

  test("is not looked up if it has been proven meanwhile", async () => {
    await useUnproven();
    for (let turn = 0; turn < 3; turn++) {
      recognizer.proven("key");
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await recognize("key")).toMatchObject({ proven: false });
    }
    expect(steps).toEqual(Array.from({ length: 3 }, () => `take ${bucketOfAccount}`));
  });

  test("takes a token of its holder while it cannot be looked up, or no slot is free", async () => {
    make(1, 3, 0);
    await useUnproven();
    find = () => Promise.reject(new Error("away"));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await recognize("key")).toMatchObject({ kind: "valid", proven: false });
    find = () => new Promise(() => undefined);
    void recognize("held");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await recognize("key")).toMatchObject({ kind: "valid", proven: false });
    expect(steps).toEqual(["find key", `take ${bucketOfAccount}`, "find held", `take ${bucketOfAccount}`]);
  });
});

test("throttles a credential without an account by its address [RTE-11]", async () => {
  find = () => Promise.resolve({ accountId: undefined });
  expect(await recognize("user")).toMatchObject({ kind: "valid" });
  expect(steps).toEqual(["find user", "take address:192.0.2.1"]);
});

test("look-ups take at most half of the slots; known credentials get the others, and waiting look-ups follow [RTE-23, RTE-21]", async () => {
  make(8, 200);
  await recognize("good");
  const ends: (() => void)[] = [];
  find = () => new Promise((resolve) => ends.push(() => resolve({ accountId: account })));
  const strangers = Array.from({ length: 100 }, (_, turn) => recognize(`key ${turn}`));
  await vi.waitFor(() => expect(ends).toHaveLength(4));
  for (let turn = 0; turn < 10; turn++) expect(await recognize("good")).toMatchObject({ kind: "valid" });
  const again = Array.from({ length: 8 }, () => recognize("good", {}, false));
  await vi.waitFor(() => expect(steps.filter((step) => step === "find good")).toHaveLength(5));
  expect(ends).toHaveLength(8);
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await Promise.all([...strangers, ...again])).every(({ kind }) => kind === "valid")).toBe(true);
});

test("looks a credential up once for several waiting requests [RTE-21]", async () => {
  make(2, 200);
  const found = await Promise.all(Array.from({ length: 10 }, () => recognize("key")));
  expect(found.filter(({ kind }) => kind === "valid")).toHaveLength(10);
  expect(steps.filter((step) => step === "find key")).toHaveLength(1);
});

test("without a free slot it rejects a request and counts no failed look-up; an optional credential takes from the address's bucket [RTE-20, RTE-23, HLT-04]", async () => {
  make(2, 2, 0);
  let end = (): void => undefined;
  find = () => new Promise((resolve) => (end = () => resolve(undefined)));
  const first = recognize("held");
  await vi.waitFor(() => expect(steps).toEqual(["find held"]));
  for (let turn = 0; turn < 5; turn++) expect(await reasonOf(recognize(`key ${turn}`))).toBe("UNAVAILABLE");
  // Without a credential there is nothing to look up, and no slot to wait for.
  expect(await recognize(undefined)).toMatchObject({ kind: "invalid" });
  expect(steps).toEqual(["find held", "take address:192.0.2.1"]);
  steps.length = 0;
  expect(await recognize("key", { optional: true })).toMatchObject({ kind: "unreadable" });
  expect(await recognize(undefined, { optional: true })).toMatchObject({ kind: "invalid" });
  expect(steps).toEqual(["take address:192.0.2.1", "take address:192.0.2.1"]);
  end();
  await first;
});

test("without a look-up left it rejects an optional credential as well [RTE-20]", async () => {
  make(8, 1);
  find = () => Promise.resolve(undefined);
  await recognize("forged");
  expect(await reasonOf(recognize("another", { optional: true }))).toBe("RATE_LIMITED");
  expect(steps).toEqual(["find forged", "take address:192.0.2.1"]);
});
