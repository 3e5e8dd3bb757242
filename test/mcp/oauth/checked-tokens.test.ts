// The checks of an access token that its provider signed: its key, its audience, its expiry, and what the provider
// says of it.
import { randomBytes } from "node:crypto";
import { UnsecuredJWT, exportJWK } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newSecret } from "../../../src/api-keys/secret.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { clientId, idClaims, json, seconds, startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { newKey } from "../../fixtures/sign-in/keys.ts";
import { from } from "../../fixtures/service/from.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";
import {
  accessClaims,
  accessToken,
  expectChallenge,
  offerIntrospection,
  send,
  statusOf,
} from "../../fixtures/sign-in/assistants.ts";

const { fake, service, base } = useFakeProvider();
/** Accepts only tokens for two audiences. */
let choosy: TestService;
beforeAll(async () => {
  choosy = await service().another({ MCP_AUDIENCE: "https://mcp.example.com/mcp, records-api" });
  await newOwner(service(), fake().issuer, "person-dora", "dora@example.com");
});
afterAll(() => choosy.stop());

const good = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> =>
  accessToken(fake(), changes, header);

test("accepts the valid token on which the others are based, in each form that providers use [OAU-08]", async () => {
  for (const token of [
    await good(),
    await good({}, { typ: "application/at+jwt" }),
    await good({}, { typ: "AT+JWT" }),
    await good({}, { typ: "JWT" }),
    await good({}, { typ: undefined }),
    await good({ scope: undefined, scp: ["read"] }, { typ: "JWT" }),
    await good({ typ: "Bearer" }, { typ: "JWT" }),
    await good({ token_use: "access" }, { typ: undefined }),
    await good({}, { kid: undefined }),
    await good({ nbf: seconds() - 5 }),
    await good({ aud: undefined }),
    await good({ aud: ["a", "b"] }),
    await good({ iat: undefined }),
  ])
    expect(await statusOf(base(), token)).toBe(200);
});

test("rejects a token that is signed with a published key for another use, such as encryption [OAU-07]", async () => {
  const other = await startFakeProvider();
  const instance = await service().another(other.settings());
  const second = await newKey("second");
  other.responses.set("/jwks", async (request, response) => {
    const keys = [
      { ...(await exportJWK(other.key.publicKey)), kid: "first" },
      { ...(await exportJWK(second.publicKey)), kid: "second", use: "enc" },
    ];
    json({ keys })(request, response);
  });
  try {
    await newOwner(service(), other.issuer, "person-dora", "dora-there@example.com");
    const sign = (kid: string, key: FakeProvider["key"]["privateKey"]): Promise<string> =>
      other.sign(accessClaims(other), { typ: "at+jwt", kid }, key);
    expect(await statusOf(instance.app.baseUrl, await sign("first", other.key.privateKey))).toBe(200);
    // The kid of another key, either way round.
    for (const token of [
      await sign("second", other.key.privateKey),
      await sign("first", second.privateKey),
      await sign("second", second.privateKey),
    ]) {
      expectChallenge(
        await send(instance.app.baseUrl, `Bearer ${token}`),
        instance.app.baseUrl,
        /signature|unknown key/,
      );
    }
  } finally {
    await instance.stop();
    await other.stop();
  }
});

test.each([
  ["in the list", "https://mcp.example.com/mcp", 200],
  ["the other in the list", "records-api", 200],
  ["one of several", ["x", "records-api"], 200],
  ["another", "https://other.example/mcp", 401],
  ["several others", ["x", "y"], 401],
  ["similar to it", "https://mcp.example.com/mcp/", 401],
  ["in upper case", "RECORDS-API", 401],
  ["the whole setting", "https://mcp.example.com/mcp, records-api", 401],
  ["an empty list", [], 401],
  ["none", undefined, 401],
  ["our client id", clientId, 401],
  ["an object", { 0: "records-api" }, 401],
  ["a list in a list", [["records-api"]], 401],
])(
  "with MCP_AUDIENCE set, a token whose audience is %s: %s gets %d; without the setting it is accepted [OAU-08]",
  async (_name, aud, status) => {
    const token = await good({ aud });
    const response = await send(choosy.app.baseUrl, `Bearer ${token}`);
    expect(response.status).toBe(status);
    // Signing in again does not change what the provider issues.
    const isNone = aud === undefined || (Array.isArray(aud) && aud.length === 0);
    const why = isNone
      ? /^The access token is not valid: it names no audience\. Signing in again does not help: the operator must/
      : /: it was issued for another audience\. Signing in again does not help: the operator must/;
    if (status === 401) expectChallenge(response, choosy.app.baseUrl, why);
    expect(await statusOf(base(), token)).toBe(200);
  },
);

