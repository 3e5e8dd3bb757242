// The limiter drill: one key used on several instances and every wire gets the rate of one bucket.
import { setTimeout as sleep } from "node:timers/promises";
import type { Drill, Form, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Proxy } from "../../fixtures/network/proxy.ts";
import { startProxy } from "../../fixtures/network/proxy.ts";
import type { Outcome } from "../load/load.ts";
import { openLoop, tally } from "../load/load.ts";
import type { Caller } from "./caller.ts";
import { callerOf, isDecided } from "./caller.ts";
import type { Seen } from "./laws.ts";
import { excess, wronglyRejected } from "./laws.ts";
import { startOwnRedis } from "../../fixtures/databases/own-redis.ts";

export const promised = { perSecond: 10, burst: 20 } as const;
export const offeredPerSecond = 50;
const sizes = {
  long: { instances: 3, seconds: 60, awaySeconds: 10 },
  short: { instances: 2, seconds: 5, awaySeconds: 2 },
} as const;
/** Enough instances for the excess to be far above what instances on a slow machine decide by themselves. */
const apartInstances = 4;
const environment = { RATE_LIMIT: "10", RATE_BURST: "20" };

const countInWindow = `local count = redis.call('INCR', KEYS[1])
  if count == 1 then redis.call('PEXPIRE', KEYS[1], 4000) end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  if count <= 20 then return {1, 0, '1', tostring(now)} end
  return {21, redis.call('PTTL', KEYS[1]), '1', tostring(now)}`;
/** A limiter with fixed windows. */
const windowed: Break = {
  from: "const takeScript = `",
  to: `const takeScript = \`${countInWindow}\`; const right = \``,
};

export const limiter: Drill = {
  name: "limiter",
  promise:
    "All instances and wires share one bucket per key; callers that obey Retry-After succeed, other keys are unaffected, and without Redis each instance enforces the limit",
  run: (form, say) => limit(form, say, {}),
  controls: [
    { broken: "each instance has its own Redis", run: (_form, say) => limit("short", say, { apart: true }) },
    brokenControl("a fixed window of 20 in 4 seconds instead of the bucket", [windowed], (build, say) =>
      limit("short", say, { build }),
    ),
  ],
};

/** What a control breaks. */
interface Faults {
  readonly apart?: boolean;
  readonly build?: Readonly<Record<string, string>>;
}

async function limit(form: Form, say: Say, { apart = false, build = {} }: Faults): Promise<Report> {
  const { instances, seconds, awaySeconds } = sizes[form];
  let toRedis: Proxy | undefined;
  const through = async (parts: { readonly mongodbUri: string; readonly redisUrl: string }) => {
    const { host } = new URL(parts.redisUrl);
    toRedis = await startProxy(host);
    return { ...parts, redisUrl: parts.redisUrl.replace(host, toRedis.host) };
  };
  const ends: (() => unknown)[] = [];
  try {
    return await withFixture(
      { members: 1, instances: apart ? 1 : instances, environment: { ...environment, ...build }, through },
      async (fixture) => {
        if (apart) await addApart(fixture, ends);
        const violations: string[] = [];
        const together = await sharedBucket(fixture, seconds, violations);
        say(`${together.passed} of ${together.sent} requests passed`);
        if (apart || build["CHANGED_SOURCES"] !== undefined)
          return { figures: { passed: together.passed }, violations };
        await toRedis?.set("gone");
        const away = await ownBuckets(fixture, awaySeconds, violations);
        const {
          ideal: [min, max],
          ...figures
        } = together;
        if (
          form === "long" &&
          (figures.passed < 0.98 * min || figures.passed - figures["decided without Redis"] > 1.02 * max)
        )
          violations.push(`${figures.passed} requests passed instead of ${Math.round(min)} to ${Math.round(max)}`);
        return {
          figures: {
            ...figures,
            "expected to pass": `${Math.round(min)} to ${Math.round(max)}`,
            "passed without Redis": away.passed,
            "sent without Redis": away.sent,
          },
          violations,
        };
      },
    );
  } finally {
    await toRedis?.close();
    for (const end of ends.reverse()) await end();
  }
}

/**
 * The outcome. `ideal` is what a bucket allows from the first request to the last, by when they were sent and when they
 * completed.
 */
interface Together {
  readonly sent: number;
  readonly passed: number;
  readonly ideal: readonly [number, number];
  readonly "Retry-After obeyed": number;
  readonly "requests of another account": number;
  readonly "decided without Redis": number;
}

/**
 * Uses one key on every instance, alternating between REST and gRPC, beside a caller that obeys Retry-After and an
 * unrelated one.
 */
