// A real Ory Hydra with the settings of docs/providers.md: the doctor, users, assistants, and the ways in which access
// ends.
import { setTimeout as sleep } from "node:timers/promises";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Finding } from "../../src/cli/doctor/check.ts";
import { runDoctor } from "../../src/cli/doctor/doctor.ts";
import { freePort } from "../../src/embedded/port.ts";
import { environmentOf, findingOf } from "../cli/doctor/set-up.ts";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import type { SdkAssistant } from "../fixtures/providers/assistant.ts";
import { createSdkAssistant } from "../fixtures/providers/assistant.ts";
import type { Hydra } from "../fixtures/providers/hydra.ts";
import { fetchHydra, ida, startHydra } from "../fixtures/providers/hydra.ts";
import { assistantBrowser, send, statusOf } from "../fixtures/sign-in/assistants.ts";
import type { Browser, Page } from "../fixtures/sign-in/browser.ts";
import { assistantUri } from "../fixtures/sign-in/provider.ts";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import { newOwner, ownerStatus, sendRequest } from "../fixtures/sign-in/fixture.ts";
import { noteSecret } from "../fixtures/service/secrets.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

// Hydra may have to be built first.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 2_000_000 });

const client = { id: "records", secret: "client-secret-of-hydra-in-the-tests" } as const;
const documented = {
  webfinger: { oidc_discovery: { supported_claims: ["auth_time"], supported_scope: ["email", "profile"] } },
  strategies: { access_token: "jwt" },
  oauth2: { allowed_top_level_claims: ["auth_time", "sid"] },
};

const keySet = "hydra.jwt.access-token";

let without: string | undefined;
let hydra: Hydra;
let service: TestService;
let base: string;
let settings: Record<string, string>;

beforeAll(async () => {
  const port = await freePort();
  base = `http://localhost:${port}`;
  try {
    fetchHydra(testCacheDir());
  } catch (error) {
    without = `Hydra cannot be built: ${error instanceof Error ? error.message : String(error)}`;
    console.warn(`test/providers/hydra.test.ts is LEFT OUT. ${without}`);
    return;
  }
  hydra = await startHydra(`${base}/mcp`, () => documented);
  noteSecret(client.secret);
  settings = {
    OIDC_ISSUER: hydra.issuer,
    OIDC_CLIENT_ID: client.id,
    OIDC_CLIENT_SECRET: client.secret,
    MCP_AUDIENCE: `${base}/mcp`,
  };
  await register(hydra);
  service = await startService({ PORT: String(port), ...settings });
  await newOwner(service, hydra.issuer, ida.subject, ida.email);
});
afterAll(async () => {
  await service?.stop();
  await hydra?.stop();
});
beforeEach(({ skip }) => {
  if (without !== undefined) skip(without);
});

/** Registers the service's client, as docs/identity-provider.md says. */
async function register(at: Hydra, origin = base): Promise<void> {
  await at.admin("POST", "/clients", {
    client_id: client.id,
    client_secret: client.secret,
    grant_types: ["authorization_code"],
    response_types: ["code"],
    scope: "openid email profile",
    redirect_uris: [`${origin}/sign-in/callback`],
    post_logout_redirect_uris: [`${origin}/`],
    backchannel_logout_uri: `${origin}/sign-out/back-channel`,
    backchannel_logout_session_required: true,
  });
}

const asksToSignIn = ({ text }: Page): boolean => text.includes("Sign in as Ida");

async function follow(browser: Browser, url: string | URL): Promise<Page> {
  const page = await browser.open(url);
  return asksToSignIn(page) ? browser.submit(page) : page;
}

async function signIn(browser = createBrowser()): Promise<{ browser: Browser; cookie: string }> {
  const page = await follow(browser, `${base}/sign-in`);
  expect(page.url.href).toBe(`${base}/`);
  return { browser, cookie: browser.cookiesFor(base) };
}

/** Connects an assistant with a client that the operator has created for it. */
async function connect(browser = assistantBrowser()): Promise<SdkAssistant> {
  const { client_id } = (await hydra.admin("POST", "/clients", {
    client_name: "An assistant",
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    redirect_uris: [assistantUri],
    scope: "email profile offline_access",
    audience: [`${base}/mcp`],
  })) as { readonly client_id: string };
  const assistant = createSdkAssistant(`${base}/mcp`, { client_id, issuer: hydra.issuer });
  await assistant.signIn(async (page) => (await follow(browser, page)).url);
  return assistant;
}

