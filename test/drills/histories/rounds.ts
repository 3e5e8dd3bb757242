// Runs all rounds of a drill on one site.
import type { Report, Say } from "../drill.ts";
import { outcomesOf } from "./checker.ts";
import { keepHistories } from "./kept.ts";
import type { NemesisName } from "./nemeses.ts";
import { createHistory } from "./operation.ts";
import type { RoundOutcome, RoundPlan } from "./round.ts";
import { runRound } from "./round.ts";
import { onPartitionableSite } from "./site.ts";
import { violationFigures, violationLines } from "./violations.ts";

/** In at least one round, two members must lead for this long. Otherwise the run proves nothing. */
const provokedMs = 1_000;

/** Runs rounds on one site and reports all violations. `environment` has the settings of a control's instances. */
export async function runHistories(
  rounds: readonly RoundPlan[],
  say: Say,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const failures: string[] = [];
  // A 500 does not reveal its cause, but the log does.
  const onLogLine = (line: string): void => void (line.includes('"reason":"INTERNAL"') && failures.push(line));
  const kept = keepHistories();
  const outcomes: RoundOutcome[] = [];
  const failovers: number[] = [];
  let failed = true;
  try {
    await onPartitionableSite(environment, onLogLine, async (site) => {
      let electionMs = 2_000;
      for (const [number, plan] of rounds.entries()) {
        if (plan.electionMs !== electionMs) await site.setElectionTimeout((electionMs = plan.electionMs));
        const history = createHistory();
        try {
          const outcome = await runRound(site, number, plan, history, failures, say);
          outcomes.push(outcome);
          kept.keep(`round-${number}-violations`, outcome.violations);
          say(`  ${summaryOf(outcome)}`);
          if (isPlainFailover(plan)) failovers.push(outcome.beyondMs);
        } finally {
          kept.keep(`round-${number}`, history.operations);
        }
      }
    });
    const report = reportOf(outcomes, failovers);
    failed = [...report.violations, ...(report.unprovoked ?? [])].length > 0;
    return report;
  } finally {
    if (failed) say(`the histories are kept in ${kept.folder}`);
    else kept.remove();
  }
}

const failoverNemeses: readonly NemesisName[] = ["kill of the primary", "stepdown", "long freeze of the primary"];

/**
 * Whether a round only changes the primary. If an instance is stopped or cut off, or a switch is off, clients cannot
 * write for other reasons.
 */
function isPlainFailover({ nemesis, switch: switched }: RoundPlan): boolean {
  return switched === undefined && failoverNemeses.includes(nemesis);
}

function reportOf(outcomes: readonly RoundOutcome[], failovers: readonly number[]): Report {
  const violations = outcomes.flatMap((outcome, round) =>
    outcome.violations.map((violation) => ({ ...violation, text: `round ${round}: ${violation.text}` })),
  );
  const longest = (of: (outcome: RoundOutcome) => number): number => Math.max(0, ...outcomes.map(of));
  const overlap = longest((outcome) => outcome.overlapMs);
  return {
    figures: {
      rounds: outcomes.length,
      operations: outcomesOf(outcomes.flatMap(({ history }) => history.operations)),
      "operations a second":
        outcomes.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0) / Math.max(1, outcomes.length),
      "rounds with two primaries for a second": outcomes.filter((outcome) => outcome.overlapMs >= provokedMs).length,
      "longest time with two primaries, ms": overlap,
      "longest recovery after the last fault, ms": longest(({ recoveryMs }) => recoveryMs),
      "failovers without other faults": failovers.length,
      "longest delay of writes beyond MongoDB's own client, ms": Math.max(0, ...failovers),
      ...violationFigures(violations),
    },
    violations: violationLines(violations),
    unprovoked: overlap >= provokedMs ? [] : [`two members led for ${Math.round(overlap)} ms at most`],
  };
}

function summaryOf({ violations, history, overlapMs, recoveryMs, beyondMs, requestsPerSecond }: RoundOutcome): string {
  const kinds = Object.entries(violationFigures(violations))
    .map(([kind, figure]) => `${kind} ${figure}`)
    .join(", ");
  return [
    `${outcomesOf(history.operations)}, ${Math.round(requestsPerSecond)} a second`,
    `two primaries for ${Math.round(overlapMs)} ms`,
    `recovered after ${Math.round(recoveryMs)} ms`,
    `writes resumed ${Math.round(beyondMs)} ms after those of MongoDB's client`,
    kinds === "" ? "no violations" : kinds,
  ].join("; ");
}
