// Rotation of the provider's keys: no token of a new key is 401, whatever others send, and the fetches are limited.
import { randomUUID } from "node:crypto";
import { SignJWT, exportJWK } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { from } from "../../fixtures/service/from.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import { accessClaims, accessToken, expectChallenge, send, statusOf } from "../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import {
  away,
  enter,
  json,
  logoutClaims,
  sendLogoutToken,
  startFakeProvider,
} from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import { newKey } from "../../fixtures/sign-in/keys.ts";
import { createKeySet } from "../../../src/sign-in/key-set.ts";
import { advanceClock } from "../../support/advance-clock.ts";

let fake: FakeProvider;
let service: TestService;
let base: string;
beforeEach(async () => {
  fake = await startFakeProvider();
  service = await startService({ ...fake.settings(), TRUST_PROXY: "1" });
  base = service.app.baseUrl;
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
  expect(await statusOf(base, await accessToken(fake), from())).toBe(200);
});
afterEach(async () => {
  await service.stop();
  await fake.stop();
});

const office = from("198.51.100.1");
const elsewhere = from("203.0.113.1");
const undecided = "The token was signed with a key that the service does not know yet. Try again in a moment.";

const fetches = (): number => fake.requestedPaths.filter((path) => path === "/jwks").length;
const forged = (): Promise<string> => accessToken(fake, { jti: randomUUID() }, { kid: randomUUID() });
const genuine = (): Promise<string> => accessToken(fake, { jti: randomUUID() });

test("accepts a token of a new key at once after a forged one, and rejects those of the withdrawn key [OAU-14, OAU-20]", async () => {
  const [known, fresh] = [await genuine(), await genuine()];
  expect(await statusOf(base, known, office)).toBe(200);
  expectChallenge(await send(base, `Bearer ${await forged()}`, undefined, office), base, /unknown key/);
  await fake.rotate();
  const statuses = [];
  for (let at = 0; at < 20; at++) statuses.push(await statusOf(base, await genuine(), from()));
  expect(statuses).toEqual(Array.from({ length: 20 }, () => 200));
  // Also above the limit, because the provider has withdrawn its key: its user has to sign in again.
  for (const token of [known, fresh, known, fresh])
    expectChallenge(await send(base, `Bearer ${token}`, undefined, elsewhere), base, /unknown key/);
});

test("one client network can cause 2 fetches of the keys and then one in 20 seconds, and others get theirs [OAU-18]", async () => {
  const before = fetches();
  for (let at = 0; at < 5; at++) await send(base, `Bearer ${await forged()}`, undefined, office);
  expect(fetches() - before).toBe(2);
  await fake.rotate();
  const { status, headers, body } = await send(base, `Bearer ${await genuine()}`, undefined, office);
  expect([status, headers.get("www-authenticate"), headers.get("retry-after"), body]).toEqual([
    503,
    null,
    null,
    { jsonrpc: "2.0", id: null, error: { code: "503", message: undecided, reason: "UNAVAILABLE" } },
  ]);
  expect(fetches() - before).toBe(2);
  expect([await statusOf(base, await genuine(), elsewhere), await statusOf(base, await genuine(), office)]).toEqual([
    200, 200,
  ]);
  expect(fetches() - before).toBe(3);
  await advanceClock(20, service.app.client);
  for (let at = 0; at < 5; at++) await send(base, `Bearer ${await forged()}`, undefined, office);
  expect(fetches() - before).toBe(4);
});

test("forged tokens from many networks cause 5 fetches and then one in 10 seconds; a token of a new key is 503 until the next, and never 401 [OAU-18, OAU-14]", async () => {
  const before = fetches();
  const forgedStatuses = await Promise.all(
    Array.from({ length: 30 }, async () => statusOf(base, await forged(), from())),
  );
  for (let at = 0; at < 30; at++) forgedStatuses.push(await statusOf(base, await forged(), from()));
  expect(new Set(forgedStatuses)).toEqual(new Set([401, 503]));
  expect(fetches() - before).toBe(5);
  await fake.rotate();
  const { status, body } = await send(base, `Bearer ${await genuine()}`, undefined, elsewhere);
  expect([status, body]).toEqual([
    503,
    { jsonrpc: "2.0", id: null, error: { code: "503", message: undecided, reason: "UNAVAILABLE" } },
  ]);
  await advanceClock(10, service.app.client);
  // The fetch for a forged token finds the new key for all.
  expectChallenge(await send(base, `Bearer ${await forged()}`, undefined, from()), base, /unknown key/);
  expect(await statusOf(base, await genuine(), elsewhere)).toBe(200);
  expect(fetches() - before).toBe(6);
});

