// Sign-in at the development provider: the dashboard's code flow through plain forms, and what is rejected.
import * as openid from "openid-client";
import { expect, test, vi } from "vitest";
import { formOf, textOf } from "../../fixtures/sign-in/browser.ts";
import { ann, ben } from "../../fixtures/sign-in/users.ts";
import {
  atDashboard,
  baseUrl,
  dashboardOf,
  newBrowser,
  running,
  signInAs,
  start,
  tokensFor,
  verified,
} from "../../fixtures/sign-in/provider.ts";

vi.setConfig({ testTimeout: 30_000 });

test("the dashboard signs a user in with a code and PKCE through one plain form, without consent [OPS-08]", async () => {
  const provider = await running();
  const dashboard = await dashboardOf(provider);
  const browser = newBrowser();
  const { url, checks } = await start(dashboard, { ...atDashboard, nonce: "n-0S6" });
  const page = await browser.open(url);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain("<script");
  expect(page.text).toMatch(/<input [^>]*name="login" type="email" autocomplete="username"/);
  expect(page.text).toMatch(/<input [^>]*name="password" type="password"/);
  expect(formOf(page)).toMatchObject({
    method: "post",
    action: page.url,
    fields: { login: "", password: "" },
    buttons: [{ text: "Sign in" }],
  });
  expect(textOf(page)).toContain("Their passwords are in demo.json in the data folder.");
  const back = await signInAs(browser, page, ann);
  expect(back.url.href).toMatch(new RegExp(`^${baseUrl}/sign-in/callback\\?code=`));
  const tokens = await openid.authorizationCodeGrant(dashboard, back.url, { ...checks, expectedNonce: "n-0S6" });
  const { claims, alg } = await verified(provider.issuer, tokens.id_token ?? "", { audience: "records-dashboard" });
  expect(alg).toBe("RS256");
  expect(claims).toMatchObject({
    sub: "person-ann",
    email: "ann@example.com",
    email_verified: true,
    name: "Ann Example",
    sid: expect.any(String),
  });
  expect(tokens.refresh_token).toBeUndefined();
  expect(tokens.access_token).not.toContain(".");
  expect(await openid.fetchUserInfo(dashboard, tokens.access_token, "person-ann")).toEqual({
    sub: "person-ann",
    email: "ann@example.com",
    email_verified: true,
    name: "Ann Example",
  });
});

test("a demo user's button fills in their email, and signs nobody in without the password [OPS-08]", async () => {
  const browser = newBrowser();
  const { url } = await start(await dashboardOf(await running()), atDashboard);
  const page = await browser.open(url);
  expect(page.text).toContain(`<button type="submit" name="person" value="${ben.email}"`);
  const chosen = await browser.submit(page, {}, `${ben.name} ${ben.email}`);
  expect(chosen.status).toBe(200);
  expect(formOf(chosen).fields).toEqual({ login: ben.email, password: "" });
  expect(textOf(chosen)).not.toContain("is wrong");
  expect((await signInAs(browser, chosen, ben)).url.searchParams.has("code")).toBe(true);
});

test("a wrong password shows the form again, with the reason and the email [OPS-08]", async () => {
  const provider = await running();
  const browser = newBrowser();
  const { url } = await start(await dashboardOf(provider), atDashboard);
  const page = await browser.open(url);
  for (const [login, password] of [
    ["ann@example.com", "wrong"],
    ["nobody@example.com", ann.password],
    ["ann@example.com", ben.password],
    ["ann@example.com", ""],
  ] as const) {
    const again = await browser.submit(page, { login, password });
    expect(again.status).toBe(422);
    expect(textOf(again)).toContain("The email or the password is wrong.");
    expect(formOf(again).fields).toEqual({ login, password: "" });
  }
  expect((await signInAs(browser, page, { ...ann, email: " ANN@Example.com " })).url.searchParams.has("code")).toBe(
    true,
  );
});

