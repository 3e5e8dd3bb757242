// A real Keycloak with the realm of deploy/compose: the doctor, users, assistants, and each way in which access ends.
import { setTimeout as sleep } from "node:timers/promises";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Finding } from "../../src/cli/doctor/check.ts";
import { runDoctor } from "../../src/cli/doctor/doctor.ts";
import { freePort } from "../../src/embedded/port.ts";
import { environmentOf, faultsAmong, findingOf } from "../cli/doctor/set-up.ts";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import type { SdkAssistant } from "../fixtures/providers/assistant.ts";
import { createSdkAssistant } from "../fixtures/providers/assistant.ts";
import type { Keycloak } from "../fixtures/providers/keycloak.ts";
import { client, composeRealm, fetchKeycloak, grace, startKeycloak } from "../fixtures/providers/keycloak.ts";
import { assistantBrowser, send, statusOf } from "../fixtures/sign-in/assistants.ts";
import type { Browser, Page } from "../fixtures/sign-in/browser.ts";
import { createBrowser, textOf } from "../fixtures/sign-in/browser.ts";
import { sendRequest } from "../fixtures/sign-in/fixture.ts";
import { noteSecret } from "../fixtures/service/secrets.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

// Keycloak may have to be fetched first, and takes its time on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 900_000 });

let without: string | undefined;
let keycloak: Keycloak;
let service: TestService;
let base: string;
let settings: Record<string, string>;

beforeAll(async () => {
  try {
    fetchKeycloak(testCacheDir());
  } catch (error) {
    without = `Keycloak cannot be fetched: ${error instanceof Error ? error.message : String(error)}`;
    console.warn(`test/providers/keycloak.test.ts is LEFT OUT. ${without}`);
    return;
  }
  keycloak = await startKeycloak();
  const port = await freePort();
  base = `http://localhost:${port}`;
  await keycloak.admin("POST", "", composeRealm(base));
  noteSecret(client.secret);
  settings = {
    OIDC_ISSUER: keycloak.issuerOf("records"),
    OIDC_CLIENT_ID: client.id,
    OIDC_CLIENT_SECRET: client.secret,
    MCP_AUDIENCE: `${base}/mcp`,
    MCP_SCOPES: "email records",
  };
  service = await startService({ PORT: String(port), ...settings });
  // Keycloak compiles its pages when they are first opened, which may take longer than the doctor waits.
  await createBrowser().open(`${base}/sign-in`);
});
afterAll(async () => {
  await service?.stop();
  await keycloak?.stop();
});
beforeEach(({ skip }) => {
  if (without !== undefined) skip(without);
});

/** Calls the administration API of the realm. */
const admin = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await keycloak.admin(method, `/records${path}`, body)) as T;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Changes the service's client at the realm. */
async function changeClient(changes: object): Promise<void> {
  const [{ id }] = await admin<[Named]>("GET", "/clients?clientId=records");
  await admin("PUT", `/clients/${id}`, changes);
}

async function graceId(): Promise<string> {
  const [{ id }] = await admin<[Named]>("GET", "/users?username=grace&exact=true");
  return id;
}

async function providerSessions(): Promise<readonly Named[]> {
  return admin("GET", `/users/${await graceId()}/sessions`);
}

const asksForPassword = ({ text }: Page): boolean => text.includes('name="password"');

/** Opens a page, signs Grace in if Keycloak asks for it, and agrees to the assistant. */
async function follow(browser: Browser, url: string | URL): Promise<Page> {
  let page = await browser.open(url);
  if (asksForPassword(page))
    page = await browser.submit(page, { username: grace.username, password: grace.password }, "Sign In");
  if (page.text.includes('name="accept"')) page = await browser.submit(page, {}, "Yes");
  return page;
}

/** Signs Grace in to the dashboard. */
async function signIn(browser = createBrowser()): Promise<{ browser: Browser; cookie: string; page: Page }> {
  const page = await follow(browser, `${base}/sign-in`);
  expect(page.url.href).toBe(`${base}/`);
  return { browser, page, cookie: browser.cookiesFor(base) };
}

