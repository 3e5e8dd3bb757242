// The overload drill: sends far more requests than an instance can serve. Accepted ones must stay fast, and the rest
// must be rejected at once.
import { setTimeout as sleep } from "node:timers/promises";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import { requestText } from "../load/connection.ts";
import type { Outcome, Send } from "../load/load.ts";
import { closedLoop, openLoop, quantile, tally } from "../load/load.ts";
import { pinApart } from "../load/pin.ts";
import type { Pool } from "../load/pool.ts";
import { createPool } from "../load/pool.ts";
import { fill, overGrpc, overRest } from "./callers.ts";
import { cpuSeconds, rssMb } from "./process.ts";

/**
 * The load in multiples of the peak, and the share of the peak that must remain. The short form measures the peak for
 * only a second, so it can only detect a collapse.
 */
const sizes = {
  long: { warmUps: 20_000, peakSeconds: 15, factors: [2, 5, 20], seconds: 30, share: 0.8, maxMs: 500 },
  short: { warmUps: 1_500, peakSeconds: 1, factors: [3], seconds: 4, share: 0.3, maxMs: Infinity },
} as const;
type Size = (typeof sizes)[Form];
const wires = { REST: overRest, gRPC: overGrpc } as const;
const accounts = 20;
/** As many as an instance processes and queues. It would reject more. */
const callers = 40;
/** More than an instance accepts at once. */
const crowd = 400;
/** As many as the callers have connections or streams for: a queue of their own would say nothing of the service. */
const maxUnanswered = 900;
const patienceMs = 15_000;
const heapMb = 256;
/** A Node process is about 100 MB larger than its heap, and needs room for buffers and threads. */
const maxRssMb = 2 * heapMb;

export const overload: Drill = {
  name: "overload",
  promise:
    "At two, five and twenty times the load that an instance can serve, goodput, memory and health stay good over REST and gRPC; the rest is rejected at once, and the instance recovers within 5 seconds",
  run: (form, say) => flood(form, say, {}),
  controls: [
    {
      broken: "the number of concurrent requests is unlimited",
      run: (form, say) => flood(form === "long" ? "short" : form, say, { MAX_IN_FLIGHT: "1000000" }),
    },
  ],
};

type Figures = Record<string, number | string>;

async function flood(form: Form, say: Say, environment: Readonly<Record<string, string>>): Promise<Report> {
  const size = sizes[form];
  return withFixture(
    { members: 1, instances: 1, environment: { NODE_OPTIONS: `--max-old-space-size=${heapMb}`, ...environment } },
    async (fixture) => {
      const [instance] = fixture.instances;
      if (instance === undefined) throw new Error("no instance");
      const pins = pinApart(
        [instance.pid],
        [fixture.mongod, fixture.redis].flatMap((part) =>
          "members" in part ? part.members.map(({ pid }) => pid) : [part.pid],
        ),
      );
      say(pins.description);
      const figures: Figures = {};
      const violations: string[] = [];
      try {
        for (const open of await openWires(fixture, instance))
          violations.push(...(await tryWire(open, size, figures, say)));
      } finally {
        pins.undo();
      }
      return { figures, violations };
    },
  );
}

/** A wire of an instance, and its callers. */
interface Wire {
  readonly name: keyof typeof wires;
  readonly instance: ChildInstance;
  open(): ReturnType<typeof overRest>;
}

async function openWires(fixture: Fixture, instance: ChildInstance): Promise<Wire[]> {
  const pool = createPool(instance.base);
  const made = await Promise.all(Array.from({ length: accounts }, () => fixture.account()));
  const ids = await Promise.all(made.map((account) => fill(pool, account)));
  pool.close();
  return (["REST", "gRPC"] as const).map((name) => ({
    name,
    instance,
    open: () => wires[name](instance.base, made, ids),
  }));
}

/** The peak of a wire in requests per second, and the CPU time of each request. */
interface Peak {
  readonly perSecond: number;
  readonly cpuMs: number;
}

