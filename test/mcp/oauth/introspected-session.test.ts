// The session and the time of the sign-in of a token may be known to the provider alone: its first introspection is
// awaited, and remembered.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import {
  away,
  json,
  logoutClaims,
  seconds,
  sendLogoutToken,
  silent,
  startFakeProvider,
} from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import { accessToken, expectChallenge, send, statusOf } from "../../fixtures/sign-in/assistants.ts";

let fake: FakeProvider;
let service: TestService;
let base: string;
beforeEach(async () => {
  fake = await startFakeProvider();
  fake.metadata["introspection_endpoint"] = `${fake.issuer}/introspect`;
  service = await startService(fake.settings());
  base = service.app.baseUrl;
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
});
afterEach(async () => {
  await service.stop();
  await fake.stop();
});

const fresh = (claims: Record<string, unknown> = {}): Promise<string> =>
  accessToken(fake, { jti: randomUUID(), ...claims });
/** The provider says this of every token, later than a request waits for what it can do without. */
function sayLate(claims: Record<string, unknown>): void {
  fake.responses.set(
    "/introspect",
    (request, response) => void setTimeout(() => json({ active: true, ...claims })(request, response), 2_500),
  );
}
async function end(claims: Record<string, unknown>): Promise<void> {
  const token = await fake.sign(logoutClaims(fake, claims), { typ: "logout+jwt" });
  expect((await sendLogoutToken(base, token)).status).toBe(200);
}

test("a token is 401 if only a late introspection shows that its session has ended [OAU-12, OAU-16]", async () => {
  await end({ sid: "ended", sub: undefined });
  sayLate({ sid: "ended" });
  for (const claims of [{}, { auth_time: seconds() }])
    expectChallenge(await send(base, `Bearer ${await fresh(claims)}`), base, /its session has ended/);
});

test("a token is accepted if only a late introspection shows its later sign-in [OAU-15]", async () => {
  await end({ iat: seconds() });
  sayLate({ auth_time: seconds() + 60 });
  for (const claims of [{}, { sid: "new" }]) expect(await statusOf(base, await fresh(claims))).toBe(200);
});

test("while introspection fails a new token is accepted, unless a sign-out may have ended it: 503 [OAU-14, OAU-15]", async () => {
  const statuses = async (): Promise<number[]> => {
    const all = [{}, { sid: "new" }, { auth_time: seconds() }, { sid: "new", auth_time: seconds() }].map(fresh);
    return Promise.all(all.map(async (token) => statusOf(base, await token)));
  };
  // A provider that does not introspect for the service will not say it later either.
  const rejects = json({ error: "invalid_client" }, 401);
  const troubles = [away, json({ error: "x" }, 500), rejects, silent];
  for (const trouble of troubles) {
    fake.responses.set("/introspect", trouble);
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  }
  await end({ iat: seconds() - 100 });
  for (const trouble of troubles) {
    fake.responses.set("/introspect", trouble);
    const lacking = trouble === rejects ? 401 : 503;
    expect(await statuses()).toEqual([lacking, lacking, 200, 200]);
  }
});

test("remembers the result of introspection while the provider is unavailable, and no request waits for it again [OAU-12, OAU-14]", async () => {
  fake.responses.set("/introspect", json({ active: true, sid: "own", auth_time: seconds() - 60 }));
  const token = await fresh();
  expect(await statusOf(base, token)).toBe(200);
  fake.responses.set("/introspect", silent);
  // Longer than the instance takes what introspection said for new.
  await sleep(3_200);
  expect(await statusOf(base, token)).toBe(200);
  await end({ sid: "own", sub: undefined });
  expectChallenge(await send(base, `Bearer ${token}`), base, /its session has ended/);
});