test("shows the form's input as text only [OPS-08]", async () => {
  const provider = await running();
  const browser = newBrowser();
  const hostile = '"><script>alert(1)</script>';
  const { url } = await start(await dashboardOf(provider), { ...atDashboard, login_hint: hostile });
  const page = await browser.open(url);
  expect(formOf(page).fields["login"]).toBe(hostile);
  const again = await browser.submit(page, { login: `${hostile}2`, password: hostile });
  expect(formOf(again).fields["login"]).toBe(`${hostile}2`);
  expect(page.text + again.text).not.toContain("<script");
});

test.each([
  ["no PKCE", { code_challenge: "", code_challenge_method: "" }],
  ["plain PKCE", { code_challenge_method: "plain" }],
  ["a challenge without its method", { code_challenge_method: "" }],
])("rejects a request with %s at once [OAU-11]", async (_name, changed) => {
  const provider = await running();
  const { url } = await start(await dashboardOf(provider), { ...atDashboard, ...changed });
  for (const [name, value] of [...url.searchParams]) if (value === "") url.searchParams.delete(name);
  const back = await newBrowser().open(url);
  expect(back.status).toBeUndefined();
  expect(back.url.searchParams.get("error")).toBe("invalid_request");
});

test("the session signs in again without a form; prompt and max_age show one, prompt=none never does", async () => {
  const provider = await running();
  const dashboard = await dashboardOf(provider);
  const browser = newBrowser();
  const open = async (parameters: Record<string, string>): ReturnType<typeof browser.open> =>
    browser.open((await start(dashboard, { ...atDashboard, ...parameters })).url);
  expect((await open({ prompt: "none" })).url.searchParams.get("error")).toBe("login_required");
  await tokensFor(dashboard, browser, atDashboard);
  expect((await open({})).url.searchParams.has("code")).toBe(true);
  expect((await open({ prompt: "none" })).url.searchParams.has("code")).toBe(true);
  const again = await open({ prompt: "login" });
  expect(formOf(again).fields).toEqual({ login: "ann@example.com", password: "" });
  expect((await open({ max_age: "0" })).text).toContain('name="password"');
  expect(formOf(await open({ prompt: "login", login_hint: "ben@example.com" })).fields["login"]).toBe(
    "ben@example.com",
  );
});

test("another user who signs in in the same browser ends the previous user's session", async () => {
  const provider = await running();
  const dashboard = await dashboardOf(provider);
  const browser = newBrowser();
  const before = await tokensFor(dashboard, browser, atDashboard);
  const { url, checks } = await start(dashboard, { ...atDashboard, prompt: "login" });
  const between = await signInAs(browser, await browser.open(url), ben);
  expect(textOf(between)).toContain("Development sign-in");
  expect(formOf(between).buttons).toMatchObject([{ text: "Continue" }]);
  const back = await browser.submit(between);
  const after = await openid.authorizationCodeGrant(dashboard, back.url, checks);
  expect(after.claims()).toMatchObject({ sub: "person-ben" });
  expect(after.claims()?.["sid"]).not.toBe(before.claims()?.["sid"]);
});

test("rejects a form of another browser's sign-in, or of a finished one, with a page [OPS-08]", async () => {
  const provider = await running();
  const browser = newBrowser();
  const { url } = await start(await dashboardOf(provider), atDashboard);
  const page = await browser.open(url);
  const stranger = await signInAs(newBrowser(), page, ann);
  await signInAs(browser, page, ann);
  const late = await signInAs(browser, page, ann);
  for (const rejected of [stranger, late]) {
    expect(rejected.status).toBe(400);
    expect(textOf(rejected)).toContain("This sign-in is no longer open");
  }
});

test("accepts only the dashboard's own redirect URI", async () => {
  const provider = await running();
  const { url } = await start(await dashboardOf(provider), { redirect_uri: "http://localhost:9/elsewhere" });
  const page = await newBrowser().open(url);
  expect(page.status).toBe(400);
  expect(textOf(page)).toContain("invalid_redirect_uri");
});
