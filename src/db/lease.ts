// Lease on the primary: while it lasts, no other member can have acknowledged a write that this primary does not show.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../call/errors.ts";

/**
 * How long a proof is valid, counted from before its request was sent. A proof is a linearizable read: it succeeds only
 * on a member that was primary after the request was sent.
 */
export const leaseMs = 1_350;
/**
 * How long an instance waits before it uses a new primary: by then, every instance's lease on the previous one has
 * expired. It exceeds the lease by more than clocks can drift apart in that time.
 */
const handoverMs = 1_400;

/**
 * How long proofs may stay without a response from a primary that no other member can replace. Its reads are current
 * whenever it responds, so this only limits how long requests wait for it.
 */
const silenceMs = 3_000;

/** The primary as the driver sees it. */
export interface Leader {
  readonly address: string;
  /** Identifies the election that the member won. */
  readonly electionId: string;
  /** True if no other member can win an election: the set has one member, or a mongos hides its members. */
  readonly alone: boolean;
}

/** The period in which one member leads, from one election to the next. */
export interface Term {
  readonly leader: Leader;
  /** When requests may start to use it, in milliseconds of the lease's clock. */
  readonly usableAt: number;
}

/** The state of the lease, for operators. */
export interface LeaseStatus {
  readonly held: boolean;
  /** When this state began, in milliseconds since 1970. */
  readonly since: number;
  /** Why the lease is not held. */
  readonly reason: string | undefined;
}

/** The lease of one instance. Times are milliseconds of its monotonic clock. */
export interface Lease {
  /** Records the primary that the driver currently sees; undefined if it sees none. */
  observe(leader: Leader | undefined): void;
  /**
   * Records a proof whose request was sent at `sentAt`, when `term` was the current one. It counts only if the member
   * itself confirms afterwards that it still leads by the same election: not having seen another election proves
   * nothing.
   */
  proven(term: Term | undefined, sentAt: number, electionId: string): void;
  /**
   * Records that the member of the term has just rejected a proof with an error of this name. The user lacks the right
   * to read if it `isDenied`, so that no request can be served.
   */
  rejected(term: Term | undefined, name: string, isDenied: boolean): void;
  /** Returns the current term, whether proven or not. */
  term(): Term | undefined;
  /** Returns the current term. Fails with UNAVAILABLE unless its lease is held. */
  require(): Term;
  /** Fails with UNAVAILABLE unless the lease is held on `term`. Call it after a read that began with `require`. */
  confirm(term: Term): void;
  status(): LeaseStatus;
}

/**
 * Creates a lease that is not held yet. `because` returns why requests fail without it, in a word or two for the log.
 */
export function createLease(now: () => number = () => performance.now(), because = () => "no lease"): Lease {
  let term: Term | undefined;
  let provenUntil = -Infinity;
  let repliedUntil = -Infinity;
  /** Why the last proof of the term failed, if the member said so. */
  let rejection: string | undefined;
  let reported: LeaseStatus = { held: false, since: Date.now(), reason: "no primary is known yet" };

  function missing(): string | undefined {
    const time = now();
    // The driver connects without a primary only to the one member that this option names.
    if (term === undefined) return "no primary is known: remove directConnection from MONGODB_URI, or name the primary";
    if (term.leader.alone)
      return time < repliedUntil
        ? undefined
        : (rejection ?? `${term.leader.address} has not replied for ${silenceMs} ms`);
    if (time < term.usableAt) return `${term.leader.address} became primary less than ${handoverMs} ms ago`;
    if (time < provenUntil) return undefined;
    return rejection ?? notConfirmed(term);
  }

  /** Fails without a cause: the log reports the loss of the lease once, and not for every request. */
  function unavailable(): never {
    return fail(Reason.UNAVAILABLE, { because: because(), waitingFor: "the primary's lease" });
  }

  function replied(since: Term): void {
    if (since === term) repliedUntil = now() + silenceMs;
  }

  return {
    observe(leader) {
      // An unreachable primary may still lead. Its lease limits for how long.
      if (leader === undefined || (term !== undefined && sameTerm(term.leader, leader))) return;
      // A set that gains or loses a member keeps its primary.
      const before = term?.leader.electionId === leader.electionId ? term : undefined;
      term = { leader, usableAt: before?.usableAt ?? (leader.alone ? now() : now() + handoverMs) };
      provenUntil = -Infinity;
      repliedUntil = now() + silenceMs;
      rejection = undefined;
    },
    proven(provenTerm, sentAt, electionId) {
      if (provenTerm === undefined || provenTerm !== term || electionId !== term.leader.electionId) return;
      provenUntil = Math.max(provenUntil, sentAt + leaseMs);
      rejection = undefined;
      replied(provenTerm);
    },
    rejected(since, name, isDenied) {
      if (since === undefined || since !== term) return;
      if (isDenied) {
        rejection = `the user of MONGODB_URI may not read the database (${name}): grant it readWrite there`;
        return;
      }
      replied(since);
      rejection = term.leader.alone ? undefined : `${notConfirmed(term)} (${name})`;
    },
    term: () => term,
    require() {
      return missing() === undefined && term !== undefined ? term : unavailable();
    },
    confirm(since) {
      // If no other member can lead, a restart does not undo acknowledged writes.
      const isSame = term === since || (term?.leader.alone === true && since.leader.alone);
      if (!isSame || missing() !== undefined) unavailable();
    },
    status() {
      const reason = missing();
      const held = reason === undefined;
      if (held !== reported.held) reported = { held, since: Date.now(), reason };
      else if (reason !== reported.reason) reported = { ...reported, reason };
      return reported;
    },
  };
}

function notConfirmed({ leader }: Term): string {
  return `${leader.address} has not confirmed for ${leaseMs} ms that it is primary`;
}

function sameTerm(one: Leader, other: Leader): boolean {
  return one.address === other.address && one.electionId === other.electionId && one.alone === other.alone;
}