test("the log warns once of tokens without an audience, and not of those for another one [OAU-08]", async () => {
  const one = await service().another({ MCP_AUDIENCE: "records-api" });
  const lines = (): number => one.logLines.filter((line) => line.includes("names no audience")).length;
  try {
    expect(await statusOf(one.app.baseUrl, await good({ aud: "another" }))).toBe(401);
    expect(lines()).toBe(0);
    for (let turn = 0; turn < 2; turn++)
      expect(await statusOf(one.app.baseUrl, await good({ aud: undefined }))).toBe(401);
    expect(lines()).toBe(1);
  } finally {
    await one.stop();
  }
});

/** How far a time in a token is ahead of the service's clock, in seconds, and the response. */
const aheadOfUs = [
  ["nbf", 2, 200],
  ["nbf", 25, 200],
  ["nbf", 60, 401],
  ["exp", 0, 401],
  ["exp", -25, 401],
] as const;

test.each(aheadOfUs)(
  "a signed token whose %s is %d seconds ahead of our clock gets %d [OAU-06]",
  async (claim, ahead, status) => {
    expect(await statusOf(base(), await good({ [claim]: seconds() + ahead }))).toBe(status);
  },
);

test("an accepted token is rejected once it expires, although it is remembered [OAU-06]", async () => {
  const token = await good({ exp: seconds() + 2 });
  expect(await statusOf(base(), token)).toBe(200);
  await expect.poll(() => statusOf(base(), token), { timeout: 10_000, interval: 200 }).toBe(401);
  expectChallenge(await send(base(), `Bearer ${token}`), base(), /expired/);
});

