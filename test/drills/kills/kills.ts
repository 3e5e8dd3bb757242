// The kills drill: instances and primaries are killed, frozen and deposed during a stream of writes with idempotency
// keys.
import { setTimeout as sleep } from "node:timers/promises";
import type { Drill, Form, Report, Say } from "../drill.ts";
import { brokenControl } from "../fixture/broken.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Fault } from "./faults.ts";
import { faultsOn } from "./faults.ts";
import type { Done } from "./gaps.ts";
import { gapFigures } from "./gaps.ts";
import { checkWrites } from "./checker.ts";
import type { StreamOptions } from "./stream.ts";
import { runStream } from "./stream.ts";

/** How often each fault happens. The faults of a track are sequential; tracks run in parallel. */
type Track = Partial<Record<Fault, number>>;

interface Plan {
  /** The time over which the faults are spread. The run takes longer if the faults do. */
  readonly seconds: number;
  readonly tracks: readonly Track[];
  readonly instances: number;
  /** Milliseconds between two writes of a client. */
  readonly pauseMs: number;
  /** How long a primary is isolated if it acknowledges nothing, in milliseconds. */
  readonly aloneMs: number;
}

const plans: Record<Form, Plan> = {
  long: {
    seconds: 600,
    tracks: [
      { "instance kill": 100 },
      { "primary kill": 20, "primary freeze": 5, "primary isolation": 3, stepdown: 10 },
      { "Redis flush": 10, "Redis freeze": 5 },
    ],
    instances: 3,
    pauseMs: 30,
    aloneMs: 2_000,
  },
  short: {
    seconds: 3,
    tracks: [
      { "instance kill": 1, "Redis flush": 1 },
      { "primary isolation": 1, stepdown: 1 },
    ],
    instances: 2,
    pauseMs: 30,
    aloneMs: 1_000,
  },
};

/** The plan of a control. */
const shortPlan: Plan = { seconds: 1.5, tracks: [], instances: 1, pauseMs: 10, aloneMs: 15_000 };

const alone = {
  from: 'level: "snapshot" }, writeConcern: { w: "majority" }',
  to: 'level: "snapshot" }, writeConcern: { w: 1 }',
};
const inserted = "await writes.insert(scope, document, { message: response, records: [document._id] });\n";
const otherResponse = {
  from: `${inserted}      return response;`,
  to: `${inserted}      const other = createContactStore.before ?? response;\n      createContactStore.before = response;\n      return other;`,
};

export const kills: Drill = {
  name: "kills",
  promise:
    "Writes with an idempotency key happen exactly once while instances and primaries are killed, and nothing acknowledged is lost",
  run: (form, say) => run({ plan: plans[form], members: 3, form, say }),
  controls: [
    brokenControl("a commit only waits for the primary", [alone], (broken, say) => {
      const plan = { ...shortPlan, tracks: [{ "primary isolation": 1 }] };
      return run({ plan, members: 3, broken, say, seen: / but is lost$/ });
    }),
    {
      broken: "a client retries a write with another key",
      run: (_form, say) =>
        run({
          plan: shortPlan,
          members: 1,
          say,
          keyOf: (name, attempt) => (attempt === 0 ? name : `${name}-${attempt}`),
          seen: / exists \d+ times$/,
        }),
    },
    brokenControl("the store answers a create with another contact", [otherResponse], (broken, say) =>
      run({ plan: shortPlan, members: 1, broken, say, seen: /, but its replay would be / }),
    ),
  ],
};

/** The options of a run. Controls set the optional ones. */
interface KillsRun extends Pick<StreamOptions, "keyOf"> {
  readonly plan: Plan;
  readonly members: 1 | 3;
  readonly form?: Form;
  readonly say: Say;
  /** The environment of instances with a bug. */
  readonly broken?: Readonly<Record<string, string>>;
  /** The violations that count for a control. */
  readonly seen?: RegExp;
}

/** The minimum number of writes, even on a slow machine. By then, every client has sent one twice. */
const writesAtLeast = 40;

async function run({ plan, members, form = "short", say, broken = {}, keyOf, seen = /^/ }: KillsRun): Promise<Report> {
  const failures: string[] = [];
  // Reports internal failures from the log, because a 500 does not reveal the cause.
  const onLogLine = (line: string): void =>
    void (line.includes('"reason":"INTERNAL"') && failures.push(`an instance failed: ${line}`));
  return withFixture(
    { members, instances: plan.instances, environment: { LOG_LEVEL: "error", ...broken }, onLogLine },
    async (fixture) => {
      const account = await fixture.account();
      const done: Done[] = [];
      const begun = performance.now();
      const during = async (acknowledgedCount: () => number): Promise<void> => {
        const faults = faultsOn(fixture, acknowledgedCount, plan.aloneMs);
        const track = async (counts: Track): Promise<void> => {
          const order = Object.entries(counts).flatMap(([fault, count]) =>
            Array.from({ length: count }, () => ({ fault: fault as Fault, at: Math.random() })),
          );
          order.sort((one, other) => one.at - other.at);
          for (const [turn, { fault }] of order.entries()) {
            await sleep(Math.max(0, begun + (plan.seconds * 1_000 * (turn + 0.5)) / order.length - performance.now()));
            say(fault);
            const from = performance.now();
            await faults[fault]();
            done.push({ fault, from, to: performance.now() });
          }
        };
        // Waits for every track even if one fails, so that nothing starts after the fixture is cleaned up.
        const tracks = await Promise.allSettled([sleep(plan.seconds * 1_000), ...plan.tracks.map(track)]);
        for (const result of tracks) if (result.status === "rejected") throw result.reason;
        for (
          const until = performance.now() + 30_000;
          acknowledgedCount() < writesAtLeast && performance.now() < until;
        )
          await sleep(50);
      };
      const stream = await runStream({
        bases: () => fixture.instances.map(({ base }) => base),
        key: account.key,
        clients: 4,
        pauseMs: plan.pauseMs,
        during,
        ...(keyOf && { keyOf }),
      });
      const seconds = (performance.now() - begun) / 1_000;
      const { acknowledged, retries } = stream;
      say(`checking ${acknowledged.length} acknowledged writes`);
      const violations = [...failures, ...(await checkWrites(fixture, account, stream, form))];
      return {
        violations: violations.filter((violation) => seen.test(violation)),
        figures: {
          "acknowledged writes": acknowledged.length,
          "of them over gRPC": acknowledged.filter(({ wire }) => wire === "gRPC").length,
          "of them notes": acknowledged.filter(({ operation }) => operation === "append").length,
          "of them by a replay": acknowledged.filter(({ replayed }) => replayed).length,
          "attempts without an acknowledgment": retries,
          "stream, s": seconds,
          ...gapFigures(
            acknowledged.map(({ at }) => at),
            done,
          ),
        },
      };
    },
  );
}