const changeClient = (id: string, property: string, value: unknown): Promise<unknown> =>
  hydra.admin("PATCH", `/clients/${id}`, [{ op: "replace", path: `/${property}`, value }]);

const tokenOf = (assistant: SdkAssistant): string => assistant.tokens().access_token;
const accessOf = (assistant: SdkAssistant): Promise<number> => statusOf(base, tokenOf(assistant));

const doctor = (changes: Record<string, string> = {}): Promise<readonly Finding[]> =>
  runDoctor({ ...environmentOf(service, settings), ...changes }, { register: true });

const stated = (findings: readonly Finding[], ...statuses: string[]): string[] =>
  findings
    .filter(({ check, status }) => /^(?:provider|mcp|clock\.provider)/.test(check) && statuses.includes(status))
    .map(({ check }) => check)
    .sort();

test("the doctor finds nothing wrong with the documented settings, and says what Hydra does not offer [OPS-57]", async () => {
  const findings = await doctor();
  expect(stated(findings, "fault", "warning")).toEqual([]);
  expect(stated(findings, "note")).toEqual([
    "mcp.audience",
    "mcp.registration",
    "provider.introspection",
    "provider.offline_access",
    "provider.registration",
  ]);
  expect(findingOf(findings, "clock.provider").status).toBe("ok");
});

test("a client with either method of authentication signs users in, and the doctor names the method [OPS-57]", async () => {
  for (const method of ["client_secret_post", "client_secret_basic"]) {
    await changeClient(client.id, "token_endpoint_auth_method", method);
    expect(findingOf(await doctor(), "provider.client").message).toContain(`accepts the secret (${method})`);
    const { cookie } = await signIn();
    expect(await ownerStatus(base, cookie)).toBe(200);
  }
  const OIDC_CLIENT_SECRET = "another-client-secret-of-the-tests";
  expect(findingOf(await doctor({ OIDC_CLIENT_SECRET }), "provider.client")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/It rejects OIDC_CLIENT_SECRET/),
  });
});

test("the doctor finds what the settings of a new Hydra lack, and the response to a token says it too [OPS-57]", async () => {
  const fresh = await startHydra(`${base}/mcp`, (issuer) => ({
    oidc: { dynamic_client_registration: { enabled: true } },
    webfinger: { oidc_discovery: { client_registration_url: `${issuer}oauth2/register` } },
  }));
  const changes = { ...settings, OIDC_ISSUER: fresh.issuer };
  const other = await service.another({ ...changes, PORT: "0" });
  try {
    const origin = other.app.baseUrl;
    await register(fresh, origin);
    const findings = await runDoctor(environmentOf(other, changes), { register: true });
    expect(stated(findings, "fault", "warning")).toEqual(["mcp.registration", "provider.auth_time"]);
    expect(findingOf(findings, "mcp.registration").message).toMatch(/its response is invalid.*client_uri: Invalid URL/);
    expect(findingOf(findings, "provider.introspection").message).toMatch(/every access token that is not a JWT/);
    const { status, text } = await send(other.base, `Bearer ory_at_${"a".repeat(43)}.${"b".repeat(43)}`);
    expect([status, text]).toEqual([
      401,
      expect.stringContaining("must configure the identity provider to issue JWTs"),
    ]);
  } finally {
    await other.stop();
    await fresh.stop();
  }
});

test("an assistant with a client of its own signs in, calls a tool and refreshes its token [OAU-11, OAU-08]", async () => {
  const assistant = await connect();
  expect(await assistant.call("whoami")).toContain(ida.email);
  const { sid, auth_time, aud } = decodeJwt(tokenOf(assistant));
  expect(aud).toEqual([`${base}/mcp`]);
  const before = tokenOf(assistant);
  expect(await assistant.refresh()).toBe(true);
  expect(tokenOf(assistant)).not.toBe(before);
  expect(decodeJwt(tokenOf(assistant))).toMatchObject({ sid, auth_time });
  expect(await accessOf(assistant)).toBe(200);
  await changeClient(assistant.clientId(), "audience", []);
  await expect(assistant.refresh()).rejects.toThrow(/has not been whitelisted/);
});

