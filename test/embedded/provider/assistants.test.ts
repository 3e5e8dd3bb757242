// Assistants at the development provider: registration, consent, tokens for the MCP server, refresh and revocation.
import * as openid from "openid-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { textOf } from "../../fixtures/sign-in/browser.ts";
import { ann } from "../../fixtures/sign-in/users.ts";
import {
  assistantOf,
  assistantUri,
  atAssistant,
  atDashboard,
  dashboardOf,
  mcpUrl,
  newBrowser,
  register,
  running,
  signInAs,
  start,
  tokensFor,
  verified,
} from "../../fixtures/sign-in/provider.ts";

vi.setConfig({ testTimeout: 30_000 });

test("an assistant registers itself, a user grants access on a page of plain HTML, and its token is a JWT even without resource [OPS-08, OAU-09, OAU-10, OAU-11]", async () => {
  const { issuer } = await running();
  const assistant = await assistantOf(issuer);
  const browser = newBrowser();
  const { url, checks } = await start(assistant, atAssistant);
  const page = await signInAs(browser, await browser.open(url), ann);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain("<script");
  const seen = textOf(page);
  for (const said of [
    "An assistant",
    "ann@example.com",
    "127.0.0.1:9",
    "Read your contacts, sessions, transcripts and notes. It cannot change anything.",
  ])
    expect(seen).toContain(said);
  const back = await browser.submit(page, {}, "Allow");
  const tokens = await openid.authorizationCodeGrant(assistant, back.url, checks);
  expect(tokens.expires_in).toBe(600);
  const { claims, alg, typ } = await verified(issuer, tokens.access_token);
  expect({ alg, typ }).toEqual({ alg: "RS256", typ: "at+jwt" });
  expect(claims).toEqual({
    iss: issuer,
    sub: "person-ann",
    aud: "http://localhost:9/mcp",
    client_id: assistant.clientMetadata().client_id,
    scope: "openid email profile",
    email: "ann@example.com",
    name: "Ann Example",
    sid: expect.any(String),
    jti: expect.any(String),
    iat: expect.any(Number),
    auth_time: expect.any(Number),
    exp: (claims.iat ?? 0) + 600,
  });
});

test.each([
  ["the address", mcpUrl],
  ["the address and a slash", `${mcpUrl}/`],
  ["the origin", "http://localhost:9"],
  ["the origin and a slash", "http://localhost:9/"],
])(
  "accepts a resource that is %s of the MCP server, at every step or at one alone [OAU-09]",
  async (_name, resource) => {
    const { issuer } = await running();
    const assistant = await assistantOf(issuer);
    const browser = newBrowser();
    const flows = [
      await tokensFor(assistant, browser, { ...atAssistant, resource }, { resource }),
      await tokensFor(assistant, browser, { ...atAssistant, resource }),
      await tokensFor(assistant, browser, atAssistant, { resource }),
    ];
    const refreshed = await openid.refreshTokenGrant(assistant, flows[0]?.refresh_token ?? "", { resource });
    for (const { access_token: token } of [...flows, refreshed]) {
      expect((await verified(issuer, token, { typ: "at+jwt" })).claims.aud).toBe("http://localhost:9/mcp");
    }
  },
);

test("a resource of another server is invalid_target [OAU-09]", async () => {
  const { issuer } = await running();
  const assistant = await assistantOf(issuer);
  const { url } = await start(assistant, { ...atAssistant, resource: "https://other.example/mcp" });
  expect((await newBrowser().open(url)).url.searchParams.get("error")).toBe("invalid_target");
  await expect(
    tokensFor(assistant, newBrowser(), atAssistant, { resource: "https://other.example/mcp" }),
  ).rejects.toMatchObject({ error: "invalid_target" });
});

test("an empty scope counts as absent in registration, authorization and refresh [OAU-22]", async () => {
  const { issuer } = await running();
  const metadata = await register(issuer, { scope: "", client_name: "Ünlü assistant" });
  expect([metadata["error"], metadata["client_name"], metadata.client_id]).toEqual([
    undefined,
    "Ünlü assistant",
    expect.any(String),
  ]);
  expect((await register(issuer, { scope: "", padding: "x".repeat(100_000) }))["error"]).toBe("invalid_request");
  const assistant = await assistantOf(issuer, { scope: "" });
  const { refresh_token: refresh = "" } = await tokensFor(
    assistant,
    newBrowser(),
    { ...atAssistant, scope: "" },
    { scope: "" },
  );
  const { access_token: token } = await openid.refreshTokenGrant(assistant, refresh, { scope: "" });
  expect((await verified(issuer, token)).claims).toMatchObject({ sub: "person-ann", scope: "openid" });
});

test("registration ignores null members, and unknown scopes and grant types beside known ones [OAU-10]", async () => {
  const { issuer } = await running();
  const nulls = ["client_name", "client_uri", "logo_uri", "tos_uri", "policy_uri", "jwks_uri", "contacts", "scope"];
  const empty = Object.fromEntries(nulls.map((name) => [name, null]));
  const types = ["urn:ietf:params:oauth:grant-type:device_code", "authorization_code", "implicit", "refresh_token"];
  for (const changes of [
    { ...empty, application_type: null, token_endpoint_auth_method: null, grant_types: null, response_types: null },
    { scope: "claudeai" },
    { grant_types: types, response_types: ["code", "token"] },
    { scope: "claudeai email", client_uri: "" },
  ]) {
    const registered = await register(issuer, changes);
    expect([changes, registered["error_description"], registered.client_id]).toEqual([
      changes,
      undefined,
      expect.any(String),
    ]);
    if (changes.grant_types === types)
      expect(registered).toMatchObject({
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      });
  }
  expect(await register(issuer, { scope: "claudeai email" })).toMatchObject({ scope: "email" });
});