async function sharedBucket(fixture: Fixture, seconds: number, violations: string[]): Promise<Together> {
  const hasty = callerOf(fixture, (await fixture.account()).key);
  const obedient = callerOf(fixture, (await fixture.account()).key);
  const other = callerOf(fixture, (await fixture.account()).key);
  try {
    for (const caller of [hasty, obedient, other]) await caller.connect();
    const until = performance.now() + seconds * 1_000;
    const [obeyed, others, outcomes] = await Promise.all([
      obey(obedient, until, violations).catch(
        (error: unknown) => (violations.push(`the obedient caller got no response: ${String(error)}`), 0),
      ),
      openLoop({ perSecond: 2, seconds, patienceMs: 15_000 }, other.send),
      openLoop({ perSecond: offeredPerSecond, seconds, patienceMs: 15_000 }, hasty.send),
    ]);
    requireResponses(outcomes, violations);
    const rejected = others.filter(({ reply }) => reply?.status !== 200).length;
    if (rejected > 0) violations.push(`${rejected} of ${others.length} requests of another account did not pass`);
    // If Redis took more than 50 ms, the instance decided by itself, as documented.
    const byThemselves = await fallbackCount(fixture);
    checkBucket("the key", hasty.seen, { tooMany: byThemselves, inVain: byThemselves }, violations);
    const passed = hasty.seen.filter((one) => one.passed).length;
    const began = Math.min(...hasty.seen.map(({ sentAt }) => sentAt));
    const span = (instants: readonly number[]): number =>
      promised.burst + promised.perSecond * ((Math.max(...instants) - began) / 1_000);
    const ideal = [
      span(hasty.seen.map(({ sentAt }) => sentAt)),
      span(hasty.seen.map(({ completedAt }) => completedAt)),
    ] as const;
    return {
      sent: hasty.seen.length,
      passed,
      ideal,
      "Retry-After obeyed": obeyed,
      "requests of another account": others.length,
      "decided without Redis": byThemselves,
    };
  } finally {
    for (const caller of [hasty, obedient, other]) caller.close();
  }
}

/** Without Redis, each instance has its own bucket, and each must keep the limit. */
async function ownBuckets(
  fixture: Fixture,
  seconds: number,
  violations: string[],
): Promise<{ sent: number; passed: number }> {
  const caller = callerOf(fixture, (await fixture.account()).key);
  try {
    requireResponses(
      await openLoop(
        { perSecond: offeredPerSecond * fixture.instances.length, seconds, patienceMs: 15_000 },
        caller.send,
      ),
      violations,
    );
    for (const at of fixture.instances.keys())
      checkBucket(
        `without Redis, instance ${at}`,
        caller.seen.filter((one) => one.instance === at),
        { tooMany: 0, inVain: 0 },
        violations,
      );
    return { sent: caller.seen.length, passed: caller.seen.filter((one) => one.passed).length };
  } finally {
    caller.close();
  }
}

export function requireResponses(outcomes: readonly Outcome[], violations: string[]): void {
  const faults = outcomes.filter(({ reply }) => reply === undefined || !isDecided(reply));
  if (faults.length > 0) violations.push(`neither passed nor throttled: ${tally(faults)}`);
}

/** How many requests another bucket may have let pass or rejected. */
export interface Excused {
  readonly tooMany: number;
  readonly inVain: number;
}

export function checkBucket(who: string, seen: readonly Seen[], excused: Excused, violations: string[]): void {
  const tooMany = excess(seen, promised);
  if (tooMany > excused.tooMany)
    violations.push(`${who}: ${Math.ceil(tooMany)} more requests passed than a bucket allows`);
  const inVain = wronglyRejected(seen, promised);
  if (inVain > excused.inVain) violations.push(`${who}: ${inVain} requests were rejected while the bucket had a token`);
  if (!seen.some(({ passed }) => !passed)) violations.push(`${who}: nothing was rejected`);
}

/** Repeatedly empties the bucket, waits for `Retry-After`, and must succeed. Returns how often it waited. */
async function obey(caller: Caller, until: number, violations: string[]): Promise<number> {
  let [obeyed, number] = [0, 0];
  while (performance.now() < until) {
    const replies = await Promise.all(Array.from({ length: 4 * promised.burst }, () => caller.overRest(number++)));
    const strange = replies.find((reply) => !isDecided(reply));
    if (strange !== undefined) violations.push(`the obedient caller got ${strange.status}: ${strange.body}`);
    const waits = replies
      .filter(({ status }) => status === 429)
      .map(({ headers }) => Number(headers.get("retry-after") ?? "0"));
    if (waits.length === 0) continue;
    await sleep(Math.max(...waits) * 1_000);
    const { status } = await caller.overRest(number++);
    if (status !== 200) violations.push(`after Retry-After: ${Math.max(...waits)} the next request was ${status}`);
    obeyed += 1;
  }
  if (obeyed === 0) violations.push("the obedient caller never got Retry-After");
  return obeyed;
}

/** The number of throttling decisions that instances made without Redis. */
export async function fallbackCount({ instances }: Fixture): Promise<number> {
  const texts = await Promise.all(
    instances.map(async ({ internalPort }) => (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()),
  );
  return texts.reduce((sum, text) => sum + Number(/^records_throttle_fallback_total (\d+)$/m.exec(text)?.[1] ?? 0), 0);
}

/** Starts more instances, each with its own Redis. */
async function addApart(fixture: Fixture, ends: (() => unknown)[]): Promise<void> {
  while (fixture.instances.length < apartInstances) {
    const redis = await startOwnRedis();
    ends.push(() => redis.stop());
    fixture.instances.push(await fixture.start({ REDIS_URL: redis.uri }));
  }
}
