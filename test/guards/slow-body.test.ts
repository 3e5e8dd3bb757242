// A request whose body takes its time: what allowed it when its headers came must still allow it when it is whole.
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { useService } from "../support/client.ts";

const service = useService();

interface SlowRequest {
  /** Sends the rest of the body. */
  finish(): void;
  readonly status: Promise<number | undefined>;
}

/** Sends the headers of a create and the first byte of its body. */
function beginCreate(key: string, headers: Record<string, string> = {}): SlowRequest {
  return begin("/v1/contacts", { full_name: "Late" }, key, headers);
}

function begin(path: string, message: object, key: string, headers: Record<string, string> = {}): SlowRequest {
  const body = JSON.stringify(message);
  const sent = request(service().base + path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(body)),
      ...headers,
    },
  });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on("error", reject).on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  sent.flushHeaders();
  sent.write(body.slice(0, 1));
  return { finish: () => void sent.end(body.slice(1)), status };
}

const stored = (id: string): Promise<number> =>
  service()
    .app.client.db()
    .collection("contacts")
    .countDocuments({ account_id: new UUID(id) });

test("is rejected where its key was revoked while the body came, with an idempotency key too [CON-03, KEY-11]", async () => {
  const { key, id } = await service().account();
  const held = [beginCreate(key), beginCreate(key, { "Idempotency-Key": "k" })];
  await sleep(600);
  await service().app.services.apiKeys.revoke(new UUID(id));
  for (const { finish } of held) finish();
  expect(await Promise.all(held.map(({ status }) => status))).toEqual([401, 401]);
  expect(await stored(id)).toBe(0);
});

test("is rejected as a read too, over Connect, where its key was revoked meanwhile [CON-03, KEY-11]", async () => {
  const { key, id } = await service().account();
  const held = begin("/records.v1.SessionService/ListSessions", { limit: 1 }, key);
  const kept = begin("/records.v1.SessionService/ListSessions", { limit: 1 }, (await service().account()).key);
  await sleep(600);
  await service().app.services.apiKeys.revoke(new UUID(id));
  held.finish();
  kept.finish();
  expect([await held.status, await kept.status]).toEqual([401, 200]);
});

test("is rejected where writes were paused while the body came [CON-03, ADM-06]", async () => {
  const { key, id } = await service().account();
  const held = beginCreate(key);
  await sleep(600);
  await service().internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: false, reason: "test" });
  held.finish();
  expect(await held.status).toBe(503);
  await service().internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: true, reason: "test" });
  expect(await stored(id)).toBe(0);
});

test("is done where nothing changed meanwhile: the test detects it", async () => {
  const { key, id } = await service().account();
  const held = beginCreate(key);
  await sleep(600);
  held.finish();
  expect([await held.status, await stored(id)]).toEqual([201, 1]);
});
