// The session and the time of the sign-in of a token may be known to the provider alone: its first introspection is
// awaited, and remembered.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
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
import { startService } from "../../fixtures/service/service.ts";
import { accessToken, expectChallenge, send, statusOf } from "../../fixtures/sign-in/assistants.ts";

/** A service, and the provider that it alone uses. */
interface Own {
  readonly fake: FakeProvider;
  readonly base: string;
}

async function withOwn(work: (own: Own) => Promise<void>): Promise<void> {
  const fake = await startFakeProvider();
  fake.metadata["introspection_endpoint"] = `${fake.issuer}/introspect`;
  const service = await startService(fake.settings());
  try {
    await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
    await work({ fake, base: service.app.baseUrl });
  } finally {
    await service.stop();
    await fake.stop();
  }
}

const fresh = ({ fake }: Own, claims: Record<string, unknown> = {}): Promise<string> =>
  accessToken(fake, { jti: randomUUID(), ...claims });
/** The provider says this of every token, later than a request waits for what it can do without. */
function sayLate({ fake }: Own, claims: Record<string, unknown>): void {
  fake.responses.set(
    "/introspect",
    (request, response) => void setTimeout(() => json({ active: true, ...claims })(request, response), 2_500),
  );
}
async function end({ fake, base }: Own, claims: Record<string, unknown>): Promise<void> {
  const token = await fake.sign(logoutClaims(fake, claims), { typ: "logout+jwt" });
  expect((await sendLogoutToken(base, token)).status).toBe(200);
}

/** Most of them wait for the provider. */
test.concurrent("a token is 401 if only a late introspection shows that its session has ended [OAU-12, OAU-16]", () =>
  withOwn(async (own) => {
    await end(own, { sid: "ended", sub: undefined });
    sayLate(own, { sid: "ended" });
    const responses = [{}, { auth_time: seconds() }].map(async (claims) =>
      send(own.base, `Bearer ${await fresh(own, claims)}`),
    );
    for (const response of await Promise.all(responses)) expectChallenge(response, own.base, /its session has ended/);
  }));

test.concurrent("a token is accepted if only a late introspection shows its later sign-in [OAU-15]", () =>
  withOwn(async (own) => {
    await end(own, { iat: seconds() });
    sayLate(own, { auth_time: seconds() + 60 });
    const statuses = [{}, { sid: "new" }].map(async (claims) => statusOf(own.base, await fresh(own, claims)));
    expect(await Promise.all(statuses)).toEqual([200, 200]);
  }));

test.concurrent("while introspection fails a new token is accepted, unless a sign-out may have ended it: 503 [OAU-14, OAU-15]", () =>
  withOwn(async (own) => {
    const { fake, base } = own;
    const statuses = async (): Promise<number[]> => {
      const all = [{}, { sid: "new" }, { auth_time: seconds() }, { sid: "new", auth_time: seconds() }];
      return Promise.all(all.map(async (claims) => statusOf(base, await fresh(own, claims))));
    };
    // A provider that does not introspect for the service will not say it later either.
    const rejects = json({ error: "invalid_client" }, 401);
    const troubles = [away, json({ error: "x" }, 500), rejects, silent];
    for (const trouble of troubles) {
      fake.responses.set("/introspect", trouble);
      expect(await statuses()).toEqual([200, 200, 200, 200]);
    }
    await end(own, { iat: seconds() - 100 });
    for (const trouble of troubles) {
      fake.responses.set("/introspect", trouble);
      const lacking = trouble === rejects ? 401 : 503;
      expect(await statuses()).toEqual([lacking, lacking, 200, 200]);
    }
  }));

test.concurrent("remembers the result of introspection while the provider is unavailable, and no request waits for it again [OAU-12, OAU-14]", () =>
  withOwn(async (own) => {
    const { fake, base } = own;
    fake.responses.set("/introspect", json({ active: true, sid: "own", auth_time: seconds() - 60 }));
    const token = await fresh(own);
    expect(await statusOf(base, token)).toBe(200);
    fake.responses.set("/introspect", silent);
    // Longer than the instance takes what introspection said for new.
    await sleep(3_200);
    expect(await statusOf(base, token)).toBe(200);
    await end(own, { sid: "own", sub: undefined });
    expectChallenge(await send(base, `Bearer ${token}`), base, /its session has ended/);
  }));