test("a refresh token can be used again at once, and all that replace it are valid", async () => {
  const { issuer } = await running();
  const assistant = await assistantOf(issuer);
  const { refresh_token: first = "" } = await tokensFor(assistant, newBrowser(), atAssistant);
  const refresh = (token: string) => openid.refreshTokenGrant(assistant, token);
  const atOnce = await Promise.all([refresh(first), refresh(first), refresh(first)]);
  const newer = atOnce.map(({ refresh_token: token = "" }) => token);
  expect(new Set([first, ...newer]).size).toBe(4);
  for (const token of [...newer, first]) expect((await refresh(token)).access_token).toEqual(expect.any(String));
});

test("a user who denies access sends the assistant back with access_denied [OPS-08]", async () => {
  const { issuer } = await running();
  const browser = newBrowser();
  const { url, checks } = await start(await assistantOf(issuer), atAssistant);
  const back = await browser.submit(await signInAs(browser, await browser.open(url), ann), {}, "Deny");
  expect(back.url.href.startsWith(assistantUri)).toBe(true);
  expect(Object.fromEntries(back.url.searchParams)).toEqual({
    error: "access_denied",
    error_description: "the user did not allow it",
    state: checks.expectedState,
    iss: issuer,
  });
});

test("shows a hostile name of a client as text on every page [OPS-08]", async () => {
  const { issuer } = await running();
  const name = `<img src=x onerror=alert(1)>"'&</strong>`;
  const browser = newBrowser();
  const { url } = await start(await assistantOf(issuer, { client_name: name }), atAssistant);
  const signIn = await browser.open(url);
  const consent = await signInAs(browser, signIn, ann);
  for (const page of [signIn, consent]) {
    expect(page.text).not.toContain("<img");
    expect(textOf(page)).toContain(name);
  }
});

test.each([
  ["client_credentials", { client_name: "x" }],
  ["password", { username: "ann@example.com", password: "ann's secret" }],
  ["implicit", {}],
])("rejects the grant type %s [OAU-11]", async (grantType, parameters) => {
  const { issuer, client } = await running();
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}` },
    body: new URLSearchParams({ grant_type: grantType, ...parameters }),
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: "unsupported_grant_type" });
  expect(await register(issuer, { grant_types: [grantType], response_types: [], redirect_uris: [] })).toMatchObject({
    error: "invalid_client_metadata",
  });
});

test("a program on the user's computer can register one port and use another; http is accepted nowhere else [OAU-10]", async () => {
  const { issuer } = await running();
  const assistant = await assistantOf(issuer, {
    redirect_uris: ["http://127.0.0.1:4000/callback", "https://assistant.example/callback"],
  });
  for (const uri of [assistantUri, "https://assistant.example/callback"]) {
    const tokens = await tokensFor(assistant, newBrowser(), { redirect_uri: uri });
    expect(tokens.token_type).toBe("bearer");
  }
  for (const [type, uri] of [
    ["web", "http://assistant.example/callback"],
    ["native", "http://assistant.example/callback"],
    ["native", "javascript:alert(1)"],
  ]) {
    expect(await register(issuer, { application_type: type, redirect_uris: [uri] })).toMatchObject({
      error: "invalid_redirect_uri",
    });
  }
});

test("a refresh token is used up ten seconds after its use: a later use revokes all tokens of its grant", async () => {
  const { issuer } = await running();
  const assistant = await assistantOf(issuer);
  const { refresh_token: first = "" } = await tokensFor(assistant, newBrowser(), {
    ...atAssistant,
    scope: "openid offline_access",
    prompt: "consent",
  });
  const { refresh_token: second = "", access_token: token } = await openid.refreshTokenGrant(assistant, first);
  expect(second).not.toBe(first);
  expect((await verified(issuer, token, { typ: "at+jwt", audience: mcpUrl })).claims).toMatchObject({
    sub: "person-ann",
    scope: "openid offline_access",
  });
  const realNow = Date.now;
  const clock = vi.spyOn(Date, "now").mockImplementation(() => realNow() + 12_000);
  onTestFinished(() => clock.mockRestore());
  await expect(openid.refreshTokenGrant(assistant, first)).rejects.toMatchObject({ error: "invalid_grant" });
  await expect(openid.refreshTokenGrant(assistant, second)).rejects.toMatchObject({ error: "invalid_grant" });
  expect(await openid.tokenIntrospection(assistant, token)).toEqual({ active: false });
});

test.each([
  ["the dashboard first", true],
  ["the assistant first", false],
])("the tokens of one browser have one sid, %s", async (_name, dashboardFirst) => {
  const provider = await running();
  const [assistant, dashboard] = [await assistantOf(provider.issuer), await dashboardOf(provider)];
  const browser = newBrowser();
  const ofDashboard = async (): Promise<unknown> =>
    (await tokensFor(dashboard, browser, atDashboard)).claims()?.["sid"];
  const ofAssistant = async (): Promise<unknown> =>
    (await verified(provider.issuer, (await tokensFor(assistant, browser, atAssistant)).access_token)).claims["sid"];
  const [first, second] = dashboardFirst
    ? [await ofDashboard(), await ofAssistant()]
    : [await ofAssistant(), await ofDashboard()];
  expect(first).toMatch(/^[\w-]{20,}$/);
  expect(second).toBe(first);
  expect(await ofAssistant()).toBe(first);
  const other = await tokensFor(assistant, newBrowser(), atAssistant);
  expect((await verified(provider.issuer, other.access_token)).claims["sid"]).not.toBe(first);
});
