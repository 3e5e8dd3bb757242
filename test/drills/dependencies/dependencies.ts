// The dependencies drill: breaks each dependency in turn while requests go to every surface.
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { checkAcknowledged } from "../../fixtures/records/stream.ts";
import type { Drill, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fault } from "./faults.ts";
import { faults, mainFaults } from "./faults.ts";
import type { Site } from "./site.ts";
import { onSite } from "./site.ts";
import type { Ledger, Surfaces } from "./surfaces.ts";
import { surfacesOf } from "./surfaces.ts";
import type { Seen, Trial } from "./trial.ts";
import { runTrial, warmUp } from "./trial.ts";

const long: Trial = { waves: 6, pauseMs: 1_500 };
const short: Trial = { waves: 2, pauseMs: 500 };
const once: Trial = { ...short, waves: 1 };

export const dependencies: Drill = {
  name: "dependencies",
  promise:
    "With MongoDB, Redis or the identity provider frozen, slow, full, read-only or gone, every request gets the right response within 6 seconds, and everything recovers by itself within 15",
  async run(form, say) {
    if (form === "short") return runFaults(Object.values(mainFaults), short, say);
    const parts: Report[] = [];
    for (const members of [1, 3] as const)
      parts.push(
        await runFaults(
          faults.filter((fault) => fault.members === members),
          long,
          say,
        ),
      );
    return {
      figures: Object.assign({}, ...parts.map(({ figures }) => figures)) as Report["figures"],
      violations: parts.flatMap(({ violations }) => violations),
    };
  },
  controls: [
    control("an instance without a deadline while MongoDB is frozen", mainFaults.mongoFrozen, {
      from: "withTimeout(Math.max(0, deadline.at - performance.now()), promise",
      to: "withTimeout(60_000, promise",
    }),
    control("an instance that reports a full disk as its own failure", mainFaults.diskFull, {
      from: "return isUnavailable(error) ? new Failure(Reason.UNAVAILABLE, { cause: error }) : failureOf(error);",
      to: "return failureOf(error);",
    }),
  ],
};

function control(broken: string, fault: Fault, change: Break): Drill["controls"][number] {
  return brokenControl(broken, [change], (build, say) => runFaults([fault], once, say, build));
}

/** Runs the faults one after the other. All need the same number of members. */
function runFaults(
  selected: readonly Fault[],
  trial: Trial,
  say: Say,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  return onSite({ members: selected[0]?.members ?? 1, instances: 1, environment }, async (site) => {
    const ledger: Ledger = { acknowledged: [], unacknowledged: [] };
    const figures: Record<string, string> = {};
    const violations: string[] = [];
    const known = await site.token();
    for (const fault of selected) {
      const seen = await runFault(site, fault, known, ledger, trial);
      const figure = `slowest response ${seconds(seen.slowestMs)}, recovery ${seconds(seen.recoveryMs)}${seen.unchecked > 0 ? `, ${seen.unchecked} not checked because the machine was overloaded` : ""}`;
      figures[fault.name] = figure;
      violations.push(...seen.violations);
      say(`${fault.name}: ${figure}${seen.violations.length > 0 ? `, ${seen.violations.length} violations` : ""}`);
    }
    const { acknowledged, lost, doubled } = await checkAcknowledged(
      site.fixture.client,
      site.account.id,
      ledger.acknowledged,
    );
    if (lost > 0) violations.push(`${lost} of ${acknowledged} acknowledged writes are missing`);
    if (doubled > 0) violations.push(`${doubled} writes were applied more than once`);
    return { figures: { ...figures, "acknowledged writes": acknowledged }, violations };
  });
}

async function runFault(site: Site, fault: Fault, known: string, ledger: Ledger, trial: Trial): Promise<Seen> {
  const [warm] = site.fixture.instances;
  if (warm === undefined) throw new Error("no instance");
  const opened: Surfaces[] = [];
  const surfacesTo = (instance: ChildInstance): Surfaces => {
    const surfaces = surfacesOf(site, instance, known, ledger);
    opened.push(surfaces);
    return surfaces;
  };
  // Fills the instance's caches before the fault.
  if (fault.cold !== true) await warmUp(surfacesTo(warm));
  const begun = await fault.begin(site);
  let ending: Promise<unknown> | undefined;
  const end = (): Promise<unknown> => (ending ??= begun());
  let cold: ChildInstance | undefined;
  try {
    if (fault.cold === true) cold = await site.fixture.start();
    return await runTrial(fault, opened[0] ?? surfacesTo(cold ?? warm), ledger, end, trial);
  } finally {
    await end();
    await Promise.all(opened.map((surfaces) => surfaces.close()));
    await cold?.kill();
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
