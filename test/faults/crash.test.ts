// An instance is killed at every step of a write with a key: the retry on another instance leaves exactly one record.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordsOf } from "../idempotency/stored.ts";
import type { WireAnswer } from "../idempotency/wires.ts";
import { startOwnMongod } from "../support/own-mongod.ts";
import type { TestService } from "../support/service.ts";
import { startChild } from "./child.ts";
import type { Hurt } from "./hurt.ts";
import { startHurt } from "./hurt.ts";
import type { Moment } from "./mongo-proxy.ts";
import { startMongoProxy } from "./mongo-proxy.ts";
import { steppedWrites, prepare, spell } from "./steps.ts";

let hurt: Hurt;
let survivor: TestService;

beforeAll(async () => {
  hurt = await startHurt(startOwnMongod);
  survivor = await hurt.instance();
});
afterAll(async () => {
  await hurt.stop();
});

/** Sends the request to an instance that is killed at the moment. What the client hears of it, if anything. */
async function killedAt(moment: Moment, send: (base: string) => Promise<WireAnswer>): Promise<string> {
  const proxy = await startMongoProxy(Number(new URL(hurt.mongod.uri).port));
  const child = await startChild(proxy.uri("records"), hurt.redis.uri);
  try {
    const killed = proxy.arm(moment, () => process.kill(child.pid, "SIGKILL"));
    const heard = send(child.base).then(({ outcome }) => outcome, () => "broken off");
    await killed;
    return await heard;
  } finally {
    await child.kill();
    await proxy.stop();
  }
}

/** A client that retries while it is told 503, but not for as long as MongoDB would keep an open transaction. */
async function retried(send: () => Promise<WireAnswer>): Promise<WireAnswer> {
  let answer = await send();
  for (let tries = 1; tries < 4 && answer.outcome === "503"; tries++) answer = await send();
  return answer;
}

describe.concurrent("an instance killed with SIGKILL", () => {
  test.each(steppedWrites.map((write) => [spell(write), write] as const))("%s: the retry on another instance is 201, and there is one record [IDM-15]", async (_name, write) => {
    const { account, send, once } = await prepare(survivor, write.operation);
    expect(await killedAt(write, (base) => send(base, write.wire))).not.toBe("ok");
    const retry = await retried(() => send(survivor.base, "REST"));
    const committed = write.command === "commitTransaction" && write.when === "after";
    // A retry that was told 503 went on by itself: then a later one is a replay of it.
    expect(retry.outcome).toBe("ok");
    if (committed) expect(retry.replayed).toBe(true);
    expect(await recordsOf(survivor.app.client, account)).toEqual(once);
    expect((await send(survivor.base, "gRPC")).id).toBe(retry.id);
  });

  test("in the middle of an append, another client's change of the same contact goes through [IDM-15]", async () => {
    const { account, parent, send } = await prepare(survivor, "append");
    await killedAt({ command: "insert", collection: "notes", when: "before" }, (base) => send(base, "REST"));
    const change = (): Promise<WireAnswer> =>
      survivor.rest(`/v1/contacts/${parent}`, { method: "PATCH", key: account.key, body: { full_name: "Changed" } }).then(({ status, text }) => ({ outcome: String(status), text, id: "", replayed: false }));
    expect((await retried(change)).outcome).toBe("200");
  });
});
