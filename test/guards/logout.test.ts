// The guard of back-channel logouts over test doubles: which bucket a logout token takes from.
import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { deadlineIn } from "../../src/call/deadline.ts";
import { fail } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { unlimited } from "../../src/guards/capacity.ts";
import { createRecognizer } from "../../src/guards/credentials.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import type { EnterLogout, NamedByLogout } from "../../src/guards/logout.ts";
import { createEnterLogout } from "../../src/guards/logout.ts";
import { createReceiveUnidentified } from "../../src/guards/unidentified-body.ts";
import type { Inbound } from "../../src/call/dispatch.ts";
import { reasonOf } from "./made.ts";

const inbound = { address: "192.0.2.1" } as Inbound;
let buckets: string[];
let served: NamedByLogout[];
let credentials: string[];
let enter: EnterLogout<NamedByLogout>;

beforeEach(() => {
  [buckets, served, credentials] = [[], [], []];
  const parts = {
    throttle: (bucket: string): Promise<void> => Promise.resolve(void buckets.push(bucket)),
    lookUps: createKnownBuckets({ rate: 0.001, burst: 2 }),
    capacity: unlimited,
    onRejectedLookUp: () => undefined,
  };
  const capacity: typeof unlimited = {
    ...unlimited,
    run: (credential, deadline, work) => (credentials.push(credential), unlimited.run(credential, deadline, work)),
  };
  enter = createEnterLogout(
    (bucketOf) => createRecognizer(parts, bucketOf),
    capacity,
    createReceiveUnidentified(parts),
  );
});

const serve = (logout: NamedByLogout): Promise<void> => Promise.resolve(void served.push(logout));
const send = (verify: () => Promise<NamedByLogout>): Promise<void> =>
  enter(inbound, deadlineIn(4_000), () => Promise.resolve(randomUUID()), verify, serve);
const named = (sid: string | undefined, subject: string | undefined, issuer = "https://id.example"): NamedByLogout => ({
  issuer,
  sid,
  subject,
});

test("fails as the verification does if the provider cannot be reached, and does not count that as an invalid token [DSH-04]", async () => {
  const unreachable = (): Promise<never> => Promise.resolve().then(() => fail(Reason.UNAVAILABLE));
  for (let turn = 0; turn < 4; turn++) expect(await reasonOf(send(unreachable))).toBe("UNAVAILABLE");
  expect(served).toEqual([]);
  await send(() => Promise.resolve(named("a", undefined)));
  expect(served).toHaveLength(1);
});

test("a body that does not arrive completely takes from the address's bucket, and only a few may be on their way [RTE-20, DSH-04]", async () => {
  const verify = (): Promise<NamedByLogout> => Promise.resolve(named("a", undefined));
  const slow = (): Promise<never> => Promise.resolve().then(() => fail(Reason.REQUEST_TIMEOUT));
  const receive = vi.fn(slow);
  for (let turn = 0; turn < 2; turn++)
    expect(await reasonOf(enter(inbound, deadlineIn(4_000), receive, verify, serve))).toBe("REQUEST_TIMEOUT");
  expect(buckets).toEqual(["address:192.0.2.1", "address:192.0.2.1"]);
  // The third is rejected before its body is received, and takes no token.
  expect(await reasonOf(enter(inbound, deadlineIn(4_000), receive, verify, serve))).toBe("RATE_LIMITED");
  expect([receive.mock.calls.length, buckets.length, served]).toEqual([2, 2, []]);
  const other = { address: "192.0.2.2" } as Inbound;
  await enter(other, deadlineIn(4_000), () => Promise.resolve("a token"), verify, serve);
  expect(served).toEqual([named("a", undefined)]);
});

test("bodies that are still arriving count, and those that have arrived do not [RTE-20, DSH-04]", async () => {
  const verify = (): Promise<NamedByLogout> => Promise.resolve(named("a", undefined));
  const arrivals: ((token: string) => void)[] = [];
  const arriving: Promise<void>[] = [];
  await new Promise<void>((bothBegan) => {
    const receive = (): Promise<string> =>
      new Promise((resolve) => {
        if (arrivals.push(resolve) === 2) bothBegan();
      });
    for (let turn = 0; turn < 2; turn++) arriving.push(enter(inbound, deadlineIn(4_000), receive, verify, serve));
  });
  const receive = (): Promise<never> => Promise.reject(new Error("no body is received"));
  expect(await reasonOf(enter(inbound, deadlineIn(4_000), receive, verify, serve))).toBe("RATE_LIMITED");
  for (const arrive of arrivals) arrive(randomUUID());
  await Promise.all(arriving);
  for (let turn = 0; turn < 4; turn++) await send(verify);
  expect([served.length, buckets.some((bucket) => bucket.startsWith("address:"))]).toEqual([6, false]);
});