/** Signs out of the dashboard, and follows to Keycloak and back. */
async function signOut(browser: Browser): Promise<Page> {
  const { headers } = await sendRequest(`${base}/sign-out`, {
    method: "POST",
    cookie: browser.cookiesFor(base),
    origin: base,
  });
  return browser.open(headers.get("location") ?? "");
}

const keyStatus = async (cookie: string): Promise<number> =>
  (await sendRequest(`${base}/v1/api-key`, { cookie })).status;

/** Connects a new assistant for Grace. */
async function connect(browser = assistantBrowser()): Promise<SdkAssistant> {
  const assistant = createSdkAssistant(`${base}/mcp`);
  await assistant.signIn(async (page) => (await follow(browser, page)).url);
  return assistant;
}

const tokenOf = (assistant: SdkAssistant): string => assistant.tokens().access_token;
const accessOf = (assistant: SdkAssistant): Promise<number> => statusOf(base, tokenOf(assistant));

/** Waits until the service rejects it: at most five seconds (OAU-13). */
const expectEnded = (status: () => Promise<number>): Promise<void> =>
  expect.poll(status, { timeout: 5_000, interval: 200 }).toBe(401);

async function revoke(assistant: SdkAssistant, token: string): Promise<void> {
  const { status } = await fetch(`${settings["OIDC_ISSUER"]}/protocol/openid-connect/revoke`, {
    method: "POST",
    body: new URLSearchParams({ token, client_id: assistant.clientId() }),
  });
  expect(status).toBe(200);
}

const doctor = (changes: Record<string, string> = {}, register = true): Promise<readonly Finding[]> =>
  runDoctor({ ...environmentOf(service, settings), ...changes }, { register });

test("the doctor finds nothing wrong with the realm, and says what only a sign-in or the operator can find out [OPS-57]", async () => {
  for (const register of [false, true]) {
    const findings = (await doctor({}, register)).filter(({ check }) =>
      /^(?:provider|mcp|clock\.provider)/.test(check),
    );
    expect(findings.filter(({ status }) => status === "fault" || status === "warning")).toEqual([]);
    const notes = findings.filter(({ status }) => status === "note").map(({ check }) => check);
    expect(notes.sort()).toEqual(["clock.provider", "mcp.audience", ...(register ? [] : ["mcp.registration"])]);
  }
});

interface Mistake {
  readonly of: string;
  readonly make: () => Promise<() => Promise<unknown>>;
  /** Settings of the doctor alone. */
  readonly changes?: Record<string, string>;
  readonly check: string;
  readonly status: string;
  readonly says: RegExp;
}

const policies = "org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy";

/** Shows the scope offline_access in the metadata, or no longer, and lets clients request it, or not. */
async function offerOffline(isShown: boolean, isOptional: boolean): Promise<void> {
  const all = await admin<readonly (Named & { readonly attributes: object })[]>("GET", "/client-scopes");
  const scope = all.find(({ name }) => name === "offline_access");
  const attributes = { ...scope?.attributes, "include.in.openid.provider.metadata": String(isShown) };
  await admin("PUT", `/client-scopes/${scope?.id}`, { ...scope, attributes });
  await admin(isOptional ? "PUT" : "DELETE", `/default-optional-client-scopes/${scope?.id}`);
}

const offering = (isOptional: boolean) => async (): Promise<() => Promise<unknown>> => {
  await offerOffline(true, isOptional);
  return () => offerOffline(false, false);
};

const changing = (wrong: object, right: object) => async (): Promise<() => Promise<unknown>> => {
  await changeClient(wrong);
  return () => changeClient(right);
};
const nothing = (): Promise<() => Promise<unknown>> => Promise.resolve(() => Promise.resolve());