test("a sign-out ends Hydra's session, every assistant, and their refresh tokens [DSH-04, OAU-12, OAU-15]", async () => {
  const { browser, cookie } = await signIn(assistantBrowser());
  const assistant = await connect(browser);
  expect([await ownerStatus(base, cookie), await accessOf(assistant)]).toEqual([200, 200]);
  const { headers } = await sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin: base });
  expect((await browser.open(headers.get("location") ?? "")).url.href).toBe(`${base}/`);
  expect([await ownerStatus(base, cookie), await accessOf(assistant)]).toEqual([401, 401]);
  expect(await assistant.refresh()).toBe(false);
  // Hydra's times are in whole seconds.
  await sleep(2_000);
  expect(asksToSignIn(await browser.open(`${base}/sign-in`))).toBe(true);
  const again = await signIn(browser);
  const next = await connect(browser);
  expect([await ownerStatus(base, again.cookie), await accessOf(next)]).toEqual([200, 200]);
});

test("a logout at Hydra itself ends the dashboard session, although its logout token has no exp [DSH-04, DSH-07]", async () => {
  const { browser, cookie } = await signIn(assistantBrowser());
  const assistant = await connect(browser);
  expect([await ownerStatus(base, cookie), await accessOf(assistant)]).toEqual([200, 200]);
  await browser.open(`${hydra.issuer}oauth2/sessions/logout`);
  await expect.poll(() => ownerStatus(base, cookie), { timeout: 10_000 }).toBe(401);
  expect(await accessOf(assistant)).toBe(401);
  expect(await assistant.refresh()).toBe(false);
});

test("a revoked refresh token is of no more use, and its access token works until it expires [OAU-13]", async () => {
  const assistant = await connect();
  const body = new URLSearchParams({
    token: assistant.tokens().refresh_token ?? "",
    client_id: assistant.clientId(),
  });
  expect((await fetch(`${hydra.issuer}oauth2/revoke`, { method: "POST", body })).status).toBe(200);
  expect(await accessOf(assistant)).toBe(200);
  expect(await assistant.refresh()).toBe(false);
});

test("a new signing key is accepted at once, and a removed one is rejected [OAU-14, OAU-20]", async () => {
  const assistant = await connect();
  const old = tokenOf(assistant);
  const { kid: removed = "" } = decodeProtectedHeader(old);
  await hydra.admin("POST", `/keys/${keySet}`, { alg: "RS256", use: "sig", kid: "" });
  // A refreshed token names the key of its sign-in.
  const next = await connect();
  expect(decodeProtectedHeader(tokenOf(next)).kid).not.toBe(removed);
  expect([await statusOf(base, old), await accessOf(next)]).toEqual([200, 200]);
  await hydra.admin("DELETE", `/keys/${keySet}/${removed}`);
  // Without a token of an unknown key, the service fetches the keys once a minute.
  await expect.poll(() => statusOf(base, old), { timeout: 90_000, interval: 2_000 }).toBe(401);
  expect(await accessOf(next)).toBe(200);
});

test("while Hydra hangs, tokens and sessions continue, few requests wait for it, and a sign-in works once it is back [OAU-14]", async () => {
  const [{ browser, cookie }, assistant] = [await signIn(), await connect()];
  expect([await ownerStatus(base, cookie), await accessOf(assistant)]).toEqual([200, 200]);
  process.kill(hydra.pid, "SIGSTOP");
  const waits: number[] = [];
  try {
    for (const end = performance.now() + 20_000; performance.now() < end; await sleep(500)) {
      const at = performance.now();
      expect([await ownerStatus(base, cookie), await accessOf(assistant)]).toEqual([200, 200]);
      waits.push(performance.now() - at);
    }
  } finally {
    process.kill(hydra.pid, "SIGCONT");
  }
  expect(waits.filter((ms) => ms > 1_000).length).toBeLessThan(4);
  expect(await assistant.refresh()).toBe(true);
  await signIn(browser);
});
