// The soak drill: a steady load at half of the capacity, with regular faults.
import { setTimeout as sleep } from "node:timers/promises";
import { checkAcknowledged } from "../../fixtures/records/stream.ts";
import type { Site } from "../dependencies/site.ts";
import { onSite } from "../dependencies/site.ts";
import type { Ledger } from "../dependencies/surfaces.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fault } from "./faults.ts";
import { faultsOf } from "./faults.ts";
import type { Fleet } from "./fleet.ts";
import { createFleet } from "./fleet.ts";
import type { Miss } from "./load.ts";
import { calibrate, createSource, steadily } from "./load.ts";
import { watchMachine } from "./machine.ts";
import type { Sample } from "./memory.ts";
import { collecting, megabytes, memoryOf, sample } from "./memory.ts";

interface Plan {
  readonly members: 1 | 3;
  readonly instances: number;
  readonly seconds: number;
  /** Continues until there were this many requests, for slow machines. */
  readonly requests: number;
  readonly calibrateMs: number;
  readonly faultEverySeconds: number;
  readonly faultLastsMs: number;
  readonly sampleEverySeconds: number;
  /** Callers that measure the peak throughput. */
  readonly callers: number;
  readonly maxPerSecond: number;
  /** Memory grows until the instance is warm. */
  readonly warmUpSeconds: number;
}

const minutes = Number(process.env["RECORDS_SOAK_MINUTES"] ?? 30);
const plans: Record<Form, Plan> = {
  long: {
    members: 3,
    instances: 3,
    callers: 16,
    maxPerSecond: 1_000,
    seconds: minutes * 60,
    requests: 0,
    calibrateMs: 20_000,
    faultEverySeconds: 30,
    faultLastsMs: 8_000,
    sampleEverySeconds: 10,
    warmUpSeconds: Math.min(300, minutes * 20),
  },
  short: {
    members: 1,
    instances: 2,
    callers: 8,
    maxPerSecond: 60,
    seconds: 6,
    requests: 240,
    calibrateMs: 1_000,
    faultEverySeconds: 1,
    faultLastsMs: 500,
    sampleEverySeconds: 1,
    warmUpSeconds: 0,
  },
};
/** The maximum number of requests in progress. */
const maxInProgress = 32;
/** Everything must recover from a failover within this time. */
const interruptedForMs = 15_000;
/** The leak that the control must detect. */
const leaking = {
  from: "const { headers } = request; return { header:",
  to: "const { headers } = request;\n  ((globalThis as { kept?: unknown[] }).kept ??= []).push([request, Buffer.alloc(524_288)]);\n  return { header:",
};

export const soak: Drill = {
  name: "soak",
  promise: "Under a steady load with continuous faults, every failure is explained by a fault, and no instance grows",
  run: (form, say) => run(form, plans[form], say),
  controls: [
    brokenControl("an instance that retains every request and half a megabyte with it", [leaking], (broken, say) =>
      run("short", { ...plans.short, seconds: 2, faultEverySeconds: 60 }, say, broken),
    ),
  ],
};

/** The errors that all instances logged. */
interface Log {
  /** The number of lines about MongoDB or the provider being unavailable. */
  explained: number;
  /** All other lines: internal errors, unhandled rejections, warnings of Node. */
  readonly others: string[];
}

function run(form: Form, plan: Plan, say: Say, broken: Readonly<Record<string, string>> = {}): Promise<Report> {
  const log: Log = { explained: 0, others: [] };
  const onLogLine = (line: string): void => {
    if (line.includes('"reason":"UNAVAILABLE"')) log.explained += 1;
    else log.others.push(`an instance logged: ${line.slice(0, 300)}`);
  };
  const environment = { ...broken, NODE_OPTIONS: collecting, LOG_LEVEL: "error" };
  return onSite({ members: plan.members, instances: plan.instances, environment, onLogLine }, async (site) => {
    const ledger: Ledger = { acknowledged: [], unacknowledged: [] };
    const fleet = await createFleet(site, await site.token(), ledger);
    try {
      return await soakUnder(site, fleet, ledger, form, plan, say, log);
    } finally {
      await fleet.close();
    }
  });
}

