// The redis-groups drill: breaks a Redis Cluster and a Sentinel group under throttled and idempotent load. One bucket
// must hold, and each write must happen once.
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import { until } from "../../../src/embedded/wait.ts";
import { accountBucket } from "../../../src/guards/throttle.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import { checkWrites } from "../kills/checker.ts";
import { runStream } from "../kills/stream.ts";
import { callerOf } from "../limiter/caller.ts";
import { fallbackCount, checkBucket, offeredPerSecond, promised, requireResponses } from "../limiter/limiter.ts";
import { excess } from "../limiter/laws.ts";
import { openLoop } from "../load/load.ts";
import type { FaultName, Group, GroupKind } from "./groups.ts";
import { startGroup } from "./groups.ts";

interface Plan {
  readonly instances: number;
  /** How long requests are sent, at least until the last fault is over. */
  readonly seconds: number;
  /** How long requests are sent after the last fault. */
  readonly secondsAfter: number;
  readonly faults: Readonly<Partial<Record<GroupKind, readonly FaultName[]>>>;
  /** How long an instance may take to use Redis again. */
  readonly returnMs: number;
}

const plans: Record<Form, Plan> = {
  long: {
    instances: 3,
    seconds: 60,
    secondsAfter: 60,
    faults: {
      cluster: ["failover", "move", "kill", "move", "freeze", "failover", "kill"],
      sentinel: ["failover", "kill", "freeze", "failover"],
    },
    returnMs: 20_000,
  },
  short: {
    instances: 2,
    seconds: 2,
    secondsAfter: 2,
    faults: { cluster: ["failover", "move"], sentinel: ["kill"] },
    returnMs: 20_000,
  },
};
const control: Plan = { ...plans.short, faults: { cluster: ["move"] } };

const forgetsBuckets: Break = {
  from: "[...args, String(maxTokens), String(debited)]",
  to: "[...args, '', String(debited)]",
};
const ignoresMoved: Break = {
  from: "    retryDelayOnFailover: 0,",
  to: "    retryDelayOnFailover: 0, maxRedirections: 0,",
};
const twoKeys: Break = {
  from: "client.eval(script, 1, key, ...values)",
  to: `client.eval(script, 2, key, key + ":holder", ...values)`,
};

export const redisGroups: Drill = {
  name: "redis-groups",
  promise:
    "On a Redis Cluster and a Sentinel group, through failovers and moved slots, all instances share one bucket per key, each write happens once, and every instance returns to Redis without a restart",
  run: (form, say) => drill(plans[form], form, say),
  controls: [
    brokenControl("the client does not follow MOVED", [ignoresMoved], (build, say) =>
      drill(control, "short", say, build),
    ),
    brokenControl("an instance does not send its knowledge of a bucket to Redis", [forgetsBuckets], (build, say) =>
      drill({ ...plans.short, faults: { sentinel: ["kill"] } }, "short", say, build),
    ),
    brokenControl("a script uses keys in two slots", [twoKeys], (build, say) =>
      drill({ ...control, faults: { cluster: [] } }, "short", say, build),
    ),
  ],
};

async function drill(plan: Plan, form: Form, say: Say, build: Readonly<Record<string, string>> = {}): Promise<Report> {
  const violations: string[] = [];
  const figures: Record<string, number | string> = {};
  const onLogLine = (line: string): void => {
    if (line.includes('"code":"CROSSSLOT"')) violations.push(`keys in several slots: ${line}`);
    if (line.includes('"reason":"INTERNAL"')) violations.push(`an instance failed: ${line}`);
  };
  await withFixture(
    { members: 1, instances: 0, environment: { LOG_LEVEL: "warn", ...build }, onLogLine },
    async (fixture) => {
      for (const [kind, faults] of Object.entries(plan.faults) as [GroupKind, readonly FaultName[]][]) {
        const group = await startGroup[kind]();
        try {
          const seen = await onGroup(fixture, group, { ...plan, faults }, form, (line) => say(`${kind}: ${line}`));
          for (const [name, value] of Object.entries(seen.figures)) figures[`${kind}: ${name}`] = value;
          violations.push(...seen.violations.map((violation) => `${kind}: ${violation}`));
        } finally {
          await Promise.all(fixture.instances.splice(0).map((instance) => instance.kill()));
          await group.stop();
        }
      }
    },
  );
  return { figures, violations: [...new Set(violations)] };
}

/** The plan for one group. */
type GroupPlan = Omit<Plan, "faults"> & { readonly faults: readonly FaultName[] };

