// The upgrade drill: runs instances of the previous release and of this code side by side, forward and back, under
// faults.
import { setTimeout as sleep } from "node:timers/promises";
import type { Drill, Report, RunOptions, Say } from "../drill.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { OlderCode } from "../../fixtures/service/older.ts";
import { programOf, withOlderCode } from "../../fixtures/service/older.ts";
import { brokenControl } from "../fixture/broken.ts";
import { dateAsNumber, losesUpdates } from "./breaks.ts";
import type { Version } from "./fleet.ts";
import { createFleet } from "./fleet.ts";
import { checkStories, unlessUnexpected } from "./checker.ts";
import type { Plan } from "./plan.ts";
import { carryOut, controlPlan, plans } from "./plan.ts";
import { knownFlaw, releasedCommit } from "./release.ts";
import { archivedStory } from "./stories/archived.ts";
import { changedStories } from "./stories/changed.ts";
import { createdStory } from "./stories/created.ts";
import { importedStory } from "./stories/imported.ts";
import { keysStory, provider } from "./stories/keys.ts";
import type { Scene, Story } from "./stories/story.ts";
import type { Window } from "./traffic.ts";
import { createTraffic } from "./traffic.ts";

/** The options of a run. Controls set the optional ones. */
interface UpgradeRun {
  readonly plan: Plan;
  readonly say: Say;
  readonly options: RunOptions | undefined;
  /** The environment of new instances with a bug. */
  readonly broken?: Readonly<Record<string, string>>;
  /** The violations that count for a control. */
  readonly seen?: RegExp;
}

export const upgrade: Drill = {
  name: "upgrade",
  promise: [
    "Instances of the previous release and this one run side by side: no errors except 503s that a fault explains,",
    "nothing lost, and the old version reads what the new one writes",
  ].join(" "),
  run: (form, say, options) => run({ plan: plans[form], say, options }),
  controls: [
    brokenControl(
      "the new version stores a date as a number, which the old one cannot read",
      dateAsNumber,
      (broken, say, options) => run({ plan: controlPlan, say, options, broken, seen: / to the old version got 500 / }),
    ),
    brokenControl("the new version overwrites concurrent updates of a contact", losesUpdates, (broken, say, options) =>
      run({ plan: controlPlan, say, options, broken, seen: / was read, and .* was written$/ }),
    ),
  ],
};

/** The pause between two steps of a client. */
const pauseMs = 40;

async function run({ plan, say, options, broken = {}, seen = /^/ }: UpgradeRun): Promise<Report> {
  return withOlderCode(options?.from ?? releasedCommit, async (older) => {
    say(`the old version is ${older.commit.slice(0, 12)}; dependencies: ${older.dependencies}`);
    const { violations, figures } = await sideBySide(plan, older, broken, say);
    return { violations: violations.filter((violation) => seen.test(violation)), figures };
  });
}

async function sideBySide(
  plan: Plan,
  older: OlderCode,
  broken: Readonly<Record<string, string>>,
  say: Say,
): Promise<Report> {
  const failures: string[] = [];
  // A 500 does not reveal its cause, but the log does.
  const collectFailures =
    (version: Version) =>
    (line: string): void => {
      if (!line.includes('"reason":"INTERNAL"') || (version === "old" && knownFlaw.test(line))) return;
      failures.push(`an instance of the ${version} version failed: ${line}`);
    };
  const settings = { LOG_LEVEL: "error", ...provider };
  const oldProgram = await programOf(older, ["test/fixtures/service/instance.ts", "test/faults/instance.ts"]);
  return withFixture(
    { members: plan.members, instances: 0, environment: settings, onLogLine: collectFailures("new") },
    async (fixture) => {
      const fleet = createFleet({
        fixture,
        oldProgram,
        environment: { old: settings, new: broken },
        onLogLine: collectFailures("old"),
      });
      const windows: Window[] = [];
      try {
        for (let at = 0; at < plan.instances; at++) await fleet.start("old");
        const traffic = createTraffic(fleet, windows);
        const scene: Scene = { traffic, account: await fixture.account() };
        const stories = [
          ...[createdStory(scene, "first"), createdStory(scene, "second"), importedStory(scene, "imported")],
          ...[...(await changedStories(scene, "busy")), ...(await changedStories(scene, "other"))],
          ...[await archivedStory(scene, "archived"), await keysStory(fixture, fleet, traffic)],
        ];
        let ended = false;
        const playing = Promise.allSettled(stories.map((story, at) => play(story, at, () => ended)));
        const wrong = await carryOut(plan, fixture, fleet, windows, say).finally(() => (ended = true));
        const played = await playing;
        for (const story of played) if (story.status === "rejected") throw story.reason;
        // The check needs both versions.
        for (const version of ["old", "new"] as const)
          if (!fleet.serving().some((member) => member.version === version)) await fleet.start(version);
        const steps = played.reduce((sum, story) => sum + (story.status === "fulfilled" ? story.value : 0), 0);
        say(`checking the outcome of ${steps} steps of ${stories.length} clients`);
        await checkStories(fixture, scene, stories);
        return {
          violations: [...failures, ...wrong, ...traffic.violations()],
          figures: { steps, ...traffic.figures() },
        };
      } finally {
        fleet.close();
      }
    },
  );
}

/** Plays a story until the end, alternating between the versions, and returns the number of steps. */
async function play(story: Story, at: number, isEnded: () => boolean): Promise<number> {
  let number = 0;
  try {
    for (; !isEnded(); number++) {
      const to: Version = (number + at) % 2 === 0 ? "old" : "new";
      await story.step(number, to);
      await sleep(pauseMs);
    }
  } catch (error) {
    unlessUnexpected(error);
  }
  return number;
}
