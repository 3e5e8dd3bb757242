// The drill of kills: instances and primaries are killed, frozen and deposed under a stream of writes with keys.
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

/** How often each fault comes. Faults of one track follow each other, those of two come as they will. */
type Track = Partial<Record<Fault, number>>;

interface Plan {
  /** Over these the faults are spread; it takes longer where they take longer. */
  readonly seconds: number;
  readonly tracks: readonly Track[];
  readonly instances: number;
  /** Milliseconds between two writes of a client. */
  readonly pauseMs: number;
  /** Milliseconds for which an isolated primary is left alone, where it acknowledges nothing. */
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

/** A plan of a control. */
const little: Plan = { seconds: 1.5, tracks: [], instances: 1, pauseMs: 10, aloneMs: 15_000 };

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
    "Writes with an idempotency key happen exactly once while instances and primaries are killed under them, and nothing acknowledged is lost",
  run: (form, say) => run({ plan: plans[form], members: 3, form, say }),
  controls: [
    brokenControl("a commit waits for the primary alone", [alone], (broken, say) => {
      const plan = { ...little, tracks: [{ "primary isolation": 1 }] };
      return run({ plan, members: 3, broken, say, seen: / and is lost$/ });
    }),
    {
      broken: "a client repeats a write under another key",
      run: (_form, say) =>
        run({
          plan: little,
          members: 1,
          say,
          keyOf: (name, attempt) => (attempt === 0 ? name : `${name}-${attempt}`),
          seen: / is there \d+ times$/,
        }),
    },
    brokenControl("the store returns for a create with another contact", [otherResponse], (broken, say) =>
      run({ plan: little, members: 1, broken, say, seen: /, and its replay would be / }),
    ),
  ],
};

/** A run of the drill, and what is different in a control. */
interface KillsRun extends Pick<StreamOptions, "keyOf"> {
  readonly plan: Plan;
  readonly members: 1 | 3;
  readonly form?: Form;
  readonly say: Say;
  /** Settings of instances that are broken. */
  readonly broken?: Readonly<Record<string, string>>;
  /** The violations that a control is to see; others count for nothing. */
  readonly seen?: RegExp;
}

/** As many writes at least, on a machine however slow: then every client has sent one twice. */
const writesAtLeast = 40;

async function run({ plan, members, form = "short", say, broken = {}, keyOf, seen = /^/ }: KillsRun): Promise<Report> {
  const failures: string[] = [];
  // A failure that an instance calls its own is reported with its cause: a response of 500 says nothing of it.
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
        // Each to its end, also where another failed: nothing may be started when the fixture is cleared.
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
          "attempts without an acknowledgement": retries,
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
