// The record of the operator's switches: every setting of one, with who and why, together with the setting itself.
import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { asAdministrator } from "../fixtures/databases/database.ts";
import { useService } from "../support/client.ts";
import { startService } from "../fixtures/service/service.ts";

const service = useService();
const call = (rpc: string, message: object = {}, headers: Record<string, string> = {}, at = service()) =>
  at.internalCall(`records.admin.v1.InterfaceService/${rpc}`, message, headers);

interface Change {
  readonly switch: string;
  readonly enabled?: boolean;
  readonly reason?: string;
  readonly changedAt: string;
  readonly requestId: string;
}

async function changes(limit?: number): Promise<Change[]> {
  return ((await call("ListChanges", limit === undefined ? {} : { limit })).body.changes ?? []) as Change[];
}

test("a switch that was never set has no changes; each setting is listed, the latest first, with its reason, time, address, token and request [ADM-05]", async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  expect((await call("ListChanges", {}, {}, own)).body).toEqual({});
  await call("SetPublicInterface", { enabled: false, reason: "incident 7" }, { "X-Request-Id": "first" }, own);
  const { body } = await call("SetWrites", { enabled: true, reason: "to be sure" }, { "X-Request-Id": "second" }, own);
  const who = { address: "127.0.0.1", token: createHash("sha256").update(own.serviceToken).digest("hex").slice(0, 8) };
  const { publicInterface, writes } = body.state as { publicInterface: Change; writes: Change };
  expect((await call("ListChanges", {}, {}, own)).body).toEqual({
    changes: [
      // It was already on, and was set to on again.
      {
        switch: "writes",
        enabled: true,
        reason: "to be sure",
        changedAt: writes.changedAt,
        requestId: "second",
        ...who,
      },
      {
        switch: "public_interface",
        reason: "incident 7",
        changedAt: publicInterface.changedAt,
        requestId: "first",
        ...who,
      },
    ],
  });
});

test("lists as many changes as requested, 100 by default, and rejects an invalid number [ADM-05]", async () => {
  for (let index = 0; index < 102; index++) await call("SetWrites", { enabled: true, reason: `number ${index}` });
  const reasons = async (limit?: number) => (await changes(limit)).map(({ reason }) => reason);
  const newest = Array.from({ length: 102 }, (_, index) => `number ${101 - index}`);
  expect(await reasons()).toEqual(newest.slice(0, 100));
  expect(await reasons(3)).toEqual(newest.slice(0, 3));
  expect((await reasons(1000)).slice(0, 102)).toEqual(newest);
  for (const limit of [0, -1, 1001]) expect((await call("ListChanges", { limit })).status, String(limit)).toBe(400);
});

test("a rejected call is not a change, and ListChanges requires the service token [ADM-01, ADM-05]", async () => {
  const before = await changes();
  expect((await call("SetWrites", { enabled: false, reason: "r".repeat(501) })).status).toBe(400);
  for (const rpc of ["SetPublicInterface", "SetWrites"])
    expect((await call(rpc, { reason: "whether?" })).body.message).toBe("enabled: is required");
  for (const rpc of ["SetWrites", "ListChanges"])
    expect((await call(rpc, { enabled: false }, { Authorization: "Bearer another" })).status, rpc).toBe(401);
  expect(await changes()).toEqual(before);
});

test("a switch whose change cannot be recorded is not set [ADM-05]", async () => {
  const setValidator = (validator: object): Promise<unknown> =>
    asAdministrator(service().administratorUri, (db) => db.command({ collMod: "switch_changes", validator }));
  const before = [(await call("GetState")).body, await changes()];
  await setValidator({ nothing: { $exists: true } });
  expect((await call("SetWrites", { enabled: false, reason: "unrecorded" })).status).toBe(500);
  await setValidator({});
  expect([(await call("GetState")).body, await changes()]).toEqual(before);
});

test("records each of two concurrent settings on two instances, and the latest is in force [ADM-05, OPS-17]", async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  const other = await own.another();
  onTestFinished(() => other.stop());
  const reasons: string[] = [];
  for (let round = 0; round < 12; round++) {
    const pair = [`round ${round}, on`, `round ${round}, off`];
    const responses = await Promise.all(
      pair.map((reason, index) => call("SetWrites", { enabled: index === 0, reason }, {}, index === 0 ? own : other)),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    reasons.unshift(...pair);
    const listed = (await call("ListChanges", {}, {}, own)).body.changes as Change[];
    expect(listed.map(({ reason }) => reason).sort()).toEqual([...reasons].sort());
    const { writes } = (await call("GetState", {}, {}, other)).body.state as { writes: Change };
    expect([writes.reason, writes.changedAt, writes.enabled]).toEqual([
      listed[0]?.reason,
      listed[0]?.changedAt,
      listed[0]?.enabled,
    ]);
  }
});

test("a switch that changes logs one warning, with who and why; one that stays logs none [ADM-05]", async () => {
  await call("SetWrites", { enabled: true, reason: "begin" });
  const warnings = () =>
    service()
      .logLines.map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === "switched");
  const before = warnings().length;
  const settings = [false, false, true, true];
  for (const [index, enabled] of settings.entries())
    await call("SetWrites", { enabled, reason: `turn ${index}` }, { "X-Request-Id": `turn-${index}` });
  const token = createHash("sha256").update(service().serviceToken).digest("hex").slice(0, 8);
  expect(warnings().slice(before)).toEqual([
    {
      level: 40,
      time: expect.anything(),
      id: "turn-0",
      switch: "writes",
      enabled: false,
      reason: "turn 0",
      address: "127.0.0.1",
      token,
      msg: "switched",
    },
    {
      level: 40,
      time: expect.anything(),
      id: "turn-2",
      switch: "writes",
      enabled: true,
      reason: "turn 2",
      address: "127.0.0.1",
      token,
      msg: "switched",
    },
  ]);
});