async function onGroup(fixture: Fixture, group: Group, plan: GroupPlan, form: Form, say: Say): Promise<Report> {
  const start = async (count: number, environment: Readonly<Record<string, string>>): Promise<Fixture> => {
    const startOne = async (): Promise<ChildInstance> => {
      const instance = await fixture.start({ REDIS_URL: group.uri, ...environment });
      fixture.instances.push(instance);
      return instance;
    };
    return { ...fixture, instances: await Promise.all(Array.from({ length: count }, startOne)) };
  };
  // The writes are not throttled, so they have their own instances.
  const [throttling, writing] = await Promise.all([
    start(plan.instances, { RATE_LIMIT: "10", RATE_BURST: "20" }),
    start(2, {}),
  ]);
  const account = await fixture.account();
  const reader = await fixture.account();
  const violations: string[] = [];
  const faults = async (): Promise<void> => {
    // Lets every instance learn about the caller: one that does not know it would give it a full bucket when Redis goes
    // away.
    await sleep(2_000);
    for (const [at, name] of plan.faults.entries()) {
      // A replica that has not caught up would lose the bucket.
      if (at > 0) await group.settled();
      const fault = group.faults[name];
      say(fault.name);
      await fault.run(`throttle:${accountBucket(new UUID(reader.id))}`);
    }
  };
  let ended = false;
  const running = faults().finally(() => (ended = true));
  const [through, stream] = await Promise.all([
    throttled(throttling, reader.key, plan.seconds, () => ended, violations),
    runStream({
      bases: () => writing.instances.map(({ base }) => base),
      key: account.key,
      clients: 2,
      pauseMs: 50,
      during: () => running,
    }),
  ]);
  say("all faults are over");
  await group.settled();
  const back = await returned([...throttling.instances, ...writing.instances], plan.returnMs);
  if (!back) violations.push(`an instance still did not use Redis after ${plan.returnMs} ms`);
  // Waits until the bucket is full. Uses the same key, because others may be in slots that were not moved.
  await sleep((1_000 * promised.burst) / promised.perSecond + 500);
  const after = await throttled(throttling, reader.key, plan.secondsAfter, () => true, violations);
  if (after.apart * 2 > after.sent)
    violations.push(`${after.apart} of ${after.sent} requests after the last fault were decided without Redis`);
  if (form === "long") violations.push(...[through, after].flatMap(totalViolations));
  violations.push(...(await checkWrites(writing, account, stream, form)));
  return {
    violations,
    figures: {
      ...figuresOf("during the faults", through),
      ...figuresOf("afterwards", after),
      "acknowledged writes": stream.acknowledged.length,
      "attempts without an acknowledgment": stream.retries,
    },
  };
}

function figuresOf(when: string, { passed, ideal, apart, tooMany }: Throttled): Record<string, number> {
  return {
    [`passed ${when}`]: passed,
    [`expected to pass ${when}`]: ideal,
    [`decided without Redis ${when}`]: apart,
    [`excess in the worst span ${when}`]: tooMany,
  };
}

/**
 * How many tokens too many instances may grant without Redis: while their shares of the requests change, and while some
 * still use the old master.
 */
const strayTokens = 10;

/** The outcome of a key's requests. `apart` of them were decided without Redis. */
interface Throttled {
  readonly sent: number;
  readonly passed: number;
  readonly ideal: number;
  readonly apart: number;
  /** The excess in the worst span of time. */
  readonly tooMany: number;
}

/**
 * Violated if more than 2 % too many passed, or more than 2 % too few even if every request decided without Redis had
 * passed.
 */
function totalViolations({ passed, ideal, apart }: Throttled): string[] {
  return passed > 1.02 * ideal || passed + apart < 0.98 * ideal
    ? [`${passed} requests passed instead of ${ideal}; ${apart} were decided without Redis`]
    : [];
}

/** Uses one key on all instances, for at least `seconds` and until `isOver`. */
async function throttled(
  fixture: Fixture,
  key: string,
  seconds: number,
  isOver: () => boolean,
  violations: string[],
): Promise<Throttled> {
  const caller = callerOf(fixture, key);
  try {
    await caller.connect();
    const before = await fallbackCount(fixture);
    const begun = performance.now();
    do
      requireResponses(
        await openLoop({ perSecond: offeredPerSecond, seconds: 1, patienceMs: 15_000 }, caller.send),
        violations,
      );
    while (!isOver() || performance.now() - begun < seconds * 1_000);
    const apart = (await fallbackCount(fixture)) - before;
    // Without Redis, instances leave tokens of their share unspent, so rejections are only checked by the total.
    checkBucket("the key", caller.seen, { tooMany: strayTokens, inVain: apart > 0 ? Infinity : 0 }, violations);
    const passed = caller.seen.filter((one) => one.passed).length;
    const last = Math.max(...caller.seen.map(({ completedAt }) => completedAt));
    const first = Math.min(...caller.seen.map(({ sentAt }) => sentAt));
    const ideal = Math.round(promised.burst + (promised.perSecond * (last - first)) / 1_000);
    return { sent: caller.seen.length, passed, ideal, apart, tooMany: Math.round(excess(caller.seen, promised)) };
  } finally {
    caller.close();
  }
}

/** Whether every instance reports that it fully uses Redis again. */
async function returned(instances: readonly ChildInstance[], patienceMs: number): Promise<boolean> {
  const uses = async ({ internalPort }: ChildInstance): Promise<boolean> => {
    const parts = (await (await fetch(`http://127.0.0.1:${internalPort}/readyz`)).json()) as { redis?: boolean };
    return parts.redis === true;
  };
  const all = async (): Promise<boolean> => (await Promise.all(instances.map(uses))).every(Boolean);
  return until(all, AbortSignal.timeout(patienceMs)).then(
    () => true,
    () => false,
  );
}
