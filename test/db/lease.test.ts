// The lease on the primary, by a clock of the test's own: when reads are current, and when a write may be acknowledged.
import { beforeEach, describe, expect, test } from "vitest";
import type { Lease, Term } from "../../src/db/lease.ts";
import { createLease } from "../../src/db/lease.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";

const unavailable = expect.objectContaining({ reason: Reason.UNAVAILABLE }) as unknown;
const [a, b] = [
  { address: "a", electionId: "1", alone: false },
  { address: "b", electionId: "2", alone: false },
];

let now: number;
let lease: Lease;
beforeEach(() => {
  now = 10_000;
  lease = createLease(() => now);
});

/** What `require` says: the term, or why there is none. */
function required(): Term | unknown {
  try {
    return lease.require();
  } catch (error) {
    return error;
  }
}

/** A proof that is requested now and returned by the leading member. */
const prove = (): void => lease.proven(lease.term(), now, lease.term()?.leader.electionId ?? "");

/** Brings the lease to where `a` is proven, long after its election. */
function hold(): Term {
  lease.observe(a);
  now += 2_000;
  prove();
  return lease.require();
}

describe("a set of several members", () => {
  test("gives no lease before a primary is known and has confirmed that it is the primary [CON-04]", () => {
    expect([required(), lease.status().reason]).toEqual([
      unavailable,
      "no primary is known: remove directConnection from MONGODB_URI, or name the primary",
    ]);
    lease.observe(a);
    now += 2_000;
    expect([required(), lease.status().reason]).toEqual([
      unavailable,
      "a has not confirmed for 1350 ms that it is primary",
    ]);
    prove();
    expect([lease.require().leader, lease.status().held]).toEqual([a, true]);
  });

  test("gives a lease of 1,350 ms from the instant before the confirmation was requested", () => {
    const term = hold();
    lease.proven(term, now + 100, "1");
    now += 1_449;
    expect(() => lease.confirm(term)).not.toThrow();
    now += 1;
    expect([required(), lease.status().held]).toEqual([unavailable, false]);
    expect(() => lease.confirm(term)).toThrow();
  });

  test("keeps the longer of two leases when confirmations arrive out of order", () => {
    const term = hold();
    lease.proven(term, now + 500, "1");
    lease.proven(term, now + 100, "1");
    now += 1_800;
    expect(lease.require()).toBe(term);
  });

  test("does not use a new primary for 1,400 ms after it was first seen, even if it confirms at once [CON-04]", () => {
    hold();
    lease.observe(b);
    prove();
    now += 1_300;
    prove();
    expect([required(), lease.status().reason]).toEqual([unavailable, "b became primary less than 1400 ms ago"]);
    now += 100;
    expect(lease.require().leader).toEqual(b);
  });

  test("also waits 1,400 ms before it uses the first primary that it sees, which may just have been elected", () => {
    lease.observe(a);
    prove();
    now += 1_399;
    expect(required()).toEqual(unavailable);
    now += 1;
    prove();
    expect(lease.require().leader).toEqual(a);
  });

  test("ignores a confirmation that was requested in an earlier term", () => {
    const before = hold();
    lease.observe(b);
    now += 1_400;
    lease.proven(before, now, "1");
    lease.proven(undefined, now, "2");
    expect(required()).toEqual(unavailable);
  });

  test("does not confirm a read of another term, although both terms are confirmed", () => {
    const before = hold();
    lease.observe(b);
    now += 1_400;
    prove();
    expect(() => lease.confirm(lease.require())).not.toThrow();
    expect(() => lease.confirm(before)).toThrow();
  });

  test("treats the same member as another term after it was elected again", () => {
    const before = hold();
    lease.observe({ ...a, electionId: "3" });
    expect(lease.term()).not.toBe(before);
    expect(required()).toEqual(unavailable);
  });

  test("keeps the lease while the primary is briefly not visible, and while nothing changes", () => {
    const term = hold();
    lease.observe(undefined);
    lease.observe({ ...a });
    expect(lease.require()).toBe(term);
  });

  test("ignores a confirmation of a member that was elected again unseen: another may have led in between [CON-04]", () => {
    const term = hold();
    now += 1_000;
    lease.proven(term, now, "3");
    now += 350;
    expect(required()).toEqual(unavailable);
  });
});

