// Every write that takes an idempotency key, as the descriptors say: once over every wire, and by every wire again.
import { afterAll, beforeAll, expect, test } from "vitest";
import { named, operations } from "../fixtures/clients/operations.ts";
import type { Fields, Rpc, Wire } from "../fixtures/clients/wires.ts";
import { endpoints, isOfRest, openWires } from "../fixtures/clients/wires.ts";
import { counts } from "../support/client.ts";
import { newOwner } from "../support/every.ts";
import { writesIn } from "../support/writes.ts";
import { useTwoInstances } from "./two-instances.ts";

const { service, other, redis } = useTwoInstances();
const idempotent = operations.filter((operation) => operation.idempotent).map(({ rpc }) => rpc);
let here: ReturnType<typeof openWires>;
let there: ReturnType<typeof openWires>;

beforeAll(() => {
  here = openWires(service());
  there = openWires(other());
});
afterAll(() => {
  here.close();
  there.close();
});

/** Another valid request of the same form: its last text is longer. */
function changed(request: Fields): Fields {
  const [name, value] = Object.entries(request).findLast(([field]) => !field.endsWith("_id")) ?? [];
  if (name === undefined || typeof value !== "string") throw new Error("the request has no text to change");
  return { ...request, [name]: `${value} and more` };
}

test("every write that cannot simply be repeated accepts an idempotency key, over REST every one that returns 201, and no read does", () => {
  const demanded = writesIn("idempotency").map(({ path }) => named(path));
  expect([...idempotent].sort()).toEqual(demanded.sort());
  for (const { rpc, writes, idempotent: takes, success } of operations)
    if (isOfRest(rpc)) expect(takes, rpc).toBe(writes && success === 201);
  expect(idempotent.length).toBeGreaterThanOrEqual(2);
});

test.each(idempotent)(
  "%s with one key is written once over every wire; every wire of another instance replays the response from Redis and from MongoDB, and another request is a conflict [IDM-09, IDM-10]",
  async (rpc: Rpc) => {
    for (const wire of here.wires.filter(({ serves }) => serves(rpc))) {
      const owner = await newOwner(service());
      const request = endpoints[rpc].request(owner);
      const before = await records();
      const send = (by: Wire, what: Fields) => by.call({ rpc, key: owner.key, idempotencyKey: "k", request: what });
      const first = await send(wire, request);
      const written = await records();
      expect(written, wire.name).toBe(before + 1);
      for (const again of there.wires.filter(({ serves }) => serves(rpc))) {
        const pair = `${wire.name}, then ${again.name}`;
        expect((await send(again, request)).body, `${pair}, from Redis`).toEqual(first.body);
        await redis().flushall();
        expect((await send(again, request)).body, `${pair}, from MongoDB`).toEqual(first.body);
        const conflict = await send(again, changed(request));
        expect([conflict.http ?? 409, conflict.code ?? "aborted"], pair).toEqual([409, "aborted"]);
      }
      expect(await records()).toBe(written);
    }
  },
);

test.each(idempotent)(
  "%s with a malformed key is rejected as invalid over every wire, and writes nothing [IDM-02, IDM-03, IDM-04, IDM-09]",
  async (rpc: Rpc) => {
    const owner = await newOwner(service());
    const before = await records();
    for (const wire of here.wires.filter(({ serves }) => serves(rpc)))
      for (const idempotencyKey of ["", "a b", "x".repeat(129)]) {
        const call = { rpc, key: owner.key, idempotencyKey, request: endpoints[rpc].request(owner) };
        const { code, http } = await wire.call(call);
        expect(code ?? http, `${wire.name}, "${idempotencyKey}"`).toBe(wire.name === "rest" ? 422 : "invalid_argument");
      }
    expect(await records()).toBe(before);
  },
);

async function records(): Promise<number> {
  const { contacts = 0, sessions = 0, notes = 0, transcripts = 0 } = await counts(service());
  return contacts + sessions + notes + transcripts;
}
