// The end of a session ends the tokens of its assistants: by signing out here or at the provider, by revoking, and on
// every instance.
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser } from "../../fixtures/sign-in/browser.ts";
import { noteSecret } from "../../fixtures/service/secrets.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { sendRequest, signIn, useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { User } from "../../../src/embedded/provider/provider.ts";
import type { Assistant } from "../../fixtures/sign-in/assistants.ts";
import { assistantBrowser, expectChallenge, letIn, send, statusOf } from "../../fixtures/sign-in/assistants.ts";
import { inForm, share } from "../../support/form.ts";

const fixture = useSignInFixture();
let second: TestService;

beforeAll(async () => {
  const { service, base } = fixture();
  second = await service.another({ BASE_URL: base });
});
afterAll(async () => void (await second.stop()));

const issuer = (): string => fixture().provider.issuer;
/** The status on the first instance and on the second. */
const statuses = async (token: string): Promise<number[]> => [
  await statusOf(fixture().base, token),
  await statusOf(second.base, token),
];
const both = (status: number): number[] => [status, status];
const offline = { scope: "openid email offline_access", prompt: "consent" };

/** A user at the dashboard and at an assistant, in one browser. */
async function together(user: User, parameters: Record<string, string> = {}): Promise<Assistant> {
  const browser = assistantBrowser();
  await signIn(fixture(), user, browser);
  return letIn(issuer(), user, browser, parameters);
}
/** Presses the dashboard's button, and continues to the provider's end of session where `through`. */
async function signOut(browser: Browser, through = true): Promise<void> {
  const { base } = fixture();
  const { status, headers } = await sendRequest(`${base}/sign-out`, {
    method: "POST",
    cookie: browser.cookiesFor(base),
    origin: base,
  });
  expect(status).toBe(303);
  if (through) await browser.submit(await browser.open(headers.get("location") ?? ""));
}
async function refresh({ client, refreshToken }: Assistant): Promise<string> {
  const { access_token: token } = await openid.refreshTokenGrant(client, refreshToken);
  noteSecret(token);
  return token;
}

describe("signing out at the dashboard", () => {
  test("ends the token at once on every instance, before the provider is notified [OAU-12]", async () => {
    const ann = await fixture().newUser();
    const { token, browser } = await together(ann);
    expect(await statuses(token)).toEqual(both(200));
    await signOut(browser, false);
    expect(await statuses(token)).toEqual(both(401));
    expectChallenge(
      await send(fixture().base, `Bearer ${token}`),
      fixture().base,
      /^The access token is not valid: its session has ended\. Sign in again\. If the assistant still gets this message, disconnect it, remove its access at the identity provider, and connect it again\.$/,
    );
    expectChallenge(await send(second.base, `Bearer ${token}`), fixture().base, /session has ended/);
  });

  test("ends all of the user's sessions with assistants, also from another browser, and those of no one else [OAU-12]", async () => {
    const [ann, ben] = [await fixture().newUser(), await fixture().newUser()];
    const { token, browser } = await together(ann);
    const elsewhere = await letIn(issuer(), ann);
    const bens = await letIn(issuer(), ben);
    for (const one of [token, elsewhere.token, bens.token]) expect(await statuses(one)).toEqual(both(200));
    await signOut(browser);
    expect([await statuses(token), await statuses(elsewhere.token), await statuses(bens.token)]).toEqual([
      both(401),
      both(401),
      both(200),
    ]);
  });

  const cases: readonly (readonly [string, Record<string, string>, boolean, boolean])[] = [
    ["in the same browser", {}, true, true],
    ["with the provider's page left unfinished", {}, true, false],
    ["in another browser", {}, false, true],
    ["in another browser, with the provider's page left unfinished", {}, false, false],
    ["under offline_access", offline, true, true],
    ["under offline_access, with the provider's page left unfinished", offline, true, false],
    ["under offline_access in another browser", offline, false, false],
  ];
  test.each(share(cases, 3))(
    "ends a refresh token %s: it is invalid_grant, and its earlier access tokens are rejected [OAU-17]",
    async (_name, parameters, sameBrowser, through) => {
      const ann = await fixture().newUser();
      const own = await together(ann, parameters);
      const one = sameBrowser ? own : await letIn(issuer(), ann, assistantBrowser(), parameters);
      const { access_token: refreshed, refresh_token: next = one.refreshToken } = await openid.refreshTokenGrant(
        one.client,
        one.refreshToken,
      );
      expect([await statuses(one.token), await statuses(refreshed)]).toEqual([both(200), both(200)]);
      await signOut(own.browser, through);
      await expect(openid.refreshTokenGrant(one.client, next)).rejects.toMatchObject({ error: "invalid_grant" });
      expect([await statuses(one.token), await statuses(refreshed)]).toEqual([both(401), both(401)]);
    },
  );

  // The next sign-in of the same user waits for a later second.
  test.concurrent("keeps a sign-in right after it [OAU-15]", async () => {
    const ann = await fixture().newUser();
    for (let turn = 0; turn < inForm(1, 3); turn++) {
      const { token, browser } = await together(ann);
      await signOut(browser);
      const next = await letIn(issuer(), ann, browser);
      expect([await statuses(token), await statuses(next.token)]).toEqual([both(401), both(200)]);
    }
  });

  test.concurrent("does not end a session that began and was refreshed after it [OAU-12]", async () => {
    const ann = await fixture().newUser();
    const { browser } = await together(ann);
    await signOut(browser);
    const next = await letIn(issuer(), ann, browser, offline);
    expect(await statuses(await refresh(next))).toEqual(both(200));
  });
});