const mistakes: readonly Mistake[] = [
  {
    of: "the registration policy Trusted Hosts of a new realm",
    async make() {
      const { id: parentId } = (await keycloak.admin("GET", "/records")) as Named;
      const hosts = {
        "host-sending-registration-request-must-match": ["true"],
        "client-uris-must-match": ["true"],
      };
      const policy = { name: "Trusted Hosts", providerId: "trusted-hosts", providerType: policies, parentId };
      await admin("POST", "/components", { ...policy, subType: "anonymous", config: hosts });
      const all = await admin<readonly Named[]>("GET", `/components?type=${policies}`);
      const id = all.find(({ name }) => name === policy.name)?.id ?? "";
      return () => admin("DELETE", `/components/${id}`);
    },
    check: "mcp.registration",
    status: "fault",
    says: /Policy 'Trusted Hosts' rejected request/,
  },
  {
    of: "offline_access in the metadata, which assistants may not request",
    make: offering(false),
    check: "mcp.registration",
    status: "fault",
    says: /with the scopes "email records offline_access": .*Not permitted to use specified clientScope/,
  },
  {
    of: "offline_access, which assistants may request",
    make: offering(true),
    check: "provider.offline_access",
    status: "note",
    says: /offers offline_access, which assistants then request/,
  },
  {
    of: "another redirect URI",
    make: async () =>
      changing({ redirectUris: [`${base}/callback`] }, { redirectUris: [`${base}/sign-in/callback`] })(),
    check: "provider.redirect",
    status: "fault",
    says: /returns 400/,
  },
  {
    of: "another client secret",
    make: nothing,
    changes: { OIDC_CLIENT_SECRET: "another-client-secret-of-the-tests" },
    check: "provider.client",
    status: "fault",
    says: /It rejects OIDC_CLIENT_SECRET, .* tried client_secret_basic and client_secret_post/,
  },
  {
    of: "a client without the authorization code flow",
    make: changing({ standardFlowEnabled: false }, { standardFlowEnabled: true }),
    check: "provider.redirect",
    status: "fault",
    says: /./,
  },
  {
    of: "a public client",
    make: changing({ publicClient: true }, { publicClient: false, secret: client.secret }),
    check: "provider.introspection",
    status: "fault",
    says: /rejects the service's introspection/,
  },
  {
    of: "an audience that no scope adds",
    make: nothing,
    changes: { MCP_AUDIENCE: "https://records.example.com/mcp" },
    check: "mcp.audience",
    status: "note",
    says: /Only a sign-in shows/,
  },
];

test.for(mistakes.map((mistake) => [mistake.of, mistake] as const))(
  "the doctor finds %s [OPS-57]",
  async ([, { make, changes, check, status, says }]) => {
    const repair = await make();
    try {
      expect(findingOf(await doctor(changes), check)).toMatchObject({ status, message: expect.stringMatching(says) });
    } finally {
      await repair();
    }
    expect(faultsAmong(await doctor({}, false))).toEqual([]);
  },
);

test("a user without an account sees the issuer and subject to link, and then creates and rotates a key [KEY-01]", async () => {
  const { browser, page } = await signIn();
  const subject = await graceId();
  for (const shown of [keycloak.issuerOf("records"), subject]) expect(textOf(page) + page.text).toContain(shown);
  const account = await service.app.services.accounts.create(grace.email, true);
  await service.app.services.accounts.link(account._id, { issuer: keycloak.issuerOf("records"), subject });
  const cookie = browser.cookiesFor(base);
  for (const path of ["/v1/api-key", "/v1/api-key/rotate"]) {
    const { status, body } = await sendRequest(base + path, { method: "POST", cookie, origin: base });
    expect(status).toBe(201);
    noteSecret(body.data.key);
    expect((await service.rest("/v1/contacts?query=grace", { key: body.data.key })).status).toBe(200);
  }
});