describe("with a provider that introspects tokens", () => {
  let other: FakeProvider;
  let instance: TestService;
  const said = new Map<string, Record<string, unknown>>();
  const introspected: string[] = [];
  beforeAll(async () => {
    other = await startFakeProvider();
    offerIntrospection(other, (token) => {
      introspected.push(token);
      return said.get(token) ?? { active: false };
    });
    instance = await service().another({ ...other.settings(), TRUST_PROXY: "1" });
    await newOwner(service(), other.issuer, "person-dora", "dora-elsewhere@example.com");
  });
  afterAll(async () => {
    await instance.stop();
    await other.stop();
  });
  const opaque = (claims: Record<string, unknown>): string => {
    const token = randomBytes(20).toString("base64url");
    said.set(token, { active: true, sub: "person-dora", token_type: "Bearer", exp: seconds() + 600, ...claims });
    return token;
  };

  test("the provider decides about a token that is not a JWT [OAU-06, OAU-07]", async () => {
    const at = instance.app.baseUrl;
    for (const claims of [{}, { token_type: "bearer" }, { iss: other.issuer }, { exp: undefined }])
      expect(await statusOf(at, opaque(claims))).toBe(200);
    for (const [claims, why] of [
      [{ active: false }, /revoked, or has expired/],
      [{ token_type: "refresh_token" }, /not an access token/],
      // As the library of the development provider speaks of refresh tokens.
      [{ token_type: undefined }, /not an access token/],
      [{ token_type: "N_A" }, /not an access token/],
      [{ token_use: "refresh_token" }, /not an access token/],
      [{ exp: seconds() - 1 }, /expired/],
      [{ exp: "never" }, /expired/],
      [{ nbf: seconds() + 600 }, /not valid yet/],
      [{ iss: "https://other.example" }, /another issuer/],
      [{ sub: undefined }, /names no user/],
      [{ sub: 5 }, /names no user/],
      [{ sub: { $gt: "" } }, /names no user/],
    ] as const)
      expectChallenge(await send(at, `Bearer ${opaque(claims)}`), at, why);
    // An invalid response does not count as active.
    for (const active of ["true", 1, null, undefined]) expect(await statusOf(at, opaque({ active }))).toBe(503);
  });

  test.each(aheadOfUs)(
    "a token that is not a JWT, and whose %s is %d seconds ahead of our clock, gets %d [OAU-06]",
    async (claim, ahead, status) => {
      expect(await statusOf(instance.app.baseUrl, opaque({ [claim]: seconds() + ahead }), from())).toBe(status);
    },
  );

  test("rejects a signed token that the provider has revoked [OAU-07]", async () => {
    const token = await accessToken(other);
    expectChallenge(
      await send(instance.app.baseUrl, `Bearer ${token}`),
      instance.app.baseUrl,
      /revoked, or has expired/,
    );
  });

  test("200 bad tokens cause a few requests for the keys, and no introspection; those of unknown keys are 401 or 503 [OAU-07, OAU-18]", async () => {
    const at = instance.app.baseUrl;
    other.requestedPaths.length = 0;
    const forger = await newKey("forged");
    const kinds: readonly ((turn: number) => Promise<string> | string)[] = [
      (turn) =>
        other.sign(
          accessClaims(other, { jti: String(turn) }),
          { typ: "at+jwt", kid: `unknown-${turn}` },
          forger.privateKey,
        ),
      (turn) => other.sign(accessClaims(other, { jti: String(turn) }), { typ: "at+jwt" }, forger.privateKey),
      (turn) => other.sign(accessClaims(other, { jti: String(turn), exp: seconds() - 9 }), { typ: "at+jwt" }),
      (turn) => other.sign(accessClaims(other, { jti: String(turn), iss: "https://other.example" }), { typ: "at+jwt" }),
      (turn) => other.sign(idClaims(other, { jti: String(turn), nonce: "n" }), { typ: "JWT" }),
      (turn) => new UnsecuredJWT(accessClaims(other, { jti: String(turn) })).encode(),
      () => newSecret(),
      (turn) => `not a token ${turn}`,
      (turn) => `t\u00f6ken-${turn}`,
      (turn) => `${"x".repeat(9_000)}${turn}`,
    ];
    const tokens = await Promise.all(
      Array.from({ length: 200 }, async (_, turn) => (await kinds[turn % kinds.length]?.(turn)) ?? ""),
    );
    const statuses: number[] = [];
    // Fewer at once than the requests of unknown callers that an instance serves.
    for (let begin = 0; begin < tokens.length; begin += 40)
      statuses.push(
        ...(await Promise.all(tokens.slice(begin, begin + 40).map((token) => statusOf(at, token, from())))),
      );
    const isOfUnknownKey = (turn: number): boolean => turn % kinds.length === 0;
    expect(new Set(statuses.filter((_, turn) => !isOfUnknownKey(turn)))).toEqual(new Set([401]));
    expect([401, 503]).toEqual(expect.arrayContaining(statuses.filter((_, turn) => isOfUnknownKey(turn))));
    // Those of the tests before are introspected in the background.
    expect(introspected.filter((token) => tokens.includes(token))).toEqual([]);
    expect(other.requestedPaths.filter((path) => path === "/jwks").length).toBeLessThanOrEqual(5);
    expect(other.requestedPaths.filter((path) => path.startsWith("/.well-known")).length).toBeLessThanOrEqual(2);
  });

  test("introspects the same bad token once for 50 requests [OAU-07]", async () => {
    await Promise.all(Array.from({ length: 50 }, () => statusOf(instance.app.baseUrl, "the-same-bad-token", from())));
    expect(introspected.filter((token) => token === "the-same-bad-token")).toHaveLength(1);
  });
});