test("a token that arrives during a fetch is verified by a later one if the fetch does not find its key [OAU-14]", async () => {
  const [old, fresh] = [await newKey("old"), await newKey("fresh")];
  const publish = async ({ publicKey, kid }: FakeProvider["key"]) => ({
    keys: [{ ...(await exportJWK(publicKey)), kid }],
  });
  const loads: ((key: FakeProvider["key"]) => void)[] = [];
  const keys = createKeySet(async () =>
    publish(await new Promise<FakeProvider["key"]>((load) => void loads.push(load))),
  );
  const verify = async (key: FakeProvider["key"], address: string): Promise<string | undefined> => {
    const token = await new SignJWT({ sub: "ann" })
      .setProtectedHeader({ alg: "RS256", kid: key.kid })
      .sign(key.privateKey);
    return (await keys.verify(token, {}, { address })).payload.sub;
  };
  const first = verify(old, "198.51.100.1");
  await expect.poll(() => loads.length).toBe(1);
  const second = verify(fresh, "203.0.113.1");
  // By then it waits for the first fetch as well.
  await new Promise((resolve) => setTimeout(resolve, 50));
  loads[0]?.(old);
  expect(await first).toBe("ann");
  await expect.poll(() => loads.length).toBe(2);
  loads[1]?.(fresh);
  expect(await second).toBe("ann");
});

test("a provider with one key whose tokens name none can rotate it [OAU-14]", async () => {
  const publish = async (): Promise<void> =>
    void fake.responses.set("/jwks", json({ keys: [await exportJWK(fake.key.publicKey)] }));
  const unnamed = (): Promise<string> => accessToken(fake, { jti: randomUUID() }, { kid: undefined });
  await publish();
  await advanceClock(61, service.app.client);
  expect(await statusOf(base, await unnamed(), office)).toBe(200);
  const stranger = await newKey("unnamed");
  const strange = await fake.sign(accessClaims(fake), { typ: "at+jwt", kid: undefined }, stranger.privateKey);
  expectChallenge(await send(base, `Bearer ${strange}`, undefined, office), base, /signature is wrong/);
  await fake.rotate();
  await publish();
  const statuses = [];
  for (let at = 0; at < 5; at++) statuses.push(await statusOf(base, await unnamed(), from()));
  expect(statuses).toEqual([200, 200, 200, 200, 200]);
});

test("while the provider is unavailable, tokens of unknown keys are 503 and cause no more fetches than otherwise [OAU-18, OAU-14]", async () => {
  const before = fetches();
  fake.responses.set("/jwks", away);
  for (let at = 0; at < 20; at++) {
    const { status, body } = await send(base, `Bearer ${await forged()}`, undefined, from());
    expect([status, body]).toEqual([
      503,
      {
        jsonrpc: "2.0",
        id: null,
        error: {
          code: "503",
          message: "The identity provider cannot be reached. Try again in a moment.",
          reason: "UNAVAILABLE",
        },
      },
    ]);
  }
  expect(fetches() - before).toBe(5);
  expect(await statusOf(base, await genuine(), office)).toBe(200);
});

test("a sign-in and a logout token of a new key are accepted at once after a rotation, and above the limit the logout token is 503 [DSH-04, DSH-06, OAU-18]", async () => {
  const logoutToken = (): Promise<string> => fake.sign(logoutClaims(fake), { typ: "logout+jwt" });
  const stranger = await newKey("a stranger's");
  const forgedLogout = (): Promise<string> =>
    fake.sign(logoutClaims(fake), { typ: "logout+jwt", kid: randomUUID() }, stranger.privateKey);
  for (const status of [400, 400, 503])
    expect((await sendLogoutToken(base, await forgedLogout(), office)).status).toBe(status);
  await fake.rotate();
  expect((await sendLogoutToken(base, await logoutToken(), office)).body).toEqual({
    error: { code: "503", message: undecided, reason: "UNAVAILABLE" },
  });
  expect((await sendLogoutToken(base, await logoutToken(), elsewhere)).status).toBe(200);
  for (let at = 0; at < 10; at++) await send(base, `Bearer ${await forged()}`, undefined, from());
  await fake.rotate();
  expect((await enter(base, fake)).response.status).toBe(303);
});

test("a token without a key id stays valid when the provider adds a key, and a stranger's does not become so [OAU-14]", async () => {
  const [old, fresh, stranger] = [await newKey("old"), await newKey("fresh"), await newKey("stranger")];
  const published = async (...keys: FakeProvider["key"][]) => ({
    keys: await Promise.all(keys.map(async ({ publicKey, kid }) => ({ ...(await exportJWK(publicKey)), kid }))),
  });
  let document = await published(old);
  const keys = createKeySet(async () => document);
  const verify = async (key: FakeProvider["key"]): Promise<unknown> => {
    const token = await new SignJWT({ sub: "ann" }).setProtectedHeader({ alg: "RS256" }).sign(key.privateKey);
    return (await keys.verify(token, {}, "provider")).payload.sub;
  };
  expect(await verify(old)).toBe("ann");
  document = await published(fresh, old);
  expect([await verify(fresh), await verify(old)]).toEqual(["ann", "ann"]);
  await expect(verify(stranger)).rejects.toMatchObject({ code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" });
});