test("an assistant registers itself, signs in with PKCE, calls a tool and refreshes its token [OAU-10, OAU-11, OAU-08]", async () => {
  const assistant = await connect();
  expect(await assistant.call("whoami")).toContain(grace.email);
  const before = decodeJwt(tokenOf(assistant));
  expect(before).toMatchObject({ aud: `${base}/mcp`, sid: expect.any(String), auth_time: expect.any(Number) });
  expect(await assistant.refresh()).toBe(true);
  const { sid, auth_time } = decodeJwt(tokenOf(assistant));
  expect({ sid, auth_time }).toEqual({ sid: before["sid"], auth_time: before["auth_time"] });
  expect(await assistant.call("whoami")).toContain(grace.email);
});

test("a token without the scope of the audience is rejected, and the response says so [OAU-08]", async () => {
  const assistant = createSdkAssistant(`${base}/mcp`);
  const browser = assistantBrowser();
  await assistant.signIn(async (page) => {
    page.searchParams.set("scope", "email");
    return (await follow(browser, page)).url;
  });
  const { status, text } = await send(base, `Bearer ${tokenOf(assistant)}`);
  expect([status, text]).toEqual([401, expect.stringContaining("it names no audience")]);
});

test("a revoked access token, refresh token or consent ends an assistant's access within 5 seconds [OAU-13]", async () => {
  const [first, second, third] = [await connect(), await connect(), await connect()];
  for (const assistant of [first, second, third]) expect(await accessOf(assistant)).toBe(200);
  await revoke(first, tokenOf(first));
  await expectEnded(() => accessOf(first));
  await revoke(second, second.tokens().refresh_token ?? "");
  await expectEnded(() => accessOf(second));
  await admin("DELETE", `/users/${await graceId()}/consents/${third.clientId()}`);
  await expectEnded(() => accessOf(third));
});

test("a sign-out ends the user's session at Keycloak, every assistant, and their refresh tokens [DSH-04, OAU-12, OAU-15]", async () => {
  const { browser, cookie } = await signIn(assistantBrowser());
  const assistant = await connect(browser);
  const elsewhere = await connect();
  for (const one of [assistant, elsewhere]) expect(await accessOf(one)).toBe(200);
  const { sid } = decodeJwt(tokenOf(assistant));
  const page = await signOut(browser);
  expect([page.status, page.url.href]).toEqual([200, `${base}/`]);
  expect([await keyStatus(cookie), await accessOf(assistant), await accessOf(elsewhere)]).toEqual([401, 401, 401]);
  expect((await providerSessions()).map(({ id }) => id)).not.toContain(sid);
  expect(await assistant.refresh()).toBe(false);
  // Keycloak's times are in whole seconds.
  await sleep(2_000);
  expect(asksForPassword(await browser.open(`${base}/sign-in`))).toBe(true);
  const again = await signIn(browser);
  expect(await keyStatus(again.cookie)).toBe(200);
  await assistant.signIn(async (address) => (await follow(browser, address)).url);
  expect(await accessOf(assistant)).toBe(200);
});

test("a session that an administrator deletes ends on the dashboard too, with its assistants [OAU-19]", async () => {
  const { browser, cookie } = await signIn(assistantBrowser());
  const assistant = await connect(browser);
  expect([await keyStatus(cookie), await accessOf(assistant)]).toEqual([200, 200]);
  await admin("DELETE", `/sessions/${String(decodeJwt(tokenOf(assistant))["sid"])}`);
  await expectEnded(() => keyStatus(cookie));
  await expectEnded(() => accessOf(assistant));
});

