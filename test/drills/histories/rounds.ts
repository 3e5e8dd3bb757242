// Runs the rounds of a drill on one site and reports on all of them.
import type { Report, Say } from "../drill.ts";
import { outcomesOf } from "./checker.ts";
import { keepHistories } from "./kept.ts";
import type { NemesisName } from "./nemeses.ts";
import { createHistory } from "./operation.ts";
import type { RoundOutcome, RoundPlan } from "./round.ts";
import { runRound } from "./round.ts";
import { onPartitionableSite } from "./site.ts";
import { violationFigures, violationLines } from "./violations.ts";

/** Two members have to lead for so long, in one round at least: otherwise nothing was put to the test. */
const provokedMs = 1_000;

/**
 * Runs rounds on one site and reports what was wrong in any of them. `environment` are settings of instances that are
 * broken.
 */
export async function runHistories(
  rounds: readonly RoundPlan[],
  say: Say,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const failures: string[] = [];
  // A response of 500 says nothing of its cause: the log does.
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
 * Whether all that a round does is to change the primary: while an instance is stopped or cut off, or a switch is off,
 * the clients of that instance write nothing for other reasons.
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
      "two primaries at most, ms": overlap,
      "until everything was served after the last fault, at most, ms": longest(({ recoveryMs }) => recoveryMs),
      "failovers without anything else": failovers.length,
      "no acknowledged write for longer than MongoDB's own client, at most, ms": Math.max(0, ...failovers),
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
    kinds === "" ? "nothing wrong" : kinds,
  ].join("; ");
}
