// The dashboard's paths where sign-in is off.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import { sendRequest, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();

describe("without an identity provider", () => {
  let off: TestService;
  beforeAll(async () => {
    off = await fixture().service.another({ OIDC_ISSUER: "", RATE_LIMIT: "1", RATE_BURST: "60" });
  });
  afterAll(async () => off.stop());

  test("the page says that sign-in is off, and has no sign-in button [DSH-01]", async () => {
    const { cookie } = await signIn(fixture(), ann);
    for (const options of [{}, { cookie }]) {
      const { status, headers, text } = await sendRequest(`${off.app.baseUrl}/`, options);
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(text).toMatch(/sign-in is off/i);
      expect(text).not.toContain('href="/sign-in"');
      expect(text).not.toContain("ann@example.com");
      expect(headers.get("content-security-policy")).toMatch(/form-action 'self'(;|$)/);
    }
  });

  test("nobody can sign in or out, and the key operations are 401 [DSH-01]", async () => {
    const { cookie } = await signIn(fixture(), ann);
    const origin = off.app.baseUrl;
    for (const [method, path] of [
      ["GET", "/sign-in"],
      ["GET", "/sign-in/callback?code=x&state=y"],
      ["POST", "/sign-out"],
      ["POST", "/sign-out/back-channel"],
    ] as const) {
      const { status, headers } = await sendRequest(origin + path, {
        method,
        origin,
        ...(method === "POST" ? { body: new URLSearchParams({ logout_token: "x" }) } : {}),
      });
      expect([path, status, headers.getSetCookie()]).toEqual([path, 503, []]);
      expect(
        (
          await sendRequest(origin + path, {
            method,
            origin,
            accept: "text/html",
            ...(method === "POST" ? { body: new URLSearchParams({ logout_token: "x" }) } : {}),
          })
        ).text,
      ).toMatch(/OIDC_ISSUER/);
    }
    for (const [method, path] of [
      ["GET", "/v1/api-key"],
      ["POST", "/v1/api-key"],
      ["POST", "/v1/api-key/rotate"],
      ["DELETE", "/v1/api-key"],
      ["GET", "/v1/audit-log"],
    ] as const) {
      expect((await sendRequest(origin + path, { method, origin, cookie })).status).toBe(401);
    }
  });

  test("each path is throttled by the address, a back-channel logout too [RTE-01]", async () => {
    const logout = { method: "POST", body: new URLSearchParams({ logout_token: "x" }) };
    const all = Array.from({ length: 70 }, () => sendRequest(`${off.app.baseUrl}/sign-out/back-channel`, logout));
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).toContain(429);
  });
});
