// The drill of crashes: a write is broken at every one of its steps, and its retry on another instance leaves it done
// once.
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
import { commands, everyWrite, sampledWrites, spell } from "./instants.ts";
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
    "A write with an idempotency key that is broken at any step happens exactly once when it is repeated on another instance",
  run: (form, say) => run(form === "long" ? everyWrite : sampledWrites, say),
  controls: [
    brokenControl("the idempotency key is stored after the transaction of its record", [claimAfter], (broken, say) =>
      run([killedBeforeClaim], say, broken, / contacts are there, /),
    ),
  ],
};

/** The way to an instance that is broken, and that instance. */
interface Patient {
  readonly instance: ChildInstance;
  readonly proxy: MongoProxy;
  readonly mongod: DatabaseUris;
}

/** Breaks these writes; of the violations those count that are `seen`, which a control sets to what it is about. */
async function run(
  writes: readonly BrokenWrite[],
  say: Say,
  broken: Record<string, string> = {},
  seen = /^/,
): Promise<Report> {
  return withFixture({ members: 1, instances: 1, environment: broken }, async (fixture) => {
    const sent = new Set<string>();
    const proxy = await startMongoProxy(
      fixture.mongod.uri,
      (command, collection) => void sent.add(label({ command, collection })),
    );
    try {
      const whole = fixture.instances[0]?.base ?? "";
      const instance = await fixture.start({ MONGODB_URI: proxy.uri });
      fixture.instances.push(instance);
      const patient = { instance, proxy, mongod: fixture.mongod };
      const prepared = await Promise.all(writes.map((write) => prepareWrite(fixture, whole, write)));
      const violations: string[] = [];
      const checking: Promise<string[]>[] = [];
      const of = (kind: Breach["kind"]): PreparedWrite[] =>
        prepared.filter(({ broken: { breach } }) => breach.kind === kind);
      for (const kind of ["fault", "cut"] as const) {
        say(`${of(kind).length} writes: ${kind}`);
        for (const write of of(kind)) checking.push(checked(write, whole, await suffered(write, patient, violations)));
      }
      say(`${of("killed").length} writes: killed`);
      const pending = await killed(of("killed"), patient, violations);
      checking.push(...pending.map(async ({ write, response }) => checked(write, whole, await response)));
      violations.push(...(await Promise.all(checking)).flat(), ...unknownSteps(sent));
      const figures = {
        "writes with a fault of mongod": of("fault").length,
        "writes with a connection cut": of("cut").length,
        "writes with an instance killed": of("killed").length,
      };
      return { figures, violations: violations.filter((violation) => seen.test(violation)) };
    } finally {
      await proxy.stop();
    }
  });
}

/** Continues while the next writes run: a check that cannot be made is a violation, not an end of them. */
function checked(write: PreparedWrite, whole: string, first: WireResponse | undefined): Promise<string[]> {
  return write
    .check(whole, first)
    .catch((error: unknown) => [`${spell(write.broken)}: it could not be checked: ${String(error)}`]);
}

const reachedWithinMs = 20_000;

/** Whether the instant came; a violation where it did not, for then nothing was broken. */
async function came(instant: Promise<void>, { broken }: PreparedWrite, violations: string[]): Promise<void> {
  const late = sleep(reachedWithinMs, "late" as const, { ref: false });
  if ((await Promise.race([instant, late])) === "late") violations.push(`${spell(broken)}: the instant never came`);
}

/**
 * Sends a write to an instance that lives on, and returns what its client receives. One after the other, as an instant
 * is that of one write alone.
 */
async function suffered(
  write: PreparedWrite,
  { instance, proxy, mongod }: Patient,
  violations: string[],
): Promise<WireResponse | undefined> {
  const { breach } = write.broken;
  if (breach.kind === "fault")
    return withFault(mongod, { times: 1 }, { ...breach.fault, appName: "records" }, () => write.send(instance.base));
  if (!("at" in breach)) return undefined;
  const cut = proxy.arm(breach.at, (held) => held.cut());
  const response = write.send(instance.base);
  await came(cut, write, violations);
  return response;
}

/** Sends each write until its instant, where it is held; when all are there, the instance is killed. */
async function killed(
  writes: readonly PreparedWrite[],
  { instance, proxy }: Patient,
  violations: string[],
): Promise<{ write: PreparedWrite; response: Promise<WireResponse | undefined> }[]> {
  const pending: { write: PreparedWrite; response: Promise<WireResponse | undefined> }[] = [];
  const ways: ReplyProxy[] = [];
  try {
    for (const write of writes) {
      const { breach } = write.broken;
      if ("at" in breach) {
        const held = proxy.arm(breach.at, () => undefined);
        pending.push({ write, response: write.send(instance.base) });
        await came(held, write, violations);
      } else if ("received" in breach) {
        const way = await startReplyProxy(Number(new URL(instance.base).port), breach.received);
        ways.push(way);
        pending.push({ write, response: write.send(way.base) });
        await came(way.reached, write, violations);
      }
    }
    await instance.kill();
    await Promise.all(pending.map(({ response }) => response));
  } finally {
    for (const way of ways) way.stop();
  }
  return pending;
}

/** Changes of what a write touches that are none of its known steps: instants which nobody has tried. */
function unknownSteps(sent: ReadonlySet<string>): string[] {
  const known = new Set(Object.values(commands).flat().map(label));
  return [...sent]
    .filter(
      (command) =>
        /^(insert|update|delete|findAndModify) (contacts|notes|idempotency)$|^commit/.test(command) &&
        !known.has(command),
    )
    .map((command) => `a write also sends ${command}, and the drill does not know that step`);
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
