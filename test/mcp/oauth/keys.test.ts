// The provider's keys: kept while it is unavailable, and dropped when they are withdrawn.
import { exportJWK } from "jose";
import type { TestContext } from "vitest";
import { expect, onTestFinished, test, vi } from "vitest";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import {
  away,
  json,
  logoutClaims,
  silent,
  startFakeProvider,
  sendLogoutToken,
} from "../../fixtures/sign-in/fake-provider.ts";
import { newKey } from "../../fixtures/sign-in/keys.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import { advanceClock } from "../../support/advance-clock.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import {
  accessClaims,
  accessToken,
  expectChallenge,
  offerIntrospection,
  send,
  statusOf,
} from "../../fixtures/sign-in/assistants.ts";

/** A service of one test, and its provider. */
interface Own {
  readonly fake: FakeProvider;
  readonly service: TestService;
  readonly base: string;
}

async function start(finished: TestContext["onTestFinished"] = onTestFinished): Promise<Own> {
  const fake = await startFakeProvider();
  finished(() => fake.stop());
  const service = await startService(fake.settings());
  finished(() => service.stop());
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
  return { fake, service, base: service.app.baseUrl };
}

const undecided = {
  jsonrpc: "2.0",
  id: null,
  error: {
    code: "503",
    message: "The identity provider cannot be reached. Try again in a moment.",
    reason: "UNAVAILABLE",
  },
};

test("while the provider was never reached a token is 503 without a challenge, and is accepted once it is reached; a missing token is 401 [OAU-14]", async () => {
  const { fake, base } = await start();
  const token = await accessToken(fake);
  for (const trouble of [away, json({ error: "x" }, 500)]) {
    fake.responses.set("*", trouble);
    for (const one of [token, "an-opaque-token"]) {
      const { status, headers, body } = await send(base, `Bearer ${one}`);
      expect([status, headers.get("www-authenticate"), headers.get("retry-after"), body]).toEqual([
        503,
        null,
        null,
        undecided,
      ]);
    }
    expectChallenge(await send(base, undefined), base, /^The access token is missing/);
  }
  fake.responses.clear();
  expect(await statusOf(base, token)).toBe(200);
});

test("a token is 503 too while the provider serves its metadata but not its keys [OAU-14]", async () => {
  const { fake, base } = await start();
  const token = await accessToken(fake);
  for (const trouble of [away, json({ error: "x" }, 500), json({ keys: "none" })]) {
    fake.responses.set("/jwks", trouble);
    expect((await send(base, `Bearer ${token}`)).body).toEqual(undecided);
  }
  fake.responses.clear();
  expect(await statusOf(base, token)).toBe(200);
});

/** This and the next one wait until what the provider said has expired. */
test.concurrent("with the keys in memory, known and new tokens are accepted while the provider is unavailable or silent [OAU-14]", async ({
  onTestFinished,
}) => {
  const { fake, base } = await start(onTestFinished);
  offerIntrospection(fake, () => ({ active: true }));
  const known = await accessToken(fake, { jti: "known" });
  expect(await statusOf(base, known)).toBe(200);
  const forged = await fake.sign(accessClaims(fake), { typ: "at+jwt" }, (await newKey("forged")).privateKey);
  for (const trouble of [away, json({ error: "x" }, 500), json("nonsense"), silent]) {
    fake.responses.set("*", trouble);
    fake.responses.set("/introspect", trouble);
    const fresh = await accessToken(fake, { jti: trouble.toString() });
    expect([await statusOf(base, known), await statusOf(base, fresh)]).toEqual([200, 200]);
    // Also when its last response has expired.
    await new Promise((resolve) => setTimeout(resolve, trouble === away ? 3_200 : 0));
    expect(await statusOf(base, known)).toBe(200);
    expectChallenge(await send(base, `Bearer ${forged}`), base, /signature is wrong/);
  }
});

test.concurrent("a token that the provider has called revoked stays rejected while the provider is unavailable [OAU-13, OAU-14]", async ({
  onTestFinished,
}) => {
  const { fake, base } = await start(onTestFinished);
  offerIntrospection(fake, () => ({ active: false }));
  const token = await accessToken(fake);
  expectChallenge(await send(base, `Bearer ${token}`), base, /revoked, or has expired/);
  fake.responses.set("*", away);
  await new Promise((resolve) => setTimeout(resolve, 4_500));
  expectChallenge(await send(base, `Bearer ${token}`), base, /revoked, or has expired/);
});

test("forgets a withdrawn key although no token uses another one: a minute later it fetches the keys and verifies again, whatever the wall clock shows [OAU-20]", async () => {
  const { fake, service, base } = await start();
  const token = await accessToken(fake);
  expect(await statusOf(base, token)).toBe(200);
  await fake.rotate();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
  await advanceClock(61, service.app.client);
  await expect.poll(() => statusOf(base, token), { timeout: 5_000, interval: 50 }).toBe(401);
  expectChallenge(await send(base, `Bearer ${token}`), base, /unknown key/);
});

