// The crash drill: interrupts a write at each of its steps and checks that a retry on another instance completes it
// exactly once.
import { setTimeout as sleep } from "node:timers/promises";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { MongoProxy } from "../../fixtures/network/mongo-proxy.ts";
import { startMongoProxy } from "../../fixtures/network/mongo-proxy.ts";
import type { WireResponse } from "../../fixtures/clients/idempotent-writes.ts";
import type { DatabaseUris } from "../../fixtures/databases/database.ts";
import { withFault } from "../../fixtures/databases/own-mongod.ts";
import type { Drill, Report, Say } from "../drill.ts";
import { brokenControl } from "../fixture/broken.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Breach, BrokenWrite } from "./instants.ts";
import { commands, everyWrite, sampledWrites, describe } from "./instants.ts";
import type { ReplyProxy } from "./reply-proxy.ts";
import { startReplyProxy } from "./reply-proxy.ts";
import type { PreparedWrite } from "./write.ts";
import { prepareWrite } from "./write.ts";

const claimAfter = {
  from: "    if (claim !== undefined) await insertClaim(claims, claim, session);\n    const result = await work({ session }, {});\n    noteWrite(scope);\n    return result;\n  });",
  to: "    return work({ session }, {});\n  }).then(async (result) => {\n    if (claim !== undefined) await insertClaim(claims, claim, undefined);\n    return result;\n  });",
};

const killedBeforeClaim: BrokenWrite = {
  operation: "create",
  wire: "REST",
  breach: { kind: "killed", at: { command: "update", collection: "idempotency", when: "before" } },
};

export const crash: Drill = {
  name: "crash",
  promise:
    "A write with an idempotency key that is interrupted at any step happens exactly once when it is retried on another instance",
  run: (form, say) => run(form === "long" ? everyWrite : sampledWrites, say),
  controls: [
    brokenControl("the idempotency key is stored after the transaction of its record", [claimAfter], (broken, say) =>
      run([killedBeforeClaim], say, broken, / contacts exist, /),
    ),
  ],
};

/** The instance to interrupt, with its proxy and its database. */
interface Target {
  readonly instance: ChildInstance;
  readonly proxy: MongoProxy;
  readonly mongod: DatabaseUris;
}

/**
 * Interrupts these writes. Only violations that match `relevant` count, so that a control can name what it provokes.
 */
async function run(
  writes: readonly BrokenWrite[],
  say: Say,
  broken: Record<string, string> = {},
  relevant = /^/,
): Promise<Report> {
  return withFixture({ members: 1, instances: 1, environment: broken }, async (fixture) => {
    const sent = new Set<string>();
    const proxy = await startMongoProxy(
      fixture.mongod.uri,
      (command, collection) => void sent.add(label({ command, collection })),
    );
    try {
      const healthy = fixture.instances[0]?.base ?? "";
      const instance = await fixture.start({ MONGODB_URI: proxy.uri });
      fixture.instances.push(instance);
      const target = { instance, proxy, mongod: fixture.mongod };
      const prepared = await Promise.all(writes.map((write) => prepareWrite(fixture, healthy, write)));
      const violations: string[] = [];
      const checking: Promise<string[]>[] = [];
      const of = (kind: Breach["kind"]): PreparedWrite[] =>
        prepared.filter(({ broken: { breach } }) => breach.kind === kind);
      for (const kind of ["fault", "cut"] as const) {
        say(`${of(kind).length} writes: ${kind}`);
        for (const write of of(kind))
          checking.push(checked(write, healthy, await interrupted(write, target, violations)));
      }
      say(`${of("killed").length} writes: killed`);
      const pending = await killed(of("killed"), target, violations);
      checking.push(...pending.map(async ({ write, response }) => checked(write, healthy, await response)));
      violations.push(...(await Promise.all(checking)).flat(), ...unknownSteps(sent));
      const figures = {
        "writes with a fault of mongod": of("fault").length,
        "writes with a connection cut": of("cut").length,
        "writes with an instance killed": of("killed").length,
      };
      return { figures, violations: violations.filter((violation) => relevant.test(violation)) };
    } finally {
      await proxy.stop();
    }
  });
}

/** Runs beside the next writes. A check that fails to run is a violation, and the drill continues. */
function checked(write: PreparedWrite, healthy: string, first: WireResponse | undefined): Promise<string[]> {
  return write
    .check(healthy, first)
    .catch((error: unknown) => [`${describe(write.broken)}: the check failed: ${String(error)}`]);
}

const reachedWithinMs = 20_000;

/** Waits for the instant. If it never comes, nothing was interrupted, which is a violation. */
async function awaitInstant(instant: Promise<void>, { broken }: PreparedWrite, violations: string[]): Promise<void> {
  const late = sleep(reachedWithinMs, "late" as const, { ref: false });
  if ((await Promise.race([instant, late])) === "late")
    violations.push(`${describe(broken)}: the instant was never reached`);
}

/**
 * Sends a write to an instance that survives, and returns the response. Writes run one at a time, because an instant
 * belongs to a single write.
 */
async function interrupted(
  write: PreparedWrite,
  { instance, proxy, mongod }: Target,
  violations: string[],
): Promise<WireResponse | undefined> {
  const { breach } = write.broken;
  if (breach.kind === "fault")
    return withFault(mongod, { times: 1 }, { ...breach.fault, appName: "records" }, () => write.send(instance.base));
  if (!("at" in breach)) return undefined;
  const cut = proxy.arm(breach.at, (held) => held.cut());
  const response = write.send(instance.base);
  await awaitInstant(cut, write, violations);
  return response;
}

/** Holds each write at its instant, then kills the instance. */
async function killed(
  writes: readonly PreparedWrite[],
  { instance, proxy }: Target,
  violations: string[],
): Promise<{ write: PreparedWrite; response: Promise<WireResponse | undefined> }[]> {
  const pending: { write: PreparedWrite; response: Promise<WireResponse | undefined> }[] = [];
  const proxies: ReplyProxy[] = [];
  try {
    for (const write of writes) {
      const { breach } = write.broken;
      if ("at" in breach) {
        const held = proxy.arm(breach.at, () => undefined);
        pending.push({ write, response: write.send(instance.base) });
        await awaitInstant(held, write, violations);
      } else if ("received" in breach) {
        const replyProxy = await startReplyProxy(Number(new URL(instance.base).port), breach.received);
        proxies.push(replyProxy);
        pending.push({ write, response: write.send(replyProxy.base) });
        await awaitInstant(replyProxy.reached, write, violations);
      }
    }
    await instance.kill();
    await Promise.all(pending.map(({ response }) => response));
  } finally {
    for (const replyProxy of proxies) replyProxy.stop();
  }
  return pending;
}

/** Commands of a write that are not among its known steps, so the drill never interrupts them. */
function unknownSteps(sent: ReadonlySet<string>): string[] {
  const known = new Set(Object.values(commands).flat().map(label));
  return [...sent]
    .filter(
      (command) =>
        /^(insert|update|delete|findAndModify) (contacts|notes|idempotency)$|^commit/.test(command) &&
        !known.has(command),
    )
    .map((command) => `a write also sends ${command}, a step that the drill does not know`);
}

function label({
  command,
  collection,
}: {
  readonly command: string;
  readonly collection?: string | undefined;
}): string {
  return collection === undefined ? command : `${command} ${collection}`;
}
