// Far more requests than an instance can serve: what it takes is served as fast as ever, and the rest is rejected at
// once.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Drill, Form, Report, Say } from "../drill.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import { requestText } from "../load/connection.ts";
import type { Outcome, Send } from "../load/load.ts";
import { closedLoop, openLoop, quantile, tally } from "../load/load.ts";
import { pinApart } from "../load/pin.ts";
import type { Pool } from "../load/pool.ts";
import { createPool } from "../load/pool.ts";

/**
 * How much load, in multiples of the peak, and how much of the peak must remain. A peak of a second is too rough for
 * the promised share: the short form sees a collapse alone.
 */
const sizes = {
  long: { warmUps: 20_000, peakSeconds: 20, factor: 5, seconds: 120, share: 0.8 },
  short: { warmUps: 1_500, peakSeconds: 1, factor: 3, seconds: 4, share: 0.3 },
} as const;
const accounts = 20;
const contactsOfAccount = 30;
const note =
  "Wants to see the house again before the end of autumn, with her brother, who knows about roofs. Asked what the heating costs; send her the bills of the last three years.";
const callers = 48;
/** More than an instance works on at once. */
const crowd = 400;
/**
 * As a proxy keeps them: Node accepts one connection in each turn of its loop, and what waits for that is not the
 * service's to reject.
 */
const connections = 1_000;
const patienceMs = 15_000;
const heapMb = 256;
/** A process of Node is some 100 MB larger than its heap, and buffers and threads have to be somewhere. */
const maxRssMb = 2 * heapMb;

export const overload: Drill = {
  name: "overload",
  promise:
    "Five times as many requests as an instance can respond leave it its goodput, its memory and its health, the rest is rejected at once, and it recovers within 5 seconds",
  run: (form, say) => flood(form, say, {}),
  controls: [
    {
      broken: "nothing bounds what is worked on at once",
      run: (form, say) => flood(form === "long" ? "short" : form, say, { MAX_IN_FLIGHT: "1000000" }),
    },
  ],
};

async function flood(form: Form, say: Say, environment: Readonly<Record<string, string>>): Promise<Report> {
  const { warmUps, peakSeconds, factor, seconds, share } = sizes[form];
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
      const pools = { load: createPool(instance.base, connections), probe: createPool(instance.base) };
      try {
        const send = await mix(fixture, pools.load);
        // Rejections are warmed up as well: what Node has not compiled yet costs many times as much.
        await warmUp(crowd, warmUps, send);
        await warmUp(callers, warmUps, send);
        const cpuBefore = cpuSeconds(instance.pid);
        const atPeak = (await closedLoop(callers, peakSeconds, patienceMs, send)).filter(isGood).length;
        const peak = atPeak / peakSeconds;
        const peakEffort = atPeak / (cpuSeconds(instance.pid) - cpuBefore);
        say(`${Math.round(peak)} requests a second by ${callers} callers, each after the other`);

        const before = await probed(pools.probe, 500);
        const rssBefore = rssMb(instance.pid);
        let loading = true;
        let maxRss = rssBefore;
        const watching = (async () => {
          const seen: Outcome[] = [];
          while (loading) {
            seen.push(...(await probed(pools.probe, 250)));
            maxRss = Math.max(maxRss, rssMb(instance.pid));
          }
          return seen;
        })();
        await pools.load.warm(connections - pools.load.count());
        const cpuAtLoad = cpuSeconds(instance.pid);
        const outcomes = await openLoop({ perSecond: peak * factor, seconds, patienceMs }, send);
        const cpuOfLoad = cpuSeconds(instance.pid) - cpuAtLoad;
        loading = false;
        const during = await watching;
        const recovered = await recovery(
          send,
          Math.max(
            500,
            10 *
              quantile(
                before.map(({ ms }) => ms),
                0.5,
              ),
          ),
        );

        const good = outcomes.filter(isGood);
        const rejected = outcomes.filter(({ reply }) => reply?.status === 503);
        // What is served after the load has ended took longer than it.
        const lastSecond = good.reduce<number>(
          (latest, { dueMs, ms }) => Math.max(latest, (dueMs + ms) / 1_000),
          seconds,
        );
        const goodput = good.length / lastSecond;
        const effort = good.length / cpuOfLoad / peakEffort;
        // In seconds of a clock, a neighbour that takes the processor for one of them looks like a collapse.
        const remains = form === "short" ? Math.max(goodput / peak, effort) : goodput / peak;
        const rejectedMs = quantile(
          rejected.map(({ ms }) => ms),
          0.5,
        );
        const others = outcomes.filter((outcome) => !isGood(outcome) && outcome.reply?.status !== 503);
        const strange = rejected.filter(
          ({ reply }) =>
            !/^\{"error":\{"code":"503","message":"[^"]+"/.test(reply?.body ?? "") ||
            reply?.headers.has("retry-after") !== false,
        );
        const unhealthy = during.filter(({ reply }) => reply?.status !== 200);
        const violations = [
          ...(remains < share ? [`${Math.round(100 * remains)} % of the responses that it gave at the peak`] : []),
          ...(others.length > 0 ? [`neither served nor rejected: ${tally(others)}`] : []),
          ...(strange.length > 0
            ? [
                `${strange.length} rejections do not have the documented form, such as ${JSON.stringify(strange[0]?.reply?.body)}`,
              ]
            : []),
          ...(rejectedMs > 2_500 ? [`half of the rejections came later than ${Math.round(rejectedMs)} ms`] : []),
          ...(unhealthy.length > 0 ? [`health during the load: ${tally(unhealthy)}`] : []),
          ...(maxRss > maxRssMb ? [`the process grew to ${Math.round(maxRss)} MB`] : []),
          ...(recovered === undefined ? ["5 seconds after the load requests were still slow or rejected"] : []),
        ];
        const figures = {
          "peak a second": peak,
          "offered a second": peak * factor,
          "goodput a second": goodput,
          "goodput % of the peak": 100 * remains,
          "responses for a second of the processor, % of those at the peak": 100 * effort,
          responses: tally(outcomes),
          "accepted p50 ms": quantile(
            good.map(({ ms }) => ms),
            0.5,
          ),
          "accepted p99 ms": quantile(
            good.map(({ ms }) => ms),
            0.99,
          ),
          "rejected p50 ms": rejectedMs,
          "rejected p99 ms": quantile(
            rejected.map(({ ms }) => ms),
            0.99,
          ),
          "health p99 ms": quantile(
            during.map(({ ms }) => ms),
            0.99,
          ),
          "RSS before MB": rssBefore,
          "RSS most MB": maxRss,
          "connections at the end": pools.load.count(),
          "recovered after ms": recovered ?? "not within 5000",
        };
        return { figures, violations };
      } finally {
        pins.undo();
        pools.load.close();
        pools.probe.close();
      }
    },
  );
}

