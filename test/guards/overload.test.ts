// Load shedding over fake dependencies: which requests are rejected from memory, and which bucket they take from.
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Arrived, ArrivedAt } from "../../src/call/dispatch.ts";
import type { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { BoundedCapacity } from "../../src/guards/capacity.ts";
import { createCapacity, unlimited } from "../../src/guards/capacity.ts";
import type { Presumption } from "../../src/guards/credentials.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import { createShedding } from "../../src/guards/shedding.ts";
import { makeAssistant, token } from "./made-assistant.ts";
import { waiting } from "./made.ts";

let capacity: BoundedCapacity;
let presumed: Presumption | undefined;
let counted: string[];
let lookUpWaitMs: number;
let shed: (bucket?: ArrivedAt["bucket"] | "none", onTurn?: Arrived["onTurn"]) => Failure | undefined;

beforeEach(() => make(2));

function make(slots: number): void {
  capacity = createCapacity(slots, () => undefined, waiting(0));
  presumed = undefined;
  counted = [];
  const known = createKnownBuckets({ rate: 0.001, burst: 4 });
  lookUpWaitMs = 0;
  const decide = createShedding({
    capacity,
    buckets: { someEmpty: () => known.count() > 0, wait: known.wait, debit: known.debit },
    waitForLookUp: () => lookUpWaitMs,
    presume: () => presumed,
    onOverload: () => void counted.push("overload"),
    onRemembered: () => void counted.push("remembered"),
  });
  shed = (bucket = "caller", onTurn) =>
    decide({
      header: () => undefined,
      address: () => "192.0.2.1",
      target: () => ({ isMcp: false, bucket: bucket === "none" ? undefined : bucket }),
      onTurn,
    });
}

/** Counts as a request in progress until the returned function is called, or the test has finished. */
function occupy(credential: "verified" | "unverified" = "verified"): () => Promise<void> {
  let finish = (): void => undefined;
  const work = capacity.identify(credential, () => new Promise<void>((resolve) => (finish = resolve)));
  const end = (): Promise<void> => (finish(), work);
  onTestFinished(end);
  return end;
}

const overloaded = { reason: Reason.UNAVAILABLE, message: "The service is handling too many requests. Try again." };

test("requests that wait for their turn count like those in progress, and one caller gets two thirds of the places [RTE-22]", () => {
  make(4);
  const turns: (() => void)[] = [];
  const arrive = (account?: string): Failure | undefined => {
    presumed = account === undefined ? undefined : { bucket: `account:${account}`, isOverdue: false };
    return shed("caller", (call) => void turns.push(call));
  };
  shed("other", () => expect.unreachable("a document takes no place"));
  expect([arrive(), arrive(), arrive()]).toMatchObject([undefined, undefined, overloaded]);
  expect([arrive("a"), arrive("a"), arrive("a")]).toMatchObject([undefined, undefined, overloaded]);
  expect([arrive("b"), arrive("c")]).toMatchObject([undefined, overloaded]);
  // A turn can be reported twice: when it comes, and when the stream closes.
  for (let count = 0; count < 2; count++) turns.at(-1)?.();
  expect([arrive("c"), arrive("b")]).toMatchObject([undefined, overloaded]);
});

test("the tokens in a bucket are for the requests that wait for their turn, so rejecting another one takes none from them [RTE-01, RTE-22]", () => {
  make(4);
  presumed = { bucket: "account:a", isOverdue: false };
  const arrive = (): Failure | undefined => shed("caller", () => undefined);
  expect([arrive(), arrive()]).toEqual([undefined, undefined]);
  expect([arrive(), arrive(), arrive(), arrive()]).toMatchObject([
    overloaded,
    overloaded,
    { reason: Reason.RATE_LIMITED, retryAfterSeconds: 1_000 },
    { reason: Reason.RATE_LIMITED, retryAfterSeconds: 1_000 },
  ]);
  presumed = { bucket: "account:b", isOverdue: false };
  expect(arrive()).toBeUndefined();
});

test("while too many requests are in progress, each further one is 503 and takes a token, and 429 once its bucket is empty [RTE-22, RTE-04]", () => {
  presumed = { bucket: "account:a", isOverdue: false };
  expect(shed()).toBeUndefined();
  occupy();
  occupy();
  for (let turn = 0; turn < 4; turn++) expect(shed()).toMatchObject({ ...overloaded, retryAfterSeconds: undefined });
  expect(shed()).toMatchObject({ reason: Reason.RATE_LIMITED, retryAfterSeconds: 1_000 });
  expect(counted).toEqual(["overload", "overload", "overload", "overload", "remembered"]);
  presumed = { bucket: "account:b", isOverdue: false };
  expect(shed()).toMatchObject(overloaded);
});

test("a request whose bucket is known to be empty is 429 although the instance is idle [RTE-22]", async () => {
  const ends = [occupy(), occupy("unverified")];
  for (let turn = 0; turn < 4; turn++) shed();
  for (const end of ends) await end();
  expect(shed()).toMatchObject({ reason: Reason.RATE_LIMITED });
  presumed = { bucket: undefined, isOverdue: false };
  expect(shed()).toMatchObject({ reason: Reason.RATE_LIMITED });
});

test("a health check is served, however many requests are in progress [HLT-04]", () => {
  for (const credential of ["verified", "verified", "unverified"] as const) occupy(credential);
  expect(shed("none")).toBeUndefined();
});

test("unknown callers are rejected at half of the slots, and known ones are not [RTE-23]", () => {
  occupy("unverified");
  expect(shed()).toMatchObject(overloaded);
  presumed = "unknown";
  expect(shed()).toMatchObject(overloaded);
  presumed = { bucket: "account:a", isOverdue: false };
  expect(shed()).toBeUndefined();
});

test("an unknown credential is 429, not 503, while too many look-ups of its address have failed [RTE-20, RTE-22]", () => {
  occupy("unverified");
  lookUpWaitMs = 1_500;
  expect(shed()).toMatchObject(overloaded);
  presumed = "unknown";
  expect(shed()).toMatchObject({ reason: Reason.RATE_LIMITED, retryAfterSeconds: 2 });
  presumed = { bucket: "account:a", isOverdue: false };
  expect(shed()).toBeUndefined();
});

test("a credential that may be valid is not 429 because the bucket of its address is empty [RTE-09, RTE-21]", async () => {
  const ends = [occupy(), occupy("unverified")];
  for (let turn = 0; turn < 4; turn++) shed();
  for (const end of ends) await end();
  expect(shed()).toMatchObject({ reason: Reason.RATE_LIMITED });
  presumed = "unknown";
  expect(shed()).toBeUndefined();
  presumed = { bucket: undefined, isOverdue: true };
  expect(shed()).toBeUndefined();
});

test("a request for a page takes no token when it is rejected, and is not throttled [RTE-22, RTE-24]", () => {
  occupy("unverified");
  for (let turn = 0; turn < 5; turn++) expect(shed("other")).toMatchObject(overloaded);
  expect(shed()).toMatchObject(overloaded);
  [presumed, lookUpWaitMs] = ["unknown", 1_500];
  expect(shed("other")).toMatchObject(overloaded);
  presumed = { bucket: "account:a", isOverdue: false };
  expect(shed("other", () => expect.unreachable("a page takes no place"))).toBeUndefined();
});

test("an access token is looked up in a slot for unknown callers at first, and then in one for known callers [RTE-22]", async () => {
  const slots: string[] = [];
  const { parts, access } = makeAssistant({
    ...unlimited,
    run: (credential, _deadline, work) => {
      slots.push(credential);
      return work();
    },
  });
  const { prove } = await access.enter(parts.inbound(token));
  await prove();
  expect(slots).toEqual(["unverified", "verified"]);
});