describe("signing out at the provider", () => {
  test("ends the token at once on every instance, over the back channel [OAU-12]", async () => {
    const [ann, ben] = [await fixture().newUser(), await fixture().newUser()];
    const { token, browser } = await together(ann);
    const bens = await letIn(issuer(), ben);
    expect(await statuses(token)).toEqual(both(200));
    await browser.submit(await browser.open(`${issuer()}/session/end`));
    expect([await statuses(token), await statuses(bens.token)]).toEqual([both(401), both(200)]);
    const next = await letIn(issuer(), ann, browser);
    expect(await statuses(next.token)).toEqual(both(200));
  });

  test("ends an offline grant, too [OAU-12]", async () => {
    const ann = await fixture().newUser();
    const one = await together(ann, offline);
    await browserEnds(one.browser);
    expect(await statuses(one.token)).toEqual(both(401));
    await expect(refresh(one)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("ends only that browser's session: a session in another browser continues [OAU-19]", async () => {
    const ann = await fixture().newUser();
    const [one, elsewhere] = [await together(ann), await letIn(issuer(), ann)];
    await browserEnds(one.browser);
    expect([await statuses(one.token), await statuses(elsewhere.token)]).toEqual([both(401), both(200)]);
  });

  const browserEnds = async (browser: Browser): Promise<void> =>
    void (await browser.submit(await browser.open(`${issuer()}/session/end`)));
});

test("a token that is revoked at the provider is rejected within 5 seconds, even while it is used [OAU-13]", async () => {
  const ann = await fixture().newUser();
  const one = await letIn(issuer(), ann);
  const other = await letIn(issuer(), ann);
  expect([await statuses(one.token), await statuses(other.token)]).toEqual([both(200), both(200)]);
  await openid.tokenRevocation(one.client, one.token);
  await expect.poll(() => statuses(one.token), { timeout: 5_000, interval: 100 }).toEqual(both(401));
  expectChallenge(await send(fixture().base, `Bearer ${one.token}`), fixture().base, /revoked, or has expired/);
  expect(await statuses(other.token)).toEqual(both(200));
});

test("a token that is revoked before its first use is rejected at once, and so is one whose grant was withdrawn [OAU-13]", async () => {
  const ann = await fixture().newUser();
  const [one, other] = [await letIn(issuer(), ann), await letIn(issuer(), ann, assistantBrowser(), offline)];
  await openid.tokenRevocation(one.client, one.token);
  await openid.tokenRevocation(other.client, other.refreshToken);
  expect([await statuses(one.token), await statuses(other.token)]).toEqual([both(401), both(401)]);
});

test("accepts a resource of ours at every step, and requires none [OAU-08, OAU-09]", async () => {
  const ann = await fixture().newUser();
  const { base } = fixture();
  for (const resource of [`${base}/mcp`, base, undefined]) {
    const parameters: Record<string, string> = resource === undefined ? {} : { resource };
    const { token } = await letIn(issuer(), ann, assistantBrowser(), parameters, parameters);
    expect([resource, await statuses(token)]).toEqual([resource, both(200)]);
  }
});

/** Last, for afterwards there is no provider any more. */
test("while the provider is unavailable known and new tokens are accepted, and ended ones stay rejected [OAU-14]", async () => {
  const [ann, ben] = [await fixture().newUser(), await fixture().newUser()];
  const { provider, base } = fixture();
  const [known, fresh] = [await letIn(issuer(), ben), await letIn(issuer(), ben)];
  const ended = await together(ann);
  expect([await statuses(known.token), await statuses(ended.token)]).toEqual([both(200), both(200)]);
  await signOut(ended.browser, false);
  await provider.stop();
  expect([await statuses(known.token), await statuses(fresh.token), await statuses(ended.token)]).toEqual([
    both(200),
    both(200),
    both(401),
  ]);
  expect((await sendRequest(`${base}/.well-known/oauth-protected-resource`)).status).toBe(200);
});
