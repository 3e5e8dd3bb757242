// The operator's switches over several instances: a change is in force on every one within a second.
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

let service: TestService;
let second: TestService;

beforeAll(async () => {
  service = await startService();
  second = await service.another();
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

const state = (rpc: string, message: object = {}) =>
  service.internalCall(`records.admin.v1.InterfaceService/${rpc}`, message);

async function within1s(holds: () => Promise<boolean>): Promise<void> {
  await until(holds, AbortSignal.timeout(1_000));
}

test("GetState reports both switches, with the reason and the time of their setting [ADM-05]", async () => {
  expect((await state("GetState")).body).toEqual({
    state: { publicInterface: { enabled: true }, writes: { enabled: true } },
  });
  const off = await state("SetWrites", { enabled: false, reason: "moving house" });
  expect(off.body.state).toEqual({
    publicInterface: { enabled: true },
    writes: { reason: "moving house", changedAt: expect.stringMatching(/^20\d\d-.*Z$/) },
  });
  expect((await state("GetState")).body.state).toEqual(off.body.state);
  const on = await state("SetWrites", { enabled: true, reason: "" });
  expect(on.body.state.writes).toEqual({ enabled: true, changedAt: expect.any(String) });
});

test("a switch takes effect at once on the instance that sets it, and within a second on another one; so does its reset [ADM-06, OPS-17]", async () => {
  const { key } = await service.account();
  const reads = async (instance: TestService): Promise<number> => (await instance.rest("/v1/sessions", { key })).status;
  const writes = async (instance: TestService): Promise<number> =>
    (await instance.rest("/v1/contacts", { key, body: { full_name: "Ann" } })).status;
  for (let round = 0; round < 2; round++) {
    await state("SetPublicInterface", { enabled: false, reason: "test" });
    expect(await reads(service)).toBe(503);
    await within1s(async () => (await reads(second)) === 503);
    await state("SetPublicInterface", { enabled: true, reason: "test" });
    expect(await reads(service)).toBe(200);
    await within1s(async () => (await reads(second)) === 200);
    await state("SetWrites", { enabled: false, reason: "test" });
    expect([await writes(service), await reads(service)]).toEqual([503, 200]);
    await within1s(async () => (await writes(second)) === 503);
    await state("SetWrites", { enabled: true, reason: "test" });
    expect(await writes(service)).toBe(201);
    await within1s(async () => (await writes(second)) === 201);
  }
});

test("an instance that starts while the interface is disabled serves no record from its first request on [ADM-06]", async () => {
  await state("SetPublicInterface", { enabled: false, reason: "test" });
  const third = await service.another();
  try {
    expect((await third.rest("/v1/sessions")).status).toBe(503);
    expect((await third.rest("/v1/health")).body.data.status).toBe("disabled");
  } finally {
    await third.stop();
    await state("SetPublicInterface", { enabled: true, reason: "test" });
  }
});
