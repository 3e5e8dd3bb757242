// The drill of the dependencies: each is broken in turn while every surface gets requests.
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { checkAcknowledged } from "../../fixtures/records/stream.ts";
import type { Drill, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fault } from "./faults.ts";
import { faults, foremost } from "./faults.ts";
import type { Site } from "./site.ts";
import { onSite } from "./site.ts";
import type { Ledger, Surfaces } from "./surfaces.ts";
import { surfacesOf } from "./surfaces.ts";
import type { Seen, Trial } from "./trial.ts";
import { suffer, warmUp } from "./trial.ts";

const long: Trial = { waves: 6, pauseMs: 1_500 };
const short: Trial = { waves: 2, pauseMs: 500 };
const once: Trial = { ...short, waves: 1 };

export const dependencies: Drill = {
  name: "dependencies",
  promise:
    "With MongoDB, Redis or the identity provider frozen, slow, full, read-only or gone every request is served within 6 seconds as it should be, and within 15 seconds after it everything is right again, by itself",
  async run(form, say) {
    if (form === "short") return sufferAll(Object.values(foremost), short, say);
    const parts: Report[] = [];
    for (const members of [1, 3] as const)
      parts.push(
        await sufferAll(
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
    control("an instance without a deadline, whose MongoDB freezes", foremost.mongoFrozen, {
      from: "withTimeout(Math.max(0, deadline.at - performance.now()), promise",
      to: "withTimeout(60_000, promise",
    }),
    control("an instance that takes a full disk for a fault of its own", foremost.diskFull, {
      from: "return isUnavailable(error) ? new Failure(Reason.UNAVAILABLE, { cause: error }) : failureOf(error);",
      to: "return failureOf(error);",
    }),
  ],
};

function control(broken: string, fault: Fault, change: Break): Drill["controls"][number] {
  return brokenControl(broken, [change], (build, say) => sufferAll([fault], once, say, build));
}

/** Suffers the faults one after the other. All have as many members. */
function sufferAll(
  suffered: readonly Fault[],
  trial: Trial,
  say: Say,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  return onSite({ members: suffered[0]?.members ?? 1, instances: 1, environment }, async (site) => {
    const ledger: Ledger = { acknowledged: [], unacknowledged: [] };
    const figures: Record<string, string> = {};
    const violations: string[] = [];
    const known = await site.token();
    for (const fault of suffered) {
      const seen = await sufferOne(site, fault, known, ledger, trial);
      const figure = `all served within ${seconds(seen.slowestMs)}, all right ${seconds(seen.recoveryMs)} after it${seen.unchecked > 0 ? `, ${seen.unchecked} not checked on a machine without time` : ""}`;
      figures[fault.name] = figure;
      violations.push(...seen.violations);
      say(`${fault.name}: ${figure}${seen.violations.length > 0 ? `, ${seen.violations.length} violations` : ""}`);
    }
    const { acknowledged, lost, doubled } = await checkAcknowledged(
      site.fixture.client,
      site.account.id,
      ledger.acknowledged,
    );
    if (lost > 0) violations.push(`${lost} of ${acknowledged} acknowledged writes are not there`);
    if (doubled > 0) violations.push(`${doubled} writes are there more than once`);
    return { figures: { ...figures, "acknowledged writes": acknowledged }, violations };
  });
}

async function sufferOne(site: Site, fault: Fault, known: string, ledger: Ledger, trial: Trial): Promise<Seen> {
  const [warm] = site.fixture.instances;
  if (warm === undefined) throw new Error("there is no instance");
  const opened: Surfaces[] = [];
  const surfacesTo = (instance: ChildInstance): Surfaces => {
    const surfaces = surfacesOf(site, instance, known, ledger);
    opened.push(surfaces);
    return surfaces;
  };
  // An instance keeps what it has received before: so it must have received it.
  if (fault.cold !== true) await warmUp(surfacesTo(warm));
  const begun = await fault.begin(site);
  let ending: Promise<unknown> | undefined;
  const end = (): Promise<unknown> => (ending ??= begun());
  let cold: ChildInstance | undefined;
  try {
    if (fault.cold === true) cold = await site.fixture.start();
    return await suffer(fault, opened[0] ?? surfacesTo(cold ?? warm), ledger, end, trial);
  } finally {
    await end();
    await Promise.all(opened.map((surfaces) => surfaces.close()));
    await cold?.kill();
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
