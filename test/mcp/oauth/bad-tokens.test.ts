// Access tokens that must not pass, made by every trick that is known: each is 401 with the challenge, and none makes
// us ask the provider much.
import { createHash, createHmac, randomBytes } from "node:crypto";
import { CompactEncrypt, SignJWT, UnsecuredJWT, exportJWK, exportSPKI, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newSecret } from "../../../src/api-keys/secret.ts";
import { exchange } from "../../../fixtures/clients/raw.ts";
import type { FakeProvider } from "../../../fixtures/sign-in/fake-provider.ts";
import {
  clientId,
  clientSecret,
  idClaims,
  json,
  logoutClaims,
  newKey,
  seconds,
  startFakeProvider,
} from "../../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../../fixtures/sign-in/house.ts";
import type { TestService } from "../../../fixtures/service/service.ts";
import { rest, startService } from "../../../fixtures/service/service.ts";
import { openSession } from "../../support/person.ts";
import {
  accessClaims,
  accessToken,
  expectChallenge,
  offerIntrospection,
  send,
  statusOf,
} from "../../../fixtures/sign-in/assistants.ts";

let fake: FakeProvider;
let attacker: FakeProvider;
let service: TestService;
/** Takes tokens for two audiences alone. */
let choosy: TestService;
let base: string;

beforeAll(async () => {
  [fake, attacker] = [await startFakeProvider(), await startFakeProvider()];
  service = await startService(fake.settings());
  choosy = await service.another({ MCP_AUDIENCE: "https://mcp.example.com/mcp, records-api" });
  base = service.app.baseUrl;
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
  await newOwner(service, fake.issuer, "5", "five@example.com");
});
afterAll(async () => {
  await choosy.stop();
  await service.stop();
  await fake.stop();
  await attacker.stop();
});

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const claims = (changes: Record<string, unknown> = {}): ReturnType<typeof accessClaims> => accessClaims(fake, changes);
const good = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> =>
  accessToken(fake, changes, header);
/** Signed with a text that everybody knows, or that we share. */
const hmac = (secret: string | Uint8Array, alg = "HS256"): string => {
  const signed = `${base64({ alg, typ: "at+jwt", kid: fake.key.kid })}.${base64(claims())}`;
  return `${signed}.${createHmac(alg.replace("HS", "sha"), secret).update(signed).digest("base64url")}`;
};
const publicJwk = async (): Promise<Record<string, unknown>> => ({
  ...(await exportJWK(fake.key.publicKey)),
  kid: fake.key.kid,
  alg: "RS256",
  use: "sig",
});
/** A part of a good token replaced. */
async function spoilt(change: (parts: [string, string, string]) => string): Promise<string> {
  return change((await good()).split(".") as [string, string, string]);
}
const byAttacker = async (header: Record<string, unknown>): Promise<string> =>
  attacker.sign(claims(), { typ: "at+jwt", ...header });

