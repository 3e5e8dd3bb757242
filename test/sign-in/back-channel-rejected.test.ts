// OpenID Connect Back-Channel Logout: whatever is not the provider's logout token is rejected, and signs nobody out.
import { Agent, request } from "node:http";
import { SignJWT, UnsecuredJWT, exportSPKI } from "jose";
import { describe, expect, test } from "vitest";
import type { RestResponse } from "../fixtures/service/service.ts";
import { clientSecret, enter, idClaims, seconds } from "../fixtures/sign-in/fake-provider.ts";
import { newKey } from "../fixtures/sign-in/keys.ts";
import { sendRequest } from "../fixtures/sign-in/fixture.ts";
import { useLogoutTokens } from "./logout-tokens.ts";

const { fake, service, base, claimsOf, sendToken } = useLogoutTokens();

describe("a logout token is rejected and ends nothing", () => {
  /** Rejected with 400 in the envelope; the user whom it names stays signed in. */
  async function expectRejected(token: string | undefined, headers?: Record<string, string>): Promise<RestResponse> {
    const { cookie } = await enter(base(), fake(), { sid: "the-session" });
    const response = await sendToken(token, base(), headers);
    expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
      400,
      "application/json; charset=utf-8",
      "no-store",
    ]);
    expect(response.body).toEqual({
      error: {
        code: "400",
        message: expect.stringMatching(/^(The logout_token is not valid|logout_token: is required)/),
        reason: "INVALID_LOGOUT_TOKEN",
      },
    });
    expect((await sendRequest(`${base()}/`, { cookie })).text).toContain("dora@example.com");
    return response;
  }

  test.each<[string, () => Record<string, unknown>]>([
    ["of another issuer", () => ({ iss: "https://other.example" })],
    ["of the issuer with an additional slash", () => ({ iss: `${fake().issuer}/` })],
    ["of no issuer", () => ({ iss: undefined })],
    ["for another audience", () => ({ aud: "another" })],
    ["for no audience", () => ({ aud: undefined })],
    ["that is expired", () => ({ exp: seconds() - 60 })],
    ["that was issued too long ago", () => ({ iat: seconds() - 700, exp: seconds() + 120 })],
    ["that was issued too long ago, without an expiry", () => ({ iat: seconds() - 700, exp: undefined })],
    ["without a time of issue", () => ({ iat: undefined })],
    ["that is issued in the future", () => ({ iat: seconds() + 120, exp: seconds() + 240 })],
    ["that is not valid yet", () => ({ nbf: seconds() + 120 })],
    ["without an id", () => ({ jti: undefined })],
    ["whose id is not a text", () => ({ jti: { $ne: "" } })],
    ["without events", () => ({ events: undefined })],
    ["with another event", () => ({ events: { "http://schemas.openid.net/event/other": {} } })],
    ["whose events are a text", () => ({ events: "http://schemas.openid.net/event/backchannel-logout" })],
    ["whose events are a list", () => ({ events: ["http://schemas.openid.net/event/backchannel-logout"] })],
    ["whose events are null", () => ({ events: null })],
    [
      "whose event is true instead of an object",
      () => ({ events: { "http://schemas.openid.net/event/backchannel-logout": true } }),
    ],
    ["whose event is null", () => ({ events: { "http://schemas.openid.net/event/backchannel-logout": null } })],
    ["with a nonce", () => ({ nonce: "n" })],
    ["with an empty nonce", () => ({ nonce: "" })],
    ["of neither a user nor a session", () => ({ sub: undefined })],
    ["whose user is a number", () => ({ sub: 7 })],
    ["whose user is a query", () => ({ sub: { $ne: "" } })],
    ["whose session is a query, of no user", () => ({ sid: { $ne: "" }, sub: undefined })],
  ])("if it is one %s [DSH-04]", async (_name, changes) => {
    await expectRejected(await fake().sign(claimsOf(changes())));
  });

  test("if it has another type [DSH-04]", async () => {
    for (const typ of ["at+jwt", "id+jwt", ""]) await expectRejected(await fake().sign(claimsOf(), { typ }));
  });

  test("if it is unsigned [DSH-04]", async () => {
    await expectRejected(new UnsecuredJWT(claimsOf()).encode());
    const [header, payload] = (await fake().sign(claimsOf())).split(".");
    for (const form of [`${header}.${payload}.`, `${header}.${payload}`, `${header}.${payload}.AAAA`])
      await expectRejected(form);
  });

  test("if it is signed with the client's secret, or with the public key as a secret [DSH-04]", async () => {
    for (const secret of [clientSecret, await exportSPKI(fake().key.publicKey)]) {
      const header = { alg: "HS256", kid: fake().key.kid };
      await expectRejected(await new SignJWT(claimsOf()).setProtectedHeader(header).sign(Buffer.from(secret)));
    }
  });

  test("if it is signed with a key that is not the provider's, whatever its header says [DSH-04]", async () => {
    const stranger = await newKey("stranger");
    const jwk = { kty: "RSA", e: "AQAB", n: "AQAB" };
    for (const header of [{}, { kid: "stranger" }, { kid: undefined }, { jku: "https://evil.example/jwks" }, { jwk }]) {
      await expectRejected(await fake().sign(claimsOf(), header, stranger.privateKey));
    }
  });

  test("if it was changed [DSH-04]", async () => {
    const [header, , signature] = (await fake().sign(claimsOf({ sub: "person-emil" }))).split(".");
    await expectRejected(`${header}.${Buffer.from(JSON.stringify(claimsOf())).toString("base64url")}.${signature}`);
  });

  test("if it is an ID token [DSH-04]", async () => {
    await expectRejected(await fake().sign(idClaims(fake(), { nonce: "n", sid: "the-session" })));
    await expectRejected(await fake().sign(idClaims(fake(), { jti: "1", sid: "the-session" })));
  });

  test("if it has a header that nobody understands [DSH-04]", async () => {
    const [, payload, signature] = (await fake().sign(claimsOf())).split(".");
    for (const header of [
      { alg: "RS256", crit: ["x"], x: 1 },
      { alg: "RS256", typ: 5, kid: fake().key.kid },
      { alg: 5 },
      [],
      null,
      5,
    ]) {
      await expectRejected(`${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}.${signature}`);
    }
  });

  test.each([
    ["garbage", "garbage"],
    ["dots", ".."],
    ["four dots", "...."],
    ["a JWE", "a.b.c.d.e"],
    ["spaces", "   "],
    ["an empty text", ""],
    ["nothing", undefined],
    ["a non-ASCII payload", "eyJhbGciOiJSUzI1NiJ9.é.AAAA"],
    ["a null character", "a\0.b.c"],
  ])("if it is %s [DSH-04]", async (_name, token) => {
    await expectRejected(token);
  });

  test("if it is in the query, in JSON, or under another name [DSH-04]", async () => {
    const token = await fake().sign(claimsOf());
    const { cookie } = await enter(base(), fake());
    const url = `${base()}/sign-out/back-channel`;
    for (const response of [
      await sendRequest(`${url}?logout_token=${token}`, { method: "POST" }),
      await sendRequest(url, {
        body: JSON.stringify({ logout_token: token }),
        headers: { "Content-Type": "application/json" },
      }),
      await sendRequest(url, { body: new URLSearchParams({ token }) }),
    ])
      expect(response.status).toBe(400);
    expect((await sendRequest(`${base()}/`, { cookie })).text).toContain("dora@example.com");
  });

  test("if its body is too large, and the client continues with its next request", async () => {
    const { hostname, port } = new URL(service().base);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (method: string, path: string, body: string): Promise<number | string | undefined> =>
      new Promise((resolve) => {
        const sent = request(
          { agent, hostname, port, method, path, timeout: 5_000, headers: { "Content-Length": body.length } },
          (response) => {
            response.resume().on("end", () => resolve(response.statusCode));
          },
        );
        sent.on("timeout", () => sent.destroy(new Error("no response"))).on("error", ({ message }) => resolve(message));
        sent.end(body);
      });
    for (let round = 0; round < 3; round++) {
      const responses = [
        await send("POST", "/sign-out/back-channel", "x".repeat(1_048_576)),
        await send("GET", "/v1/health", ""),
      ];
      expect(responses).toEqual([400, 200]);
    }
    agent.destroy();
  });
});