test("a new signing key is accepted at once, and a removed one is rejected [OAU-14, OAU-20]", async () => {
  const assistant = await connect();
  const old = tokenOf(assistant);
  const { id: parentId } = (await keycloak.admin("GET", "/records")) as Named;
  const keys = "org.keycloak.keys.KeyProvider";
  const before = await admin<readonly (Named & { readonly providerId: string })[]>("GET", `/components?type=${keys}`);
  const key = { name: "a new key", providerId: "rsa-generated", providerType: keys, parentId };
  await admin("POST", "/components", { ...key, config: { priority: ["1000"], keySize: ["2048"] } });
  expect(await assistant.refresh()).toBe(true);
  expect(decodeProtectedHeader(tokenOf(assistant)).kid).not.toBe(decodeProtectedHeader(old).kid);
  expect([await statusOf(base, old), await accessOf(assistant)]).toEqual([200, 200]);
  const removed = before.filter(({ providerId }) => providerId === "rsa-generated");
  expect(removed).toHaveLength(1);
  for (const { id } of removed) await admin("DELETE", `/components/${id}`);
  await expectEnded(() => statusOf(base, old));
  expect(await accessOf(assistant)).toBe(200);
});

test("while Keycloak hangs, tokens and sessions continue, few requests wait for it, and a sign-in works once it is back [OAU-14]", async () => {
  const [{ browser, cookie }, assistant] = [await signIn(), await connect()];
  expect([await keyStatus(cookie), await accessOf(assistant)]).toEqual([200, 200]);
  process.kill(keycloak.pid, "SIGSTOP");
  const waits: number[] = [];
  try {
    const end = performance.now() + 60_000;
    while (performance.now() < end) {
      const at = performance.now();
      expect([await keyStatus(cookie), await accessOf(assistant)]).toEqual([200, 200]);
      waits.push(performance.now() - at);
      await sleep(500);
    }
  } finally {
    process.kill(keycloak.pid, "SIGCONT");
  }
  const slow = waits.filter((ms) => ms > 1_000);
  // One waits for the introspection of the token, and one for the check of the session once a minute.
  expect(slow.length, `of ${waits.length} pairs of requests, these waited: ${slow.join(", ")} ms`).toBeLessThan(4);
  expect([await keyStatus(cookie), await accessOf(assistant)]).toEqual([200, 200]);
  await expect.poll(() => assistant.refresh(), { timeout: 30_000 }).toBe(true);
  await signIn(browser);
});

test("a disabled user's assistants and dashboard sessions end [OAU-13, DSH-04]", async () => {
  const [{ browser, cookie }, assistant] = [await signIn(), await connect()];
  expect([await keyStatus(cookie), await accessOf(assistant)]).toEqual([200, 200]);
  const id = await graceId();
  await admin("PUT", `/users/${id}`, { enabled: false });
  await expectEnded(() => accessOf(assistant));
  await makeDue();
  await expectEnded(() => keyStatus(cookie));
  const page = await follow(browser, `${base}/sign-in`);
  expect([page.url.origin, page.text]).toEqual([
    new URL(keycloak.issuerOf("records")).origin,
    expect.stringContaining("Account is disabled"),
  ]);
  await admin("PUT", `/users/${id}`, { enabled: true });
});

// Last, because its sign-outs end what is earlier by that clock.
test("clocks up to 30 seconds apart sign users in, out and in again [OAU-21]", async () => {
  await keycloak.setAhead(28);
  try {
    const { browser, cookie } = await signIn(assistantBrowser());
    const assistant = await connect(browser);
    expect([await keyStatus(cookie), await accessOf(assistant)]).toEqual([200, 200]);
    await signOut(browser);
    expect([await keyStatus(cookie), await accessOf(assistant)]).toEqual([401, 401]);
    await sleep(3_000);
    const again = await signIn(browser);
    const next = await connect(browser);
    expect([await keyStatus(again.cookie), await accessOf(next)]).toEqual([200, 200]);
    await admin("DELETE", `/sessions/${String(decodeJwt(tokenOf(next))["sid"])}`);
    await expectEnded(() => keyStatus(again.cookie));
  } finally {
    await keycloak.setAhead(0);
  }
});

/** Lets the next request check the sessions, as if a minute had passed. */
async function makeDue(): Promise<void> {
  const sessions = service.app.client.db().collection("dashboard_sessions");
  await sessions.updateMany({ check_at: { $exists: true } }, { $set: { check_at: new Date(0) } });
}