describe("a set of one member", () => {
  const [alone, restarted] = [
    { ...a, alone: true },
    { ...a, electionId: "2", alone: true },
  ];

  test("needs no confirmation at first, and no time after its election", () => {
    lease.observe(alone);
    now += 2_999;
    expect(lease.require().leader).toEqual(alone);
  });

  test("is not waited for after it has not responded for 3 seconds, until it responds again [OPS-24]", () => {
    lease.observe(alone);
    prove();
    now += 3_000;
    expect([required(), lease.status().reason]).toEqual([unavailable, "a has not replied for 3000 ms"]);
    // That the driver sees it again is no response yet, unless it has restarted.
    lease.observe(alone);
    expect(lease.status().held).toBe(false);
    prove();
    expect(lease.require().leader).toEqual(alone);
  });

  test("an error counts as a response [OPS-24]", () => {
    lease.observe(alone);
    const term = lease.term();
    now += 2_000;
    lease.rejected(term, "MaxTimeMSExpired", false);
    now += 2_999;
    expect(lease.require().leader).toEqual(alone);
    now += 1;
    expect(required()).toEqual(unavailable);
  });

  test("confirms what was read before and after a restart", () => {
    lease.observe(alone);
    prove();
    const term = lease.require();
    lease.observe(restarted);
    prove();
    expect(() => lease.confirm(term)).not.toThrow();
  });

  test("needs confirmations as soon as its set has another member, without being treated as a new primary", () => {
    lease.observe(alone);
    prove();
    const term = lease.require();
    lease.observe({ ...alone, alone: false });
    expect([required(), lease.status().reason]).toEqual([
      unavailable,
      "a has not confirmed for 1350 ms that it is primary",
    ]);
    prove();
    expect(lease.require().usableAt).toBe(term.usableAt);
  });
});

test("reports why the primary rejects proofs, until it confirms again or another one leads", () => {
  hold();
  const notConfirmed = "a has not confirmed for 1350 ms that it is primary";
  const lose = (name: string, isDenied: boolean): string | undefined => {
    now += 1_350;
    lease.rejected(lease.term(), name, isDenied);
    return lease.status().reason;
  };
  expect(lose("NotWritablePrimary", false)).toBe(`${notConfirmed} (NotWritablePrimary)`);
  prove();
  now += 1_350;
  expect(lease.status().reason).toBe(notConfirmed);
  const denied = "the user of MONGODB_URI may not read the database (Unauthorized): grant it readWrite there";
  expect(lose("Unauthorized", true)).toBe(denied);
  lease.observe(b);
  now += 1_400;
  expect(lease.status().reason).toBe("b has not confirmed for 1350 ms that it is primary");
  lease.rejected({ leader: a, usableAt: 0 }, "Unauthorized", true);
  expect(lease.status().reason).toBe("b has not confirmed for 1350 ms that it is primary");
});

test("a member that alone can lead and denies proofs for 3 seconds is not used, until it confirms [OPS-15]", () => {
  lease.observe({ ...a, alone: true });
  now += 2_999;
  lease.rejected(lease.term(), "Unauthorized", true);
  expect(lease.status().held).toBe(true);
  now += 1;
  expect(lease.status().reason).toMatch(/^the user of MONGODB_URI may not read the database \(Unauthorized\)/);
  prove();
  now += 3_000;
  expect(lease.status().reason).toBe("a has not replied for 3000 ms");
});

test("reports since when the lease is held or lost, and why it is lost", () => {
  const before = lease.status();
  expect(before).toMatchObject({
    held: false,
    reason: "no primary is known: remove directConnection from MONGODB_URI, or name the primary",
  });
  hold();
  const held = lease.status();
  expect(held).toEqual({ held: true, since: expect.any(Number) as unknown, reason: undefined });
  expect(held.since).toBeGreaterThanOrEqual(before.since);
  expect(lease.status()).toBe(held);
});