async function tryWire({ name, instance, open }: Wire, size: Size, figures: Figures, say: Say): Promise<string[]> {
  const { warmUps, peakSeconds, factors } = size;
  const load = await open();
  const probe = createPool(instance.base);
  try {
    // Warms up rejections too: code that is not compiled yet costs many times as much.
    await warmUp(crowd, warmUps, load.send);
    await warmUp(callers, warmUps, load.send);
    const cpuBefore = cpuSeconds(instance.pid);
    const served = (await closedLoop(callers, peakSeconds, patienceMs, load.send)).filter(isGood).length;
    const cpuMs = ((cpuSeconds(instance.pid) - cpuBefore) * 1_000) / served;
    const peak: Peak = { perSecond: served / peakSeconds, cpuMs };
    figures[`${name}: peak, requests/s`] = peak.perSecond;
    figures[`${name}: CPU ms per request`] = cpuMs;
    say(`${name}: ${Math.round(peak.perSecond)} requests per second from ${callers} sequential callers`);
    const violations: string[] = [];
    for (const factor of factors)
      violations.push(
        ...(await overloaded(`${name} x${factor}`, factor, peak, { instance, probe, send: load.send, size, figures })),
      );
    return violations;
  } finally {
    load.close();
    probe.close();
  }
}

interface Overloaded {
  readonly instance: ChildInstance;
  readonly probe: Pool;
  readonly send: Send;
  readonly size: Size;
  readonly figures: Figures;
}

async function overloaded(
  name: string,
  factor: number,
  peak: Peak,
  { instance, probe, send, size, figures }: Overloaded,
): Promise<string[]> {
  const { seconds } = size;
  const before = await probed(probe, 500);
  let loading = true;
  let maxRss = 0;
  const watching = (async () => {
    const seen: Outcome[] = [];
    while (loading) {
      seen.push(...(await probed(probe, 250)));
      maxRss = Math.max(maxRss, rssMb(instance.pid));
    }
    return seen;
  })();
  const cpuAtLoad = cpuSeconds(instance.pid);
  const outcomes = await openLoop({ perSecond: peak.perSecond * factor, seconds, patienceMs, maxUnanswered }, send);
  const cpuMs = (cpuSeconds(instance.pid) - cpuAtLoad) * 1_000;
  loading = false;
  const during = await watching;
  const normalMs = Math.max(
    500,
    10 *
      quantile(
        before.map(({ ms }) => ms),
        0.5,
      ),
  );
  const recovered = await recovery(send, normalMs);

  const good = outcomes.filter(isGood);
  const rejected = outcomes.filter(({ reply }) => reply?.status === 503);
  // Responses may arrive after the load has ended.
  const lastSecond = good.reduce((latest, { dueMs, ms }) => Math.max(latest, (dueMs + ms) / 1_000), seconds as number);
  const goodput = good.length / lastSecond / peak.perSecond;
  const effort = (good.length * peak.cpuMs) / cpuMs;
  const times = timesOf({ accepted: good, rejected });
  Object.assign(
    figures,
    prefixed(name, {
      "goodput, % of the peak": 100 * goodput,
      "CPU time spent on served requests, %": 100 * effort,
      "CPU ms per rejection": (cpuMs - good.length * peak.cpuMs) / rejected.length,
      "sent, requests/s": outcomes.length / seconds,
      responses: tally(outcomes),
      ...times,
      "health p99 ms": quantile(
        during.map(({ ms }) => ms),
        0.99,
      ),
      "peak RSS, MB": maxRss,
      "recovered after, ms": recovered ?? "not within 5000",
    }),
  );
  return [
    ...violationsOf(size, { goodput, effort, times, rejected, during, maxRss, recovered }),
    ...unexpected(outcomes),
  ].map((violation) => `${name}: ${violation}`);
}

