// Lease on the primary: while it lasts, no other member can have acknowledged a write that this primary does not show.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";

/**
 * How long a proof counts, from the moment before it was requested. A proof is a linearizable read: it succeeds only on
 * a member that was primary after the request was sent.
 */
export const leaseMs = 1_350;
/**
 * How long a new primary is left alone after this instance first saw it: by then every lease on the one before has run
 * out, in every instance. It exceeds the lease by more than clocks can drift apart in that time.
 */
const handoverMs = 1_400;

/**
 * How long a primary that nobody else can replace may leave proofs without a response. Its reads are current whenever
 * it responds, so that this only decides when requests stop waiting for it.
 */
const silenceMs = 3_000;

/** The member that leads, as the driver knows it. */
export interface Leader {
  readonly address: string;
  /** Names the election that it won. */
  readonly electionId: string;
  /** True where nobody else can win an election: the only member of its set, or a mongos, which hides them. */
  readonly alone: boolean;
}

/** The time in which one member leads: from one election to the next. */
export interface Term {
  readonly leader: Leader;
  /** From when on requests may use it, in milliseconds of the lease's clock. */
  readonly usableAt: number;
}

/** What an operator needs to know of the lease. */
export interface LeaseStatus {
  readonly held: boolean;
  /** Since when it is so, in milliseconds since 1970. */
  readonly since: number;
  /** Why there is none. */
  readonly reason: string | undefined;
}

/** The lease of one instance. Times are milliseconds of its monotonic clock. */
export interface Lease {
  /** Takes note of the primary that the driver sees now. Undefined while it sees none. */
  observe(leader: Leader | undefined): void;
  /**
   * Takes note of a proof whose request was sent at `sentAt`, when `term` was the current one. It counts where the
   * member itself says afterwards that it still leads by the same election: that an instance has not seen another is
   * no proof.
   */
  proven(term: Term | undefined, sentAt: number, electionId: string): void;
  /** Takes note that the member of the term has just responded, if only with an error. */
  replied(term: Term | undefined): void;
  /** The current term, proven or not. */
  term(): Term | undefined;
  /** The current term. Fails with UNAVAILABLE unless the lease on it is held. */
  require(): Term;
  /**
   * Fails with UNAVAILABLE unless the lease is held, and was on `term`: for what was read since `term` was required.
   */
  confirm(term: Term): void;
  status(): LeaseStatus;
}

/** A lease that nobody has yet. */
export function createLease(now: () => number = () => performance.now()): Lease {
  let term: Term | undefined;
  let provenUntil = -Infinity;
  let repliedUntil = -Infinity;
  let reported: LeaseStatus = { held: false, since: Date.now(), reason: "no primary is known yet" };

  function missing(): string | undefined {
    const time = now();
    if (term === undefined) return "no primary is known";
    if (term.leader.alone)
      return time < repliedUntil ? undefined : `${term.leader.address} has not replied for ${silenceMs} ms`;
    if (time < term.usableAt) return `${term.leader.address} became primary less than ${handoverMs} ms ago`;
    if (time >= provenUntil) return `${term.leader.address} has not confirmed for ${leaseMs} ms that it is primary`;
    return undefined;
  }

  function replied(since: Term | undefined): void {
    if (since !== undefined && since === term) repliedUntil = now() + silenceMs;
  }

  return {
    observe(leader) {
      // A primary that cannot be reached for a moment leads on: its lease says for how long.
      if (leader === undefined || (term !== undefined && sameTerm(term.leader, leader))) return;
      // A set that gains or loses a member keeps its primary.
      const before = term?.leader.electionId === leader.electionId ? term : undefined;
      term = { leader, usableAt: before?.usableAt ?? (leader.alone ? now() : now() + handoverMs) };
      provenUntil = -Infinity;
      repliedUntil = now() + silenceMs;
    },
    proven(provenTerm, sentAt, electionId) {
      if (provenTerm === undefined || provenTerm !== term || electionId !== term.leader.electionId) return;
      provenUntil = Math.max(provenUntil, sentAt + leaseMs);
      replied(provenTerm);
    },
    replied,
    term: () => term,
    require() {
      return missing() === undefined && term !== undefined ? term : unavailable();
    },
    confirm(since) {
      // Where nobody else can lead, a restart takes nothing back that was acknowledged.
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

function sameTerm(one: Leader, other: Leader): boolean {
  return one.address === other.address && one.electionId === other.electionId && one.alone === other.alone;
}

/** Without a cause: the log says once that the lease is lost, and not for every request. */
function unavailable(): never {
  return fail(Reason.UNAVAILABLE, { because: "no lease", waitingFor: "the primary's lease" });
}
