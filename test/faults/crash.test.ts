// An instance is killed at every step of a write with a key: the retry on another instance leaves exactly one record.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordsOf } from "../idempotency/stored.ts";
import type { WireAnswer } from "../idempotency/wires.ts";
import { wires } from "../idempotency/wires.ts";
import { startOwnMongod } from "../support/own-mongod.ts";
import type { TestService } from "../support/service.ts";
import type { ChildInstance } from "./child.ts";
import { startChild } from "./child.ts";
import type { Hurt } from "./hurt.ts";
import { startHurt } from "./hurt.ts";
import type { Moment } from "./mongo-proxy.ts";
import { startMongoProxy } from "./mongo-proxy.ts";

let hurt: Hurt;
let survivor: TestService;

beforeAll(async () => {
  hurt = await startHurt(startOwnMongod);
  survivor = await hurt.instance();
});
afterAll(async () => {
  await hurt.stop();
});

/** A child whose every word with MongoDB passes a proxy. */
async function doomedChild() {
  const proxy = await startMongoProxy(Number(new URL(hurt.mongod.uri).port));
  const child: ChildInstance = await startChild(proxy.uri("records"), hurt.redis.uri);
  return { proxy, child };
}

const both = (command: string, collection?: string): Moment[] =>
  (["before", "after"] as const).map((when) => ({ command, ...(collection === undefined ? {} : { collection }), when }));

const steps = {
  create: [...both("find", "api_keys"), ...both("update", "idempotency"), ...both("insert", "contacts"), ...both("commitTransaction")],
  append: [...both("update", "idempotency"), ...both("findAndModify", "contacts"), ...both("insert", "notes"), ...both("commitTransaction")],
};
const cases = Object.entries(steps).flatMap(([operation, moments]) => moments.map((moment, at) => ({ operation, ...moment, wire: at % 4 < 2 ? ("REST" as const) : ("gRPC" as const) })));

describe.concurrent("killed", () => {
  test.each(cases)("$when $command $collection of a $wire $operation: the retry answers 201, and one record is there [IDM-15]", async ({ operation, wire, ...moment }) => {
    const account = await survivor.account();
    const parent = await wires.REST.create({ base: survivor.base, key: account.key }, "parent", { full_name: "Parent" });
    const { proxy, child } = await doomedChild();
    const send = (base: string, over: keyof typeof wires): Promise<WireAnswer> =>
      operation === "create"
        ? wires[over].create({ base, key: account.key }, "k", { full_name: "Once" })
        : wires[over].append({ base, key: account.key }, "k", parent.id, "once");
    const killed = proxy.arm(moment, () => void child.kill());
    const unheard = send(child.base, wire).then(({ outcome }) => outcome, () => "broken off");
    await killed;
    expect(["broken off", "Unavailable", "Aborted", "Unknown", "Internal"]).toContain(await unheard);
    const started = performance.now();
    let retry = await send(survivor.base, "REST");
    while (retry.outcome === "503") retry = await send(survivor.base, "REST");
    console.log(operation, moment, "retry took", Math.round(performance.now() - started));
    const committed = moment.command === "commitTransaction" && moment.when === "after";
    expect([retry.outcome, retry.replayed]).toEqual(["ok", committed]);
    expect(await recordsOf(survivor.app.client, account)).toEqual({ contacts: operation === "create" ? 2 : 1, notes: operation === "append" ? 1 : 0, claims: 2 });
    await proxy.stop();
  }, 120_000);
});
