// A request with a slow body: what authorized its headers must still authorize it once its body has arrived.
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import type { HeldRequest } from "../fixtures/clients/held-body.ts";
import { holdBody } from "../fixtures/clients/held-body.ts";
import { rest } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";

const service = useService();

/** Long enough for the headers to be checked. If they are not yet, the result is the same. */
const heldMs = 100;

function holdCreate(key: string, headers: Record<string, string> = {}): HeldRequest {
  return hold("/v1/contacts", { full_name: "Late" }, key, headers);
}

function hold(path: string, message: object, key: string, headers: Record<string, string> = {}): HeldRequest {
  return holdBody(service().base + path, message, { Authorization: `Bearer ${key}`, ...headers });
}

const stored = (id: string): Promise<number> =>
  service()
    .app.client.db()
    .collection("contacts")
    .countDocuments({ account_id: new UUID(id) });

const finishAll = (held: readonly HeldRequest[]): Promise<unknown[]> => Promise.all(held.map(({ finish }) => finish()));

test.each([
  ["at its first use", false],
  ["after an earlier use", true],
])(
  "a write is rejected if its key was revoked while the body arrived, %s, with an idempotency key too [CON-03, KEY-11]",
  async (_when, used) => {
    const { key, id } = await service().account();
    if (used) expect((await rest(service().base, "/v1/contacts?query=late", { key })).status).toBe(200);
    const held = [holdCreate(key), holdCreate(key, { "Idempotency-Key": "k" })];
    await sleep(heldMs);
    await service().app.services.apiKeys.revoke(new UUID(id));
    expect(await finishAll(held)).toEqual([401, 401]);
    expect(await stored(id)).toBe(0);
  },
);

test("a read over Connect is rejected if its key was revoked while the body arrived [CON-03, KEY-11]", async () => {
  const { key, id } = await service().account();
  const held = hold("/records.v1.SessionService/ListSessions", { limit: 1 }, key);
  const kept = hold("/records.v1.SessionService/ListSessions", { limit: 1 }, (await service().account()).key);
  await sleep(heldMs);
  await service().app.services.apiKeys.revoke(new UUID(id));
  expect(await finishAll([held, kept])).toEqual([401, 200]);
});
