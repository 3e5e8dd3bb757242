// The steps of a run: replacements forward and back, with faults in between.
import { setTimeout as sleep } from "node:timers/promises";
import type { Form, Say } from "../drill.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { faultsOn } from "../kills/faults.ts";
import type { Fleet } from "./fleet.ts";
import type { Window } from "./traffic.ts";

/** `forward` replaces an old instance with a new one, `back` does the reverse, and a `kill` kills one. */
export type Step = "forward" | "back" | "old kill" | "new kill" | "primary kill" | "stepdown" | "Redis flush";

export interface Plan {
  readonly members: 1 | 3;
  readonly instances: number;
  /** The pause before each step and after the last one. */
  readonly pauseMs: number;
  readonly steps: readonly Step[];
}

/** Three forward, then three back, among faults. */
const round: readonly Step[] = [
  ...([
    "Redis flush",
    "forward",
    "primary kill",
    "old kill",
    "forward",
    "stepdown",
    "new kill",
    "Redis flush",
    "forward",
  ] as const),
  ...([
    "new kill",
    "primary kill",
    "back",
    "Redis flush",
    "stepdown",
    "new kill",
    "back",
    "primary kill",
    "old kill",
    "back",
    "stepdown",
  ] as const),
];

export const plans: Record<Form, Plan> = {
  long: { members: 3, instances: 3, pauseMs: 4_000, steps: [...round, ...round] },
  short: {
    members: 3,
    instances: 2,
    pauseMs: 500,
    steps: ["forward", "primary kill", "forward", "back", "new kill"],
  },
};

/** The plan of a control: both versions side by side, without faults. */
export const controlPlan: Plan = { members: 1, instances: 2, pauseMs: 3_000, steps: ["forward"] };

/** The time limit of a request, and how long the transactions of a killed instance may hold locks. */
const settleMs = 6_000;

/** Carries out the steps and adds a window for each fault. Returns descriptions of failed replacements. */
export async function carryOut(
  { steps, pauseMs }: Plan,
  fixture: Fixture,
  fleet: Fleet,
  windows: Window[],
  say: Say,
): Promise<string[]> {
  const faults = faultsOn(fixture, () => 0, 0);
  const wrong: string[] = [];

  async function replaced(by: "old" | "new"): Promise<void> {
    const code = await fleet.replace(by);
    if (code !== 0) wrong.push(`an instance ended with ${String(code)} on SIGTERM`);
  }
  const actions: Record<Step, () => Promise<void>> = {
    ...faults,
    forward: () => replaced("new"),
    back: () => replaced("old"),
    "old kill": () => fleet.killOne("old"),
    "new kill": () => fleet.killOne("new"),
  };
  /** Steps that must not cause any failure. */
  const silent = new Set<Step>(["forward", "back", "Redis flush"]);

  for (const step of steps) {
    await sleep(pauseMs);
    const from = performance.now();
    const window = { from, to: Infinity };
    if (!silent.has(step)) windows.push(window);
    await actions[step]();
    window.to = performance.now() + settleMs;
    say(
      `${step}: ${fleet
        .serving()
        .map(({ version }) => version)
        .join(", ")} serve (${((performance.now() - from) / 1_000).toFixed(1)} s)`,
    );
  }
  await sleep(pauseMs);
  return wrong;
}
