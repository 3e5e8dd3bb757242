// The drill of planned maintenance: every dependency is restarted in turn under load, and a caller who repeats 503 sees
// nothing of it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import { startInItsPlace } from "../../fixtures/databases/redis-in-its-place.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Reply } from "../load/connection.ts";
import type { Outcome } from "../load/load.ts";
import { openLoop, quantile, tally } from "../load/load.ts";
import type { Caller } from "../rolling/caller.ts";
import { createCaller, someContact } from "../rolling/caller.ts";
import { readLines } from "../fixture/lines.ts";

interface Plan {
  readonly instances: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** How often each dependency is restarted, evenly over the time. */
  readonly rounds: number;
  /** The only dependency that is restarted; without it all of them. */
  readonly only?: string;
}

const plans: Record<Form, Plan> = {
  long: { instances: 3, seconds: 600, perSecond: 50, rounds: 5 },
  short: { instances: 2, seconds: 8, perSecond: 30, rounds: 1 },
};
const stepDowns = "stepdown of the primary";
/** Of a control: nothing else makes as many requests fail. */
const little: Plan = { ...plans.short, instances: 1, seconds: 3, only: stepDowns };
/** As the documentation advises: growing pauses, at random, for as long as a failover takes. */
const patience = { firstMs: 200, maxMs: 5_000, totalMs: 30_000 } as const;

/** The first failure of a request loses its cause. */
const speechless = {
  file: "src/observability/failures.ts",
  from: "if (failure.kind.http >= 500) observe(inbound, causeOf(failure, inbound));",
  to: "",
};

const blunt = {
  file: "src/call/errors.ts",
  from: "[Reason.UNAVAILABLE]: {\n    http: 503,\n    code: Code.Unavailable,",
  to: "[Reason.UNAVAILABLE]: {\n    http: 500,\n    code: Code.Internal,",
};

export const maintenance: Drill = {
  name: "maintenance",
  promise:
    "While instances, Redis and the primary are restarted under load, a caller who repeats 503 sees no failure, and each 5xx line of the log names its cause",
  run: (form, say) => maintain(plans[form], say),
  controls: [
    brokenControl("failed requests have no cause in the log", [speechless], (environment, say) =>
      maintain(little, say, environment),
    ),
    brokenControl("a database that is away is a 500", [blunt], (environment, say) =>
      maintain(little, say, environment),
    ),
  ],
};

async function maintain(
  { instances, seconds, perSecond, rounds, only }: Plan,
  say: Say,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const lines = readLines();
  return withFixture(
    { members: 3, instances, environment: { ...environment, LOG_LEVEL: "info" }, onLogLine: lines.add },
    async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), "records-maintenance-"));
      const account = await fixture.account();
      const caller = createCaller(
        account,
        await someContact(fixture.instances[0]?.base ?? "", account.key),
        fixture.instances.map(({ base }) => base),
      );
      const violations: string[] = [];
      const unprovoked: string[] = [];
      let repeated = 0;
      let redis = fixture.redis;

      const works = {
        async [stepDowns]() {
          unprovoked.push(...(await stepDown(fixture)));
        },
        async "restart of Redis"() {
          const before = redis.pid;
          await redis.stop();
          redis = await startInItsPlace(fixture.redis.uri, mkdtempSync(join(folder, "redis-")));
          if (redis.pid === before) unprovoked.push("Redis did not restart");
        },
        async "rolling restart of the instances"() {
          for (const old of [...fixture.instances]) violations.push(...(await replace(fixture, caller, old)));
        },
      };
      async function work(): Promise<void> {
        const parts = Object.entries(works).filter(([name]) => only === undefined || name === only);
        const turns = Array.from({ length: rounds }, () => parts).flat();
        const pauseMs = (seconds * 1_000) / (turns.length + 1);
        for (const [name, restart] of turns) {
          await sleep(pauseMs);
          say(name);
          await restart();
        }
      }

      /** A request until it is anything but 503. */
      async function persistently(number: number): Promise<Reply> {
        const end = performance.now() + patience.totalMs;
        for (let pauseMs: number = patience.firstMs; ; pauseMs = Math.min(patience.maxMs, 2 * pauseMs)) {
          const reply = await caller.send(number);
          if (!unavailable.has(reply.status) || performance.now() > end) return reply;
          repeated += 1;
          await sleep(Math.random() * pauseMs);
        }
      }

      try {
        let over = false;
        const working = work().finally(() => (over = true));
        // Reported when it is waited for.
        working.catch(() => undefined);
        const slices: Promise<Outcome[]>[] = [];
        // One after the other at the rate, whatever is still under way: a busy machine takes longer for the restarts.
        while (!over || slices.length < seconds) {
          const first = slices.length * perSecond;
          slices.push(
            openLoop({ perSecond, seconds: 1, patienceMs: patience.totalMs + 10_000 }, (number) =>
              persistently(first + number),
            ),
          );
          await sleep(1_000);
        }
        await working;
        const outcomes = (await Promise.all(slices)).flat();
        const failed = outcomes.filter(({ reply }) => reply?.status !== 200 && reply?.status !== 201);
        if (failed.length > 0)
          violations.push(`${failed.length} of ${outcomes.length} requests failed: ${tally(failed)}`);
        const held =
          (await fixture.client
            .db()
            .collection("contacts")
            .countDocuments({ account_id: new UUID(account.id) })) - 1;
        if (failed.length === 0 && held !== caller.written())
          violations.push(`${caller.written()} writes were acknowledged, and ${held} are there`);
        const [line] = lines.unexplained();
        if (line !== undefined)
          violations.push(`${lines.unexplained().length} lines of failed requests name no cause, such as ${line}`);
        if (lines.failed() < rounds) unprovoked.push(`${rounds} stepdowns made ${lines.failed()} requests fail`);
        if (lines.failed() < repeated)
          violations.push(`${repeated} requests were repeated, and ${lines.failed()} lines report a 5xx`);
        const times = outcomes.map(({ ms }) => ms);
        const figures = {
          requests: outcomes.length,
          "repeated after 503": repeated,
          "rejected connections": caller.rejections(),
          "5xx lines": lines.failed(),
          causes: lines.causes(),
          "p50 ms": quantile(times, 0.5),
          "p99 ms": quantile(times, 0.99),
          "longest ms": quantile(times, 1),
        };
        return { figures, violations, unprovoked };
      } finally {
        caller.close();
        await redis.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
}

/** HTTP's status and gRPC's. */
const unavailable: ReadonlySet<number> = new Set([503, 14]);

/** Has another member elected; what did not come of it. */
async function stepDown({ client, primaryPid }: Fixture): Promise<string[]> {
  const before = await primaryPid();
  // It closes its connections, this one too.
  await client
    .db("admin")
    .command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 })
    .catch(() => undefined);
  const after = await primaryPid();
  return after === before ? ["the primary did not change"] : [];
}

/** Puts another instance in the place of an old one, as a rolling update does; what was wrong about its end. */
async function replace(
  { instances, start }: Fixture,
  { bases }: Caller,
  old: Fixture["instances"][number],
): Promise<string[]> {
  const successor = await start();
  instances.push(successor);
  bases.push(successor.base);
  const code = await old.stop();
  instances.splice(instances.indexOf(old), 1);
  bases.splice(bases.indexOf(old.base), 1);
  return code === 0 ? [] : [`an instance ended with ${String(code)} on SIGTERM`];
}