/**
 * What tools request, in turn by many accounts: of ten requests five contacts, four searches with results to fill a
 * page, and a create.
 */
async function mix(fixture: Fixture, pool: Pool): Promise<Send> {
  const made = await Promise.all(
    Array.from({ length: accounts }, async () => {
      const { key } = await fixture.account();
      const headers = { Authorization: `Bearer ${key}` };
      const create = (name: string): string => requestText("POST", "/v1/contacts", headers, { full_name: name });
      const get = (path: string): string => requestText("GET", path, headers);
      let read = "";
      for (let count = 0; count < contactsOfAccount; count++) {
        const { data } = JSON.parse((await pool.send(create("Ann Lee"))).body) as { data: { id: string } };
        read = get(`/v1/contacts/${data.id}`);
        await pool.send(requestText("POST", `/v1/contacts/${data.id}/notes`, headers, { content: note }));
      }
      const [contacts, notes] = [get("/v1/contacts?query=ann"), get("/v1/notes?query=autumn")];
      // No search finds what is created: its work stays the same, however many requests came before.
      const other = create("Bo Day");
      return [read, contacts, read, notes, read, other, read, contacts, read, notes];
    }),
  );
  return (number) => pool.send(made[number % made.length]?.[Math.floor(number / made.length) % 10] ?? "");
}

/** Sends at least `requests`: on a busy machine a second is too short to compile the code. */
async function warmUp(senders: number, requests: number, send: Send): Promise<void> {
  for (let sent = 0; sent < requests; ) sent += (await closedLoop(senders, 1, patienceMs, send)).length;
}

/** Requests health four times, so many milliseconds apart. */
async function probed(pool: Pool, everyMs: number): Promise<Outcome[]> {
  const health = requestText("GET", "/v1/health", {});
  return openLoop({ perSecond: 1_000 / everyMs, seconds: (4 * everyMs) / 1_000, patienceMs }, () => pool.send(health));
}

/**
 * The milliseconds until five requests in a row were served well within `normalMs`; undefined when it took 5 seconds.
 */
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

/** The processor's time that a process has had; Linux counts it in hundredths. */
function cpuSeconds(pid: number): number {
  const [user = "0", system = "0"] = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? "")
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
}