async function soakUnder(
  site: Site,
  fleet: Fleet,
  ledger: Ledger,
  form: Form,
  plan: Plan,
  say: Say,
  log: Log,
): Promise<Report> {
  const { instance, surfaces } = fleet.survivor;
  const source = createSource(() => fleet.loaded);
  const machine = watchMachine();
  const samples: Sample[] = [await sample(instance)];
  const capacity = await calibrate(source, plan.callers, plan.calibrateMs);
  const perSecond = Math.min(plan.maxPerSecond, capacity / 2);
  say(`${Math.round(capacity)} requests per second at peak, ${Math.round(perSecond)} from now on`);
  const injected: { readonly fault: Fault; readonly from: number; readonly to: number }[] = [];
  const violations: string[] = [];
  const until = performance.now() + plan.seconds * 1_000;

  const controller = new AbortController();
  /** If one task fails, all end. */
  async function every(seconds: number, work: () => Promise<unknown>): Promise<void> {
    for (
      let next = performance.now() + seconds * 1_000;
      next < until && !controller.signal.aborted;
      next = Math.max(next + seconds * 1_000, performance.now())
    ) {
      await sleep(Math.max(0, next - performance.now()));
      await work().catch((error: unknown) => {
        controller.abort();
        throw error;
      });
    }
  }
  const turns = faultsOf(plan.members);
  let order: Fault[] = [];
  async function injectFault(): Promise<void> {
    if (order.length === 0)
      order = turns
        .map((fault) => ({ fault, by: Math.random() }))
        .sort((one, other) => one.by - other.by)
        .map(({ fault }) => fault);
    const fault = order.pop() as Fault;
    say(fault.name);
    const from = performance.now();
    const wrong = await fault.run(site, fleet, plan.faultLastsMs);
    if (typeof wrong === "string") violations.push(wrong);
    injected.push({ fault, from, to: performance.now() });
  }
  async function measure(): Promise<void> {
    const now = await sample(instance);
    samples.push(now);
    if (samples.length % 6 === 0)
      say(
        `${megabytes(now.resident)} MB resident, ${megabytes(now.kept)} MB retained, ${now.descriptors} descriptors, ${fleet.loaded.length} instances`,
      );
  }
  async function lasting(): Promise<void> {
    await sleep(plan.seconds * 1_000, undefined, controller).catch(() => undefined);
    while (source.outcome.requests < plan.requests && !controller.signal.aborted) await sleep(100);
  }
  // Waits for every task even if one fails, so that nothing starts after the site is cleaned up.
  const during = Promise.allSettled([
    lasting(),
    every(plan.faultEverySeconds, injectFault),
    every(plan.sampleEverySeconds, measure),
  ]);
  const held = await steadily(source, perSecond, maxInProgress, during);
  for (const result of await during) if (result.status === "rejected") throw result.reason;
  machine.stop();
  samples.push(await sample(instance));
  for (const write of ledger.unacknowledged.splice(0)) {
    const word = await surfaces.write(write);
    if (word !== "served") violations.push(`${write.wire} ${write.rpc} was ${word} when retried`);
  }

  const isInterrupted = ({ sentAt, completedAt, word }: Miss): boolean =>
    word === "unavailable" &&
    injected.some(
      ({ fault, from, to }) => fault.interrupts === true && completedAt > from && sentAt < to + interruptedForMs,
    );
  const { requests, misses, words, slowestMs } = source.outcome;
  const due = misses.filter((miss) => !fleet.excuses(miss) && !isInterrupted(miss));
  const unexplained = due.filter((miss) => !machine.explains(miss));
  violations.push(
    ...unexplained.map(
      ({ instance, call, word, sentAt, completedAt }) =>
        `${call} of ${instance} was ${word} after ${Math.round(completedAt - sentAt)} ms${after(sentAt, injected)}`,
    ),
  );
  violations.push(...log.others);
  const { acknowledged, lost, doubled } = await checkAcknowledged(
    site.fixture.client,
    site.account.id,
    ledger.acknowledged,
  );
  if (lost > 0) violations.push(`${lost} of ${acknowledged} acknowledged writes are missing`);
  if (doubled > 0) violations.push(`${doubled} writes were applied more than once`);

  const memory = memoryOf(form, samples, plan.warmUpSeconds);
  return {
    figures: {
      "peak requests per second": capacity,
      requests,
      "requests per second": held,
      ...Object.fromEntries(
        [...words].map(([word, count]) => [
          word.startsWith("no response") ? "no response" : `${word}, requests`,
          count,
        ]),
      ),
      "unavailable at the deadline while the machine was overloaded": due.length - unexplained.length,
      "unexplained failures": unexplained.length,
      "longest scheduling delay of this process, ms": machine.maxMs(),
      "slowest response, ms": slowestMs,
      faults: turns
        .map(({ name }) => `${injected.filter(({ fault }) => fault.name === name).length} times ${name}`)
        .join(", "),
      "acknowledged writes": acknowledged,
      "log lines explained by a fault": log.explained,
      ...memory.figures,
    },
    violations: [...violations, ...memory.violations],
  };
}

/** Describes a time relative to the previous fault. */
function after(at: number, injected: readonly { readonly fault: Fault; readonly from: number }[]): string {
  const last = injected.findLast(({ from }) => from <= at);
  return last === undefined ? "" : `, ${Math.round((at - last.from) / 1_000)} s after ${last.fault.name}`;
}