test("forgets every verified token of the old keys when the metadata names other keys [OAU-20]", async () => {
  const { fake, service, base } = await start();
  // Shortly before the metadata are an hour old, and are fetched again.
  expect(await statusOf(base, await accessToken(fake))).toBe(200);
  await advanceClock(3_590, service.app.client);
  const [one, other] = [await accessToken(fake, { jti: "one" }), await accessToken(fake, { jti: "other" })];
  expect([await statusOf(base, one), await statusOf(base, other)]).toEqual([200, 200]);
  const moved = await newKey("moved");
  fake.metadata["jwks_uri"] = `${fake.issuer}/moved-jwks`;
  fake.responses.set("/moved-jwks", json({ keys: [{ ...(await exportJWK(moved.publicKey)), kid: moved.kid }] }));
  await advanceClock(15, service.app.client);
  await expect.poll(() => statusOf(base, one), { timeout: 5_000, interval: 50 }).toBe(401);
  expectChallenge(await send(base, `Bearer ${other}`), base, /unknown key/);
});

test("accepts tokens under both of two published keys [OAU-14]", async () => {
  const { fake, base } = await start();
  const old = fake.key;
  const under = (key: typeof old, jti: string): Promise<string> =>
    fake.sign(accessClaims(fake, { jti }), { typ: "at+jwt", kid: key.kid }, key.privateKey);
  await fake.rotate();
  const both = await Promise.all(
    [old, fake.key].map(async ({ publicKey, kid }) => ({ ...(await exportJWK(publicKey)), kid, use: "sig" })),
  );
  fake.responses.set("/jwks", json({ keys: both }));
  expect([await statusOf(base, await under(old, "1")), await statusOf(base, await under(fake.key, "2"))]).toEqual([
    200, 200,
  ]);
});

test("while the provider is unavailable, a token without a known sign-in is 503 under an unknown key, and 401 under a known one [OAU-14]", async () => {
  const { fake, service, base } = await start();
  expect(await statusOf(base, await accessToken(fake))).toBe(200);
  fake.responses.set("*", away);
  await advanceClock(31, service.app.client);
  const unknown = await accessToken(fake, { jti: "unknown" }, { kid: "not-published" });
  expect((await send(base, `Bearer ${unknown}`)).body).toEqual(undecided);
  expectChallenge(
    await send(base, `Bearer ${(await accessToken(fake)).slice(0, -8)}AAAAAAAA`),
    base,
    /signature is wrong/,
  );
});

test("a logout token ends the tokens of the session that it names, even if the user was never on the dashboard [OAU-12]", async () => {
  const { fake, service, base } = await start();
  const [one, other] = [
    await accessToken(fake, { sid: "one", auth_time: 1_700_000_000 }),
    await accessToken(fake, { sub: "person-finn", sid: "other", auth_time: 1_700_000_000 }),
  ];
  await newOwner(service, fake.issuer, "person-finn", "finn@example.com");
  expect([await statusOf(base, one), await statusOf(base, other)]).toEqual([200, 200]);
  expect(
    (await sendLogoutToken(base, await fake.sign(logoutClaims(fake, { sid: "one" }), { typ: "logout+jwt" }))).status,
  ).toBe(200);
  expect([await statusOf(base, one), await statusOf(base, other)]).toEqual([401, 200]);
});

/** Whose session it was only the dashboard's sessions show, and there is none. */
test("a logout token with only a session ends its tokens as well, even if the user was never on the dashboard [OAU-12]", async () => {
  const { fake, base } = await start();
  const token = await accessToken(fake, { sid: "one" });
  expect(await statusOf(base, token)).toBe(200);
  expect(
    (
      await sendLogoutToken(
        base,
        await fake.sign(logoutClaims(fake, { sid: "one", sub: undefined }), { typ: "logout+jwt" }),
      )
    ).status,
  ).toBe(200);
  expect(await statusOf(base, token)).toBe(401);
});

test("a logout token of a user ends the tokens of earlier sign-ins, and those without a sign-in time [OAU-15, OAU-19]", async () => {
  const { fake, base } = await start();
  const now = Math.floor(Date.now() / 1_000);
  const at = (changes: Record<string, unknown>): Promise<string> => accessToken(fake, changes);
  const tokens = await Promise.all(
    [
      { auth_time: now - 60 },
      { auth_time: now, sid: "one" },
      {},
      { iat: now + 60 },
      { iat: undefined },
      { iat: now - 60, auth_time: now + 1 },
    ].map(at),
  );
  expect(
    (await sendLogoutToken(base, await fake.sign(logoutClaims(fake, { iat: now }), { typ: "logout+jwt" }))).status,
  ).toBe(200);
  expect(await Promise.all(tokens.map((token) => statusOf(base, token)))).toEqual([401, 401, 401, 401, 401, 200]);
});
