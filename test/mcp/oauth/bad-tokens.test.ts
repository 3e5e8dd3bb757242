// Forged and malformed access tokens of every known kind: each is 401 with the challenge, and none makes
// us send the provider many requests.
import { CompactEncrypt, SignJWT, UnsecuredJWT, exportJWK, exportSPKI, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import {
  clientId,
  clientSecret,
  idClaims,
  logoutClaims,
  seconds,
  startFakeProvider,
} from "../../fixtures/sign-in/fake-provider.ts";
import { from } from "../../fixtures/service/from.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import { advanceClock } from "../../support/advance-clock.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";
import { openSession } from "../../support/user.ts";
import { accessClaims, expectChallenge, send } from "../../fixtures/sign-in/assistants.ts";
import { base64, createForge } from "./forge.ts";

const { fake, service, base } = useFakeProvider({ environment: { TRUST_PROXY: "1" } });
let attacker: FakeProvider;
beforeAll(async () => {
  attacker = await startFakeProvider();
  await newOwner(service(), fake().issuer, "person-dora", "dora@example.com");
  await newOwner(service(), fake().issuer, "5", "five@example.com");
});
afterAll(() => attacker.stop());

const { claims, good, hmac, publicJwk, spoilt, byAttacker, signedText } = createForge(fake, () => attacker);

const bad: Readonly<Record<string, readonly [make: () => Promise<string> | string, why: RegExp]>> = {
  "alg none": [() => new UnsecuredJWT(claims()).encode(), /algorithm/],
  "alg none and a good token's signature": [
    () => spoilt(([, body, signature]) => `${base64({ alg: "none", typ: "at+jwt" })}.${body}.${signature}`),
    /algorithm/,
  ],
  "no alg": [
    () => spoilt(([, body, signature]) => `${base64({ typ: "at+jwt" })}.${body}.${signature}`),
    /algorithm|malformed/,
  ],
  "HS256 with the public key as PEM": [async () => hmac(await exportSPKI(fake().key.publicKey)), /algorithm/],
  "HS256 with the public key as JWK": [async () => hmac(JSON.stringify(await publicJwk())), /algorithm/],
  "HS256 with our client secret": [() => hmac(clientSecret), /algorithm/],
  "the attacker's signature under the provider's kid": [
    () => byAttacker({ kid: fake().key.kid }),
    /signature is wrong/,
  ],
  "a kid that is a number": [() => byAttacker({ kid: 1 }), /signature|malformed|unknown key/],
  "a jku of the attacker": [
    () => byAttacker({ kid: fake().key.kid, jku: `${attacker.issuer}/jwks` }),
    /signature is wrong/,
  ],
  "a jwk of the attacker": [
    async () => byAttacker({ kid: fake().key.kid, jwk: await exportJWK(attacker.key.publicKey) }),
    /signature is wrong/,
  ],
  "a crit that is unknown": [
    () =>
      good({}, { crit: ["x-must"], "x-must": 1 }).catch(() =>
        spoilt(
          ([, body, signature]) =>
            `${base64({ alg: "RS256", kid: fake().key.kid, typ: "at+jwt", crit: ["x-must"], "x-must": 1 })}.${body}.${signature}`,
        ),
      ),
    /malformed/,
  ],
  "b64 false": [
    () =>
      spoilt(
        ([, body, signature]) =>
          `${base64({ alg: "RS256", kid: fake().key.kid, typ: "at+jwt", crit: ["b64"], b64: false })}.${body}.${signature}`,
      ),
    /malformed|signature/,
  ],
  "another alg of the list than the key's": [
    () =>
      spoilt(
        ([, body, signature]) => `${base64({ alg: "PS256", kid: fake().key.kid, typ: "at+jwt" })}.${body}.${signature}`,
      ),
    /unknown key|signature/,
  ],
  "EdDSA of a key of the attacker's": [
    async () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: "EdDSA", kid: fake().key.kid, typ: "at+jwt" })
        .sign((await generateKeyPair("EdDSA")).privateKey),
    /unknown key|signature/,
  ],
  "another issuer": [() => good({ iss: "https://other.example" }), /another issuer/],
  "the attacker's issuer and key": [
    () => attacker.sign(accessClaims(attacker), { typ: "at+jwt" }),
    /signature|unknown key/,
  ],
  "the issuer with a slash": [() => good({ iss: `${fake().issuer}/` }), /another issuer/],
  "the issuer under another scheme": [() => good({ iss: fake().issuer.replace("http:", "https:") }), /another issuer/],
  "the issuer in a list": [() => good({ iss: [fake().issuer] }), /another issuer|malformed/],
  none: [() => good({ iss: undefined }), /another issuer|malformed/],
  "an expiry in the past": [() => good({ exp: seconds() - 1 }), /expired/],
  "an expiry of zero": [() => good({ exp: 0 }), /expired/],
  "no expiry": [() => good({ exp: undefined }), /malformed/],
  "an expiry that is a text": [() => good({ exp: String(seconds() + 600) }), /malformed/],
  "a beginning in the future": [() => good({ nbf: seconds() + 3_600 }), /not valid yet/],
  "an ID token of ours": [() => fake().sign(idClaims(fake(), { nonce: "n" }), { typ: "JWT" }), /not an access token/],
  "an ID token without a type": [
    () => fake().sign(idClaims(fake(), { at_hash: "x", scope: "openid" })),
    /not an access token/,
  ],
  "an ID token of Keycloak's making": [
    () => fake().sign(idClaims(fake(), { typ: "ID", scope: "openid" }), { typ: "JWT" }),
    /not an access token/,
  ],
  "an ID token of Cognito's making": [
    () => fake().sign(idClaims(fake(), { token_use: "id", scope: "openid" })),
    /not an access token/,
  ],
  "a logout token": [
    () => fake().sign(logoutClaims(fake(), { scope: "openid" }), { typ: "logout+jwt" }),
    /not an access token/,
  ],
  "a refresh token that is a JWT": [() => good({ typ: "Refresh" }, { typ: "JWT" }), /not an access token/],
  "a client's assertion": [
    () =>
      fake().sign(
        { iss: fake().issuer, sub: clientId, aud: fake().issuer, exp: seconds() + 60, jti: "1" },
        { typ: "JWT" },
      ),
    /not an access token/,
  ],
  "the type of a DPoP proof": [() => good({}, { typ: "dpop+jwt" }), /not an access token/],
  "a type that is a number": [() => good({}, { typ: 7 }), /malformed|not an access token/],
  "no sub": [() => good({ sub: undefined }), /malformed|names no user/],
  "a sub that is a number": [() => good({ sub: 5 }), /malformed|names no user/],
  "a sub that is a query of MongoDB": [() => good({ sub: { $gt: "" } }), /malformed|names no user/],
  "an empty sub": [() => good({ sub: "" }), /names no user/],
  "another user in the payload": [
    () => spoilt(([header, , signature]) => `${header}.${base64(claims({ sub: "person-ann" }))}.${signature}`),
    /signature is wrong/,
  ],
  "a payload that is no JSON": [
    () => spoilt(([header, , signature]) => `${header}.${base64("hello")}.${signature}`),
    /signature|malformed/,
  ],
  "a payload that is signed and a list": [async () => signedText("[]"), /malformed/],
  "a signature that was cut": [
    () => spoilt(([header, body, signature]) => `${header}.${body}.${signature.slice(0, -4)}`),
    /signature is wrong/,
  ],
  "no signature": [() => spoilt(([header, body]) => `${header}.${body}`), /malformed or unknown/],
  "a signature with more behind": [
    () => spoilt(([header, body, signature]) => `${header}.${body}.${signature}AAAA`),
    /signature is wrong/,
  ],
  "a fourth part": [() => spoilt((parts) => `${parts.join(".")}.x`), /malformed or unknown/],
  "parts that are no base64": [() => "a.b.c", /malformed/],
  "letters that no token has": [() => "tök€n".replace("€", "\u00a4"), /malformed/],
  "a JWE": [
    async () =>
      new CompactEncrypt(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", typ: "at+jwt" })
        .encrypt((await generateKeyPair("RSA-OAEP-256")).publicKey),
    /malformed or unknown/,
  ],
  "an API key that is valid": [async () => (await service().account()).key, /an API key/],
  "the service token": [() => service().serviceToken, /malformed or unknown/],
  "a dashboard session": [
    async () => (await openSession(service(), "person-dora", "dora@example.com")).cookie.split("=")[1] ?? "",
    /malformed/,
  ],
  "10 kB": [() => good({ padding: "x".repeat(7_500) }), /malformed/],
  null: [() => "null", /malformed or unknown/],
};