const bad: Readonly<Record<string, readonly [make: () => Promise<string> | string, why: RegExp]>> = {
  "alg none": [() => new UnsecuredJWT(claims()).encode(), /algorithm/],
  "alg none with a kid and a type": [
    () => `${base64({ alg: "none", kid: "first", typ: "at+jwt" })}.${base64(claims())}.`,
    /algorithm/,
  ],
  "alg nOnE": [() => `${base64({ alg: "nOnE", typ: "at+jwt" })}.${base64(claims())}.`, /algorithm/],
  "alg none and a good token's signature": [
    () => spoilt(([, body, signature]) => `${base64({ alg: "none", typ: "at+jwt" })}.${body}.${signature}`),
    /algorithm/,
  ],
  "no alg": [
    () => spoilt(([, body, signature]) => `${base64({ typ: "at+jwt" })}.${body}.${signature}`),
    /algorithm|malformed/,
  ],
  "an alg that is no text": [
    () => spoilt(([, body, signature]) => `${base64({ alg: ["RS256"], typ: "at+jwt" })}.${body}.${signature}`),
    /algorithm|malformed/,
  ],
  "HS256 with the public key as PEM": [async () => hmac(await exportSPKI(fake.key.publicKey)), /algorithm/],
  "HS256 with the public key as PEM without its last line's end": [
    async () => hmac((await exportSPKI(fake.key.publicKey)).trim()),
    /algorithm/,
  ],
  "HS256 with the public key as JWK": [async () => hmac(JSON.stringify(await publicJwk())), /algorithm/],
  "HS512 with the modulus": [
    async () => hmac(Buffer.from(String((await publicJwk())["n"]), "base64url"), "HS512"),
    /algorithm/,
  ],
  "HS256 with our client secret": [() => hmac(clientSecret), /algorithm/],
  "HS256 with nothing": [() => hmac(""), /algorithm/],
  "the attacker's signature under the provider's kid": [() => byAttacker({ kid: fake.key.kid }), /signature is wrong/],
  "the attacker's signature without a kid": [() => byAttacker({ kid: undefined }), /signature is wrong/],
  "an unknown kid": [() => byAttacker({ kid: "the-attackers" }), /unknown key/],
  "a kid that is a path": [() => byAttacker({ kid: "../../../../dev/null" }), /unknown key/],
  "a kid that is a query": [() => byAttacker({ kid: "' OR '1'='1" }), /unknown key/],
  "a kid that is a number": [() => byAttacker({ kid: 1 }), /signature|malformed|unknown key/],
  "a jku of the attacker": [
    () => byAttacker({ kid: fake.key.kid, jku: `${attacker.issuer}/jwks` }),
    /signature is wrong/,
  ],
  "an x5u of the attacker": [
    () => byAttacker({ kid: fake.key.kid, x5u: `${attacker.issuer}/x5u` }),
    /signature is wrong/,
  ],
  "a jwk of the attacker": [
    async () => byAttacker({ kid: fake.key.kid, jwk: await exportJWK(attacker.key.publicKey) }),
    /signature is wrong/,
  ],
  "a jku of the attacker and its kid": [
    () => byAttacker({ jku: `${attacker.issuer}/jwks`, kid: "other" }),
    /unknown key/,
  ],
  "an x5c": [() => byAttacker({ kid: fake.key.kid, x5c: ["MIIB"] }), /signature is wrong/],
  "a crit that is unknown": [
    () =>
      good({}, { crit: ["x-must"], "x-must": 1 }).catch(() =>
        spoilt(
          ([, body, signature]) =>
            `${base64({ alg: "RS256", kid: fake.key.kid, typ: "at+jwt", crit: ["x-must"], "x-must": 1 })}.${body}.${signature}`,
        ),
      ),
    /malformed/,
  ],
  "an empty crit": [
    () =>
      spoilt(
        ([, body, signature]) =>
          `${base64({ alg: "RS256", kid: fake.key.kid, typ: "at+jwt", crit: [] })}.${body}.${signature}`,
      ),
    /malformed/,
  ],
  "b64 false": [
    () =>
      spoilt(
        ([, body, signature]) =>
          `${base64({ alg: "RS256", kid: fake.key.kid, typ: "at+jwt", crit: ["b64"], b64: false })}.${body}.${signature}`,
      ),
    /malformed|signature/,
  ],
  "another alg of the list than the key's": [
    () =>
      spoilt(
        ([, body, signature]) => `${base64({ alg: "PS256", kid: fake.key.kid, typ: "at+jwt" })}.${body}.${signature}`,
      ),
    /unknown key|signature/,
  ],
  "an alg of another kind of key": [
    () =>
      spoilt(
        ([, body, signature]) => `${base64({ alg: "ES256", kid: fake.key.kid, typ: "at+jwt" })}.${body}.${signature}`,
      ),
    /unknown key|signature/,
  ],
  "EdDSA of a key of the attacker's": [
    async () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: "EdDSA", kid: fake.key.kid, typ: "at+jwt" })
        .sign((await generateKeyPair("EdDSA")).privateKey),
    /unknown key|signature/,
  ],
  "another issuer": [() => good({ iss: "https://other.example" }), /another issuer/],
  "the attacker's issuer and key": [
    () => attacker.sign(accessClaims(attacker), { typ: "at+jwt" }),
    /signature|unknown key/,
  ],
  "the issuer with a slash": [() => good({ iss: `${fake.issuer}/` }), /another issuer/],
  "the issuer with a blank": [() => good({ iss: `${fake.issuer} ` }), /another issuer/],
  "the issuer under another scheme": [() => good({ iss: fake.issuer.replace("http:", "https:") }), /another issuer/],
  "the issuer's beginning": [() => good({ iss: fake.issuer.slice(0, -1) }), /another issuer/],
  "the issuer under another name of the host": [
    () => good({ iss: fake.issuer.replace("127.0.0.1", "localhost") }),
    /another issuer/,
  ],
  "the issuer in a list": [() => good({ iss: [fake.issuer] }), /another issuer|malformed/],
  none: [() => good({ iss: undefined }), /another issuer|malformed/],
  "an expiry in the past": [() => good({ exp: seconds() - 1 }), /expired/],
  "an expiry long ago": [() => good({ iat: 1_000_000, exp: 1_000_600 }), /expired/],
  "an expiry of zero": [() => good({ exp: 0 }), /expired/],
  "no expiry": [() => good({ exp: undefined }), /malformed/],
  "an expiry that is a text": [() => good({ exp: String(seconds() + 600) }), /malformed/],
  "an expiry of null": [() => good({ exp: null }), /malformed/],
  "a beginning in the future": [() => good({ nbf: seconds() + 3_600 }), /not valid yet/],
  "a beginning that is a text": [() => good({ nbf: "now" }), /malformed|not valid yet/],
  "an ID token of ours": [() => fake.sign(idClaims(fake, { nonce: "n" }), { typ: "JWT" }), /not an access token/],
  "an ID token without a type": [
    () => fake.sign(idClaims(fake, { at_hash: "x", scope: "openid" })),
    /not an access token/,
  ],
  "an ID token of an assistant": [
    () => fake.sign(idClaims(fake, { aud: "an-assistant" }), { typ: "JWT" }),
    /not an access token/,
  ],
  "an ID token of Keycloak's making": [
    () => fake.sign(idClaims(fake, { typ: "ID", scope: "openid" }), { typ: "JWT" }),
    /not an access token/,
  ],
  "an ID token of Cognito's making": [
    () => fake.sign(idClaims(fake, { token_use: "id", scope: "openid" })),
    /not an access token/,
  ],
  "a logout token": [
    () => fake.sign(logoutClaims(fake, { scope: "openid" }), { typ: "logout+jwt" }),
    /not an access token/,
  ],
  "a logout token of type JWT": [
    () => fake.sign(logoutClaims(fake, { scope: "openid" }), { typ: "JWT" }),
    /not an access token/,
  ],
  "a refresh token that is a JWT": [() => good({ typ: "Refresh" }, { typ: "JWT" }), /not an access token/],
  "an offline token that is a JWT": [() => good({ typ: "Offline" }, { typ: "JWT" }), /not an access token/],
  "a client's assertion": [
    () =>
      fake.sign({ iss: fake.issuer, sub: clientId, aud: fake.issuer, exp: seconds() + 60, jti: "1" }, { typ: "JWT" }),
    /not an access token/,
  ],
  "the type of a DPoP proof": [() => good({}, { typ: "dpop+jwt" }), /not an access token/],
  "the type of a security event": [() => good({}, { typ: "secevent+jwt" }), /not an access token/],
  "a type that is a number": [() => good({}, { typ: 7 }), /malformed|not an access token/],
  "no sub": [() => good({ sub: undefined }), /malformed|names no user/],
  "a sub that is a number": [() => good({ sub: 5 }), /malformed|names no user/],
  "a sub that is a list": [() => good({ sub: ["person-dora"] }), /malformed|names no user/],
  "a sub that is a query of MongoDB": [() => good({ sub: { $gt: "" } }), /malformed|names no user/],
  "an empty sub": [() => good({ sub: "" }), /names no user/],
  "a sub of null": [() => good({ sub: null }), /malformed|names no user/],
  "another person in the payload": [
    () => spoilt(([header, , signature]) => `${header}.${base64(claims({ sub: "person-ann" }))}.${signature}`),
    /signature is wrong/,
  ],
  "a later expiry in the payload": [
    () => spoilt(([header, , signature]) => `${header}.${base64(claims({ exp: seconds() + 99_999 }))}.${signature}`),
    /signature is wrong/,
  ],
  "a payload that is no JSON": [
    () => spoilt(([header, , signature]) => `${header}.${base64("hello")}.${signature}`),
    /signature|malformed/,
  ],
  "a payload that is signed and a list": [async () => signedText("[]"), /malformed/],
  "a payload that is signed and no JSON": [async () => signedText("hello"), /malformed/],
  "a signature that was cut": [
    () => spoilt(([header, body, signature]) => `${header}.${body}.${signature.slice(0, -4)}`),
    /signature is wrong/,
  ],
  "an empty signature": [() => spoilt(([header, body]) => `${header}.${body}.`), /signature|malformed/],
  "no signature": [() => spoilt(([header, body]) => `${header}.${body}`), /malformed or unknown/],
  "a signature with more behind": [
    () => spoilt(([header, body, signature]) => `${header}.${body}.${signature}AAAA`),
    /signature is wrong/,
  ],
  "a fourth part": [() => spoilt((parts) => `${parts.join(".")}.x`), /malformed or unknown/],
  "three dots": [() => "...", /malformed or unknown/],
  "two dots": [() => "..", /malformed/],
  "parts that are no base64": [() => "a.b.c", /malformed/],
  "letters that no token has": [() => "tök€n".replace("€", "\u00a4"), /malformed/],
  "a JWE": [
    async () =>
      new CompactEncrypt(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", typ: "at+jwt" })
        .encrypt((await generateKeyPair("RSA-OAEP-256")).publicKey),
    /malformed or unknown/,
  ],
  "an API key that is valid": [async () => (await service.account()).key, /malformed/],
  "an API key of nobody": [() => newSecret(), /malformed/],
  "the service token": [() => service.serviceToken, /malformed or unknown/],
  "a dashboard session": [
    async () => (await openSession(service, "person-dora", "dora@example.com")).cookie.split("=")[1] ?? "",
    /malformed/,
  ],
  "a dashboard cookie": [
    async () => (await openSession(service, "person-dora", "dora@example.com")).cookie,
    /malformed/,
  ],
  "an empty token's hash": [() => createHash("sha256").update("").digest("hex"), /malformed or unknown/],
  "10 kB": [() => good({ padding: "x".repeat(7_500) }), /malformed/],
  null: [() => "null", /malformed or unknown/],
  undefined: [() => "undefined", /malformed or unknown/],
};

