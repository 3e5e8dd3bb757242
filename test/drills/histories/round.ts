// Runs a round: creates its contacts and users, starts clients on every instance, applies a nemesis, waits for
// recovery, and checks the history.
import { setTimeout as sleep } from "node:timers/promises";
import type { Say } from "../drill.ts";
import { createCalls } from "./calls.ts";
import { crossedWriters } from "./writers.ts";
import { checkRound } from "./checker.ts";
import type { NemesisName } from "./nemeses.ts";
import { nemeses } from "./nemeses.ts";
import type { History } from "./operation.ts";
import { now } from "./operation.ts";
import { lastEntry, readCommitted } from "./oplog.ts";
import { overlapMs } from "./primaries.ts";
import type { Standstill } from "./records-checker.ts";
import type { Round } from "./registers.ts";
import type { Scene } from "./scene.ts";
import type { Site } from "./site.ts";
import { toggle } from "./switches.ts";
import type { SwitchName } from "./switches.ts";
import { settled } from "./settled.ts";
import { prepare, startClients } from "./stage.ts";
import type { Violation } from "./violations.ts";

export interface RoundPlan {
  readonly nemesis: NemesisName;
  /** Applies the nemesis twice in a row. */
  readonly twice?: boolean;
  readonly electionMs: 2_000 | 5_000 | 10_000;
  /** How many instances are on the side of the old primary; 1 by default. */
  readonly onPrimarySide?: 1 | 2;
  /** The switch to turn off and on during the fault. */
  readonly switch?: SwitchName;
}

export interface RoundOutcome {
  readonly violations: readonly Violation[];
  readonly history: History;
  /** How long two members led at once. */
  readonly overlapMs: number;
  /** From the last fault until the last failed request. */
  readonly recoveryMs: number;
  /** How much longer than the plain client's the writes of the service were interrupted. */
  readonly beyondMs: number;
  readonly requestsPerSecond: number;
}

/**
 * Runs a round and records its operations in the history. `failures` collects the instances' log lines about failures.
 */
export async function runRound(
  site: Site,
  number: number,
  plan: RoundPlan,
  history: History,
  failures: string[],
  say: Say,
): Promise<RoundOutcome> {
  const since = await lastEntry(site.fixture.client);
  const stage = await prepare(site, number);
  const calls = createCalls(site, history);
  let running = true;
  const round: Round = { number, calls, instances: site.instances, running: () => running };
  const begun = now();
  const clients = startClients({ site, history }, round, stage);
  const standstills: Standstill[] = [];
  let faultAt = 0;
  let healedAt = 0;
  try {
    await sleep(1_500);
    for (let time = 0; time < (plan.twice === true ? 2 : 1); time++) {
      let switched = plan.switch === undefined || time > 0;
      const scene: Scene = {
        site,
        standstills,
        electionMs: plan.electionMs,
        onPrimarySide: plan.onPrimarySide ?? 1,
        divided: (alone, many) =>
          void clients.push(...stage.crossed.map((register) => crossedWriters(round, register, alone, many))),
        async meanwhile(ms, instances) {
          const work = switched
            ? undefined
            : sleep(ms * 0.4).then(() => toggle(calls, plan.switch as SwitchName, instances));
          switched = true;
          await Promise.all([sleep(ms), work]);
        },
      };
      faultAt = now();
      const meanwhile = plan.switch === undefined ? "" : `, ${plan.switch} turned off meanwhile`;
      say(`round ${number}: ${plan.nemesis}, election timeout ${plan.electionMs / 1_000} s${meanwhile}`);
      await nemeses[plan.nemesis](scene);
    }
    healedAt = await settled(site, history, now());
  } finally {
    site.network.heal();
    running = false;
    await Promise.all(clients);
    calls.close();
  }
  const seconds = (now() - begun) / 1_000;
  // Waits for late writes, so that the check sees them.
  await sleep(1_500);
  const { quiet, crossed, renamed, noted, ingested } = stage;
  const registers = [...quiet, ...crossed, ...renamed.flat(), ...noted.flat(), ...ingested.flat()];
  const committed = await readCommitted(site.fixture.client, since);
  const checked = checkRound({
    site,
    history,
    registers,
    committed,
    standstills,
    healedAt,
    faultAt,
    failures: failures.splice(0),
  });
  return {
    ...checked,
    history,
    overlapMs: overlapMs(site.primaries.claims, begun),
    requestsPerSecond: history.operations.length / seconds,
  };
}