describe("a bad token is 401 with the challenge", () => {
  test.each(Object.keys(bad))("%s [OAU-01, OAU-06, OAU-07]", async (name) => {
    const [make, why] = bad[name] ?? [];
    const token = (await make?.()) ?? "";
    attacker.requestedPaths.length = 0;
    for (const message of [
      { method: "tools/list" },
      { method: "tools/call", params: { name: "list_sessions", arguments: {} } },
      { method: "initialize" },
    ]) {
      // One address may have only so many tokens rejected.
      expectChallenge(await send(base(), `Bearer ${token}`, message, from()), base(), why);
    }
    expect(attacker.requestedPaths).toEqual([]);
  });
});

test("a token of a key that the provider does not have is 401 with the challenge, whatever its header says [OAU-01, OAU-07]", async () => {
  attacker.requestedPaths.length = 0;
  for (const [header, why] of [
    [{ kid: "the-attackers" }, /unknown key/],
    [{ kid: "../../../../dev/null" }, /unknown key/],
    [{ kid: "' OR '1'='1" }, /unknown key/],
    [{ kid: "other", jku: `${attacker.issuer}/jwks` }, /unknown key/],
    [{ kid: undefined }, /signature is wrong/],
  ] as const) {
    // The keys are fetched for each of them, and that is limited.
    await advanceClock(10, service().app.client);
    expectChallenge(await send(base(), `Bearer ${await byAttacker(header)}`, undefined, from()), base(), why);
  }
  expect(attacker.requestedPaths).toEqual([]);
});