/** Returns quantiles of the latency, both from when a request was due and from when it was written. */
function timesOf(kinds: Readonly<Record<string, readonly Outcome[]>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, outcomes]) =>
      [0.5, 0.99].flatMap((share) => [
        [
          `${kind} p${100 * share} ms since due`,
          quantile(
            outcomes.map(({ ms }) => ms),
            share,
          ),
        ],
        [
          `${kind} p${100 * share} ms on the wire`,
          quantile(
            outcomes.map(({ reply }) => reply?.wireMs ?? 0),
            share,
          ),
        ],
      ]),
    ),
  );
}

interface Seen {
  readonly goodput: number;
  readonly effort: number;
  readonly times: Readonly<Record<string, number>>;
  readonly rejected: readonly Outcome[];
  readonly during: readonly Outcome[];
  readonly maxRss: number;
  readonly recovered: number | undefined;
}

function violationsOf(size: Size, { goodput, effort, times, rejected, during, maxRss, recovered }: Seen): string[] {
  // In such a short time, other processes that take the CPU look like a collapse, so CPU time counts too.
  const remains = size === sizes.short ? Math.max(goodput, effort) : goodput;
  const slow = ["accepted p99 ms since due", "rejected p99 ms since due"].filter(
    (time) => (times[time] ?? 0) > size.maxMs,
  );
  const strange = rejected.filter(
    ({ reply }) =>
      reply?.body !== "" &&
      (!/^\{"error":\{"code":"503","message":"[^"]+"/.test(reply?.body ?? "") ||
        reply?.headers.has("retry-after") !== false),
  );
  const unhealthy = during.filter(({ reply }) => reply?.status !== 200);
  return [
    ...(remains < size.share ? [`only ${Math.round(100 * remains)} % of the goodput at the peak`] : []),
    ...slow.map((time) => `${time}: ${Math.round(times[time] ?? 0)}`),
    ...(strange.length > 0
      ? [
          `${strange.length} rejections do not have the documented form, such as ${JSON.stringify(strange[0]?.reply?.body)}`,
        ]
      : []),
    ...(unhealthy.length > 0 ? [`health during the load: ${tally(unhealthy)}`] : []),
    ...(maxRss > maxRssMb ? [`the process grew to ${Math.round(maxRss)} MB`] : []),
    ...(recovered === undefined ? ["requests were still slow or rejected 5 seconds after the load"] : []),
  ];
}

function unexpected(outcomes: readonly Outcome[]): string[] {
  const others = outcomes.filter((outcome) => !isGood(outcome) && outcome.reply?.status !== 503);
  return others.length > 0 ? [`neither served nor rejected: ${tally(others)}`] : [];
}

function prefixed(name: string, figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([what, value]) => [`${name}: ${what}`, value]));
}

/** Sends at least `requests` requests, because on a busy machine a second is too short to compile the code. */
async function warmUp(senders: number, requests: number, send: Send): Promise<void> {
  for (let sent = 0; sent < requests; ) sent += (await closedLoop(senders, 1, patienceMs, send)).length;
}

/** Requests health four times at this interval. */
async function probed(pool: Pool, everyMs: number): Promise<Outcome[]> {
  const health = requestText("GET", "/v1/health", {});
  return openLoop({ perSecond: 1_000 / everyMs, seconds: (4 * everyMs) / 1_000, patienceMs }, () => pool.send(health));
}

/** Milliseconds until five requests in a row were served within `normalMs`; undefined after 5 seconds. */
async function recovery(send: Send, normalMs: number): Promise<number | undefined> {
  const began = performance.now();
  for (let inRow = 0; performance.now() - began < 5_000; ) {
    const at = performance.now();
    const { status } = await send(1);
    inRow = (status === 200 || status === 201) && performance.now() - at <= normalMs ? inRow + 1 : 0;
    if (inRow === 5) return performance.now() - began;
    await sleep(50);
  }
  return undefined;
}

function isGood({ reply }: Outcome): boolean {
  return reply?.status === 200 || reply?.status === 201;
}
