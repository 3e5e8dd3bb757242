// The controls of the histories drill: each removes one part of the service's consistency, under the nemesis that
// reveals it.
import type { Control } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { RoundPlan } from "./round.ts";
import { runHistories } from "./rounds.ts";

/** A bug, and the violations that must reveal it. */
interface Planned {
  readonly broken: string;
  /** The source changes. */
  readonly breaks: readonly Break[];
  readonly rounds: readonly RoundPlan[];
  /** The violations that count. Others are ignored. */
  readonly seen: RegExp;
}

const forced: RoundPlan = { nemesis: "side cut, forced election", electionMs: 10_000 };
const brief: RoundPlan = { nemesis: "brief side cut, forced election", electionMs: 10_000 };

const localReads: Break = {
  from: 'readConcernLevel: "majority",',
  to: 'readConcernLevel: "local",',
};
const noLease: readonly Break[] = [
  { from: "if (time < provenUntil) return undefined;", to: "if (time >= 0) return undefined;" },
  { from: "    if (time < term.usableAt) return", to: "    if (time < 0) return" },
  { from: "  primary.confirm(term);\n", to: "" },
];

const planned: readonly Planned[] = [
  {
    broken: "an instance reads from its primary without a lease",
    breaks: noLease,
    rounds: [forced],
    seen: /^(stale|served after)/,
  },
  {
    // Breaks reads too: an update based on majority-committed data never conflicts with another branch.
    broken: "an update compares a counter, which both branches of a cut can reach, instead of the revision",
    breaks: [
      localReads,
      ...noLease,
      {
        from: "...changes,\n          version: newRevision(),",
        to: "...changes,\n          version: before.version + 1,",
      },
    ],
    rounds: [brief, brief, brief, brief],
    seen: /^lost/,
  },
  {
    broken: "reads return data that no majority has",
    breaks: [localReads, ...noLease],
    rounds: [forced, forced],
    seen: /^dirty/,
  },
  {
    broken: "a write is retried after its caller got a response",
    breaks: [
      { from: "onPassed(deadline, () => endSession(client, session))", to: "() => undefined" },
      {
        from: "    requireNotPast(deadline);\n    session.startTransaction",
        to: "    session.startTransaction",
      },
      {
        from: "      requireNotPast(deadline);\n      await commitTransaction",
        to: "      await commitTransaction",
      },
      {
        from: "|| isInterrupted(error)) || isPast(deadline)) throw error;",
        to: "|| isInterrupted(error))) throw error;",
      },
      {
        from: "if (!isCommitResultUnknown(error) || isPast(deadline)) throw error;",
        to: "if (!isCommitResultUnknown(error)) throw error;",
      },
    ],
    rounds: [forced, { nemesis: "side cut", electionMs: 10_000 }],
    seen: /^late effect/,
  },
];

export const controls: readonly Control[] = planned.map(({ broken, breaks, rounds, seen }) =>
  brokenControl(broken, breaks, async (build, say) => {
    const { figures, violations } = await runHistories(rounds, say, build);
    // Only the named violations count, so the round need not provoke two primaries.
    return { figures, violations: violations.filter((violation) => seen.test(violation)) };
  }),
);
