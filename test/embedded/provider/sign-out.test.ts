// Sign-out at the development provider: it ends the whole session and notifies the dashboard, by the browser and behind
// it.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import * as openid from "openid-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { createBrowser, formOf, textOf } from "../../fixtures/sign-in/browser.ts";
import { ann } from "../../fixtures/sign-in/users.ts";
import {
  assistantOf,
  assistantUri,
  atAssistant,
  dashboardOf,
  running,
  signInAs,
  start,
  tokensFor,
  verified,
} from "../../fixtures/sign-in/provider.ts";

vi.setConfig({ testTimeout: 30_000 });

interface Received {
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

/** A dashboard reduced to what the provider calls, and what it was called with. */
async function dashboardServer(status = 200): Promise<{ baseUrl: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (request.method === "POST") received.push({ path: request.url, type: request.headers["content-type"], body });
    response.writeHead(request.method === "POST" ? status : 200).end("the dashboard");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { baseUrl: `http://localhost:${(server.address() as AddressInfo).port}`, received };
}

test("a sign-out ends the session for all clients, notifies the dashboard over the back channel, and returns to it", async () => {
  const { baseUrl, received } = await dashboardServer();
  const provider = await running(undefined, { baseUrl, mcpUrl: `${baseUrl}/mcp` });
  const [dashboard, assistant] = [await dashboardOf(provider), await assistantOf(provider.issuer)];
  const browser = createBrowser([`${baseUrl}/sign-in/callback`, assistantUri]);
  const atDashboard = { redirect_uri: `${baseUrl}/sign-in/callback` };
  const { id_token: idToken = "" } = await tokensFor(dashboard, browser, atDashboard);
  const { refresh_token: refresh = "", access_token: token } = await tokensFor(assistant, browser, atAssistant);

  const page = await browser.open(
    openid.buildEndSessionUrl(dashboard, {
      id_token_hint: idToken,
      post_logout_redirect_uri: `${baseUrl}/`,
      state: "s1",
    }),
  );
  expect(page.status).toBe(200);
  expect(formOf(page).buttons).toEqual([{ text: "Sign out", name: undefined, value: "" }]);
  expect(page.text).toContain("<script>document.forms[0].submit()</script>");
  expect(received).toEqual([]);
  const back = await browser.submit(page);
  expect(back.url.href).toBe(`${baseUrl}/?state=s1`);
  expect(back.text).toBe("the dashboard");

  expect(received).toMatchObject([
    { path: "/sign-out/back-channel", type: expect.stringContaining("application/x-www-form-urlencoded") },
  ]);
  const logout = await verified(provider.issuer, new URLSearchParams(received[0]?.body).get("logout_token") ?? "", {
    audience: "records-dashboard",
    typ: "logout+jwt",
  });
  expect(logout.alg).toBe("RS256");
  expect(logout.claims).toMatchObject({
    sub: "person-ann",
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    sid: (await verified(provider.issuer, idToken)).claims["sid"],
  });
  expect((await verified(provider.issuer, token)).claims["sid"]).toBe(logout.claims["sid"]);
  expect(logout.claims["nonce"]).toBeUndefined();

  expect(
    (await browser.open((await start(dashboard, { ...atDashboard, prompt: "none" })).url)).url.searchParams.get(
      "error",
    ),
  ).toBe("login_required");
  await expect(openid.refreshTokenGrant(assistant, refresh)).rejects.toMatchObject({ error: "invalid_grant" });
  expect(await openid.tokenIntrospection(assistant, token)).toEqual({ active: false });
});

test("notifies the dashboard of a session in which it was never signed in to: tokens have its sid", async () => {
  const { baseUrl, received } = await dashboardServer();
  const provider = await running(undefined, { baseUrl, mcpUrl: `${baseUrl}/mcp` });
  const assistant = await assistantOf(provider.issuer);
  const browser = createBrowser([assistantUri]);
  const { access_token: token } = await tokensFor(assistant, browser, atAssistant);
  const page = await browser.open(`${provider.issuer}/session/end`);
  expect(page.text).not.toContain("<script");
  expect(textOf(page)).toContain("Do you want to sign out?");
  const after = await browser.submit(page);
  expect(textOf(after)).toContain("You are signed out");
  const logout = await verified(provider.issuer, new URLSearchParams(received[0]?.body).get("logout_token") ?? "");
  expect(logout.claims["sid"]).toBe((await verified(provider.issuer, token)).claims["sid"]);
});

test("without a hint, or with another user's, a sign-out requires a confirmation and redirects nobody without it", async () => {
  const { baseUrl } = await dashboardServer();
  const provider = await running(undefined, { baseUrl, mcpUrl: `${baseUrl}/mcp` });
  const dashboard = await dashboardOf(provider);
  const browser = createBrowser([`${baseUrl}/sign-in/callback`]);
  const atDashboard = { redirect_uri: `${baseUrl}/sign-in/callback` };
  const stale = (await tokensFor(dashboard, browser, atDashboard)).id_token ?? "";
  const { url } = await start(dashboard, { ...atDashboard, prompt: "login" });
  await browser.submit(
    await signInAs(browser, await browser.open(url), { ...ann, email: "ben@example.com", password: "ben's secret" }),
  );
  for (const parameters of [{}, { id_token_hint: stale }]) {
    const page = await browser.open(
      openid.buildEndSessionUrl(dashboard, { post_logout_redirect_uri: `${baseUrl}/`, ...parameters }),
    );
    expect(page.text).not.toContain("<script");
    expect(formOf(page).buttons).toMatchObject([{ text: "Sign out" }]);
  }
  for (const parameters of [
    { post_logout_redirect_uri: "https://other.example/" },
    { id_token_hint: `${stale.slice(0, -8)}AAAAAAAA` },
  ]) {
    expect((await browser.open(openid.buildEndSessionUrl(dashboard, parameters))).status).toBe(400);
  }
});

test.each([
  ["fails", 500],
  ["is unavailable", undefined],
])("a sign-out succeeds even if the dashboard %s", async (_name, status) => {
  const { baseUrl } = status === undefined ? { baseUrl: "http://localhost:9" } : await dashboardServer(status);
  const provider = await running(undefined, { baseUrl, mcpUrl: `${baseUrl}/mcp` });
  const dashboard = await dashboardOf(provider);
  const browser = createBrowser([`${baseUrl}/`]);
  const { id_token: hint = "" } = await tokensFor(dashboard, browser, { redirect_uri: `${baseUrl}/sign-in/callback` });
  const url = openid.buildEndSessionUrl(dashboard, { id_token_hint: hint, post_logout_redirect_uri: `${baseUrl}/` });
  expect((await browser.submit(await browser.open(url))).url.href).toBe(`${baseUrl}/`);
  // A second time there is nothing to end, and nothing to confirm.
  expect((await browser.submit(await browser.open(url))).url.href).toBe(`${baseUrl}/`);
});

test("a client that registered itself cannot make the provider call an address of this computer", async () => {
  const { baseUrl, received } = await dashboardServer();
  const provider = await running();
  const assistant = await assistantOf(provider.issuer, {
    backchannel_logout_uri: `${baseUrl}/anything`,
    backchannel_logout_session_required: true,
  });
  const browser = createBrowser([assistantUri]);
  await tokensFor(assistant, browser, atAssistant);
  const after = await browser.submit(await browser.open(`${provider.issuer}/session/end`));
  expect(textOf(after)).toContain("You are signed out");
  expect(received).toEqual([]);
});