async function signedText(payload: string): Promise<string> {
  const signed = `${base64({ alg: "RS256", kid: fake.key.kid, typ: "at+jwt" })}.${base64(payload)}`;
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", fake.key.privateKey as never, Buffer.from(signed));
  return `${signed}.${Buffer.from(signature).toString("base64url")}`;
}

test("the token that all the others differ from passes, in each form that providers give it [OAU-08]", async () => {
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
    expect(await statusOf(base, token)).toBe(200);
});

describe("401 with the challenge", () => {
  test.each(Object.keys(bad))("%s [OAU-01, OAU-06, OAU-07]", async (name) => {
    const [make, why] = bad[name] ?? [];
    const token = (await make?.()) ?? "";
    attacker.asked.length = 0;
    for (const message of [
      { method: "tools/list" },
      { method: "tools/call", params: { name: "list_sessions", arguments: {} } },
      { method: "initialize" },
    ]) {
      expectChallenge(await send(base, `Bearer ${token}`, message), base, why);
    }
    expect(attacker.asked).toEqual([]);
  });
});

test("a key that the provider has never signed access tokens with, such as that of encryption, does not do [OAU-07]", async () => {
  const other = await startFakeProvider();
  const instance = await service.another(other.settings());
  const second = await newKey("second");
  other.responses.set("/jwks", async (request, response) => {
    const keys = [
      { ...(await exportJWK(other.key.publicKey)), kid: "first" },
      { ...(await exportJWK(second.publicKey)), kid: "second", use: "enc" },
    ];
    json({ keys })(request, response);
  });
  try {
    await newOwner(service, other.issuer, "person-dora", "dora-there@example.com");
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
  ["near to it", "https://mcp.example.com/mcp/", 401],
  ["in capitals", "RECORDS-API", 401],
  ["the whole setting", "https://mcp.example.com/mcp, records-api", 401],
  ["an empty list", [], 401],
  ["none", undefined, 401],
  ["our client id", clientId, 401],
  ["an object", { 0: "records-api" }, 401],
  ["a list in a list", [["records-api"]], 401],
])(
  "with MCP_AUDIENCE set, a token whose audience is %s: %s gets %d; without the setting it passes [OAU-08]",
  async (_name, aud, status) => {
    const token = await good({ aud });
    const response = await send(choosy.app.baseUrl, `Bearer ${token}`);
    expect(response.status).toBe(status);
    if (status === 401) expectChallenge(response, choosy.app.baseUrl, /issued for another audience/);
    expect(await statusOf(base, token)).toBe(200);
  },
);

test("a token that has been accepted is rejected when it expires, though it is remembered [OAU-06]", async () => {
  const token = await good({ exp: seconds() + 2 });
  expect(await statusOf(base, token)).toBe(200);
  await expect.poll(() => statusOf(base, token), { timeout: 10_000, interval: 200 }).toBe(401);
  expectChallenge(await send(base, `Bearer ${token}`), base, /expired/);
});

test("an Authorization header of 1 MB is rejected by the parser with 431 in the envelope [OAU-07]", async () => {
  const { responses } = await exchange(
    service.base,
    `POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${"a".repeat(1_048_576)}\r\nContent-Length: 0\r\n\r\n`,
  );
  expect(responses[0]?.status).toBe(431);
  expect(JSON.parse(responses[0]?.body ?? "")).toEqual({
    error: { code: "431", message: "The HTTP headers are too large. Send fewer or shorter headers." },
  });
});

describe("at a provider that can be asked about tokens", () => {
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
    instance = await service.another(other.settings());
    await newOwner(service, other.issuer, "person-dora", "dora-elsewhere@example.com");
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

  test("a token that is no JWT is what the provider says of it [OAU-06, OAU-07]", async () => {
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
    // A response that is none is not taken for a yes.
    for (const active of ["true", 1, null, undefined]) expect(await statusOf(at, opaque({ active }))).toBe(503);
  });

  test("one that is signed and that the provider has revoked is rejected [OAU-07]", async () => {
    const token = await accessToken(other);
    expectChallenge(
      await send(instance.app.baseUrl, `Bearer ${token}`),
      instance.app.baseUrl,
      /revoked, or has expired/,
    );
  });

  test("200 bad tokens bring the keys a handful of requests, and introspection none [OAU-07]", async () => {
    const at = instance.app.baseUrl;
    other.asked.length = 0;
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
    const statuses = await Promise.all(tokens.map((token) => statusOf(at, token)));
    expect(new Set(statuses)).toEqual(new Set([401]));
    // Those of the tests before are introspected in the background.
    expect(introspected.filter((token) => tokens.includes(token))).toEqual([]);
    expect(other.asked.filter((path) => path === "/jwks").length).toBeLessThanOrEqual(5);
    expect(other.asked.filter((path) => path.startsWith("/.well-known")).length).toBeLessThanOrEqual(2);
  });

  test("the same bad token 50 times is asked about once [OAU-07]", async () => {
    await Promise.all(Array.from({ length: 50 }, () => statusOf(instance.app.baseUrl, "the-same-bad-token")));
    expect(introspected.filter((token) => token === "the-same-bad-token")).toHaveLength(1);
  });
});

test("what was rejected is never repeated by a response [OAU-07]", async () => {
  const token = await good({ exp: seconds() - 5 });
  const { text, headers } = await rest(base, "/mcp", { headers: { Authorization: `Bearer ${token}` } });
  expect(text + JSON.stringify([...headers])).not.toContain(token.slice(-30));
});
