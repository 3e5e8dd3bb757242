// The rolling drill: replaces instances one after the other under load, without failing a request.
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Outcome } from "../load/load.ts";
import { openLoop, quantile, tally } from "../load/load.ts";
import { createCaller, someContact } from "./caller.ts";

/** How instances are started and ended. */
interface Manner {
  readonly end: (instance: ChildInstance) => Promise<number | null>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Ends one instance without a replacement. */
  readonly once?: boolean;
}

const sizes = { long: { instances: 3, replacements: 30 }, short: { instances: 2, replacements: 2 } } as const;
/** Requests per second, and idle connections to each instance: few enough for each to be reused within a second. */
const perSecond = 40;
const idle = 5;

/** A shutdown that does not wait for requests. */
const hasty: Break = {
  from: "const until = performance.now() + graceMs;",
  to: "const until = performance.now(); for (const socket of sockets.keys()) socket.destroy();",
};

export const rolling: Drill = {
  name: "rolling",
  promise:
    "Replacing instances one after the other by SIGTERM under load fails no request, if callers take another instance when a connection is refused or not accepted",
  run: (form, say) => roll(form, say, { end: (instance) => instance.stop() }),
  controls: [
    {
      broken: "the instances are killed",
      run: (form, say) => roll(form, say, { end: (instance) => instance.kill().then(() => 0), once: true }),
    },
    brokenControl("a shutdown closes every connection at once", [hasty], (environment, say) =>
      roll("short", say, { end: (instance) => instance.stop(), environment, once: true }),
    ),
  ],
};

async function roll(form: Form, say: Say, { end, environment = {}, once = false }: Manner): Promise<Report> {
  const { instances, replacements } = once ? { instances: 2, replacements: 1 } : sizes[form];
  return withFixture({ members: 1, instances, environment }, async (fixture) => {
    const account = await fixture.account();
    const caller = createCaller(
      account,
      await someContact(fixture.instances[0]?.base ?? "", account.key),
      fixture.instances.map(({ base }) => base),
    );
    const violations: string[] = [];
    const stops: number[] = [];
    const outcomes: Outcome[] = [];
    let replaced = 0;
    let loading = true;

    async function replaceAll(): Promise<void> {
      await sleep(500);
      for (; replaced < replacements; replaced++) {
        if (!once) {
          const successor = await fixture.start();
          fixture.instances.push(successor);
          caller.bases.push(successor.base);
        }
        const [old] = fixture.instances;
        if (old === undefined) return;
        const crowd = openLoop({ perSecond: 2_000, seconds: 0.02, patienceMs: 15_000 }, (number) =>
          caller.send(1_000_000 + replaced * 100 + number),
        );
        // By now, some are served, some are running, and some are in transit.
        await sleep(10);
        const began = performance.now();
        const code = await end(old);
        stops.push(performance.now() - began);
        fixture.instances.shift();
        outcomes.push(...(await crowd));
        if (code !== 0) violations.push(`an instance ended with ${String(code)} on SIGTERM`);
        caller.bases.splice(caller.bases.indexOf(old.base), 1);
        if (replaced % 5 === 4) say(`${replaced + 1} of ${replacements} replaced`);
      }
      await sleep(500);
    }

    try {
      await caller.warm(idle);
      const replacing = replaceAll().finally(() => (loading = false));
      // Reported when it is awaited.
      replacing.catch(() => undefined);
      for (let round = 0; loading; round++)
        outcomes.push(
          ...(await openLoop({ perSecond, seconds: 1, patienceMs: 15_000 }, (number) =>
            caller.send(round * perSecond + number),
          )),
        );
      await replacing;
      const failed = outcomes.filter(({ reply }) => reply?.status !== 200 && reply?.status !== 201);
      if (failed.length > 0)
        violations.push(
          `${failed.length} of ${outcomes.length} requests failed: ${tally(failed)}${failed
            .map(({ reply }) => reply?.body ?? "")
            .filter((said) => said !== "")
            .slice(0, 1)
            .map((said) => `, such as ${said}`)
            .join("")}`,
        );
      // Excludes the contact that is read, which was created before.
      const held =
        (await fixture.client
          .db()
          .collection("contacts")
          .countDocuments({ account_id: new UUID(account.id) })) - 1;
      if (failed.length === 0 && held !== caller.written())
        violations.push(`${caller.written()} writes were acknowledged, but ${held} exist`);
      const figures = {
        requests: outcomes.length,
        responses: tally(outcomes),
        replaced,
        "rejected connections": caller.rejections(),
        "p99 ms": quantile(
          outcomes.map(({ ms }) => ms),
          0.99,
        ),
        "longest ms": quantile(
          outcomes.map(({ ms }) => ms),
          1,
        ),
        "stop p50 ms": quantile(stops, 0.5),
        "longest stop ms": quantile(stops, 1),
      };
      return { figures, violations };
    } finally {
      caller.close();
    }
  });
}
