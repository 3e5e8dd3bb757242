// No key, cookie, token, code or password is left in a log, MongoDB, Redis, a metric or an error, whatever was done
// with it.
import { expect, test } from "vitest";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import { sendRequest, useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { findSecrets, secretsIn } from "../fixtures/service/secrets.ts";

const fixture = useSignInFixture({ LOG_LEVEL: "trace" });

test("after signing in, creating, using, misusing, rotating and revoking a key, and signing out, no secret is left anywhere [KEY-03, KEY-07]", async () => {
  const { base, provider, service } = fixture();
  const errors: string[] = [];
  const secrets = new Set<string>([ann.password, provider.client.secret, service.serviceToken]);
  const origin = base;
  const call = async (path: string, init: Parameters<typeof sendRequest>[1] = {}) => {
    const response = await sendRequest(base + path, init);
    if (response.status >= 400) errors.push(response.text);
    return response;
  };

  // In, by hand from the provider's last redirect on, to see the code and the cookies.
  const browser = createBrowser([`${base}/sign-in/callback`]);
  const form = await browser.open(`${base}/sign-in`);
  const { url: back } = await browser.submit(form, { login: ann.email, password: ann.password }, "Sign in");
  const state = browser.cookiesFor(base);
  secrets.add(back.searchParams.get("code") ?? "").add(state.slice(state.indexOf("=") + 1));
  const signedIn = await sendRequest(back, { cookie: state });
  const session =
    signedIn.headers
      .getSetCookie()
      .find((line) => line.startsWith("records_session="))
      ?.split(";")[0] ?? "";
  secrets.add(session.slice("records_session=".length));
  await call(back.pathname + back.search, { cookie: state });

  const cookie = session;
  const first = (await call("/v1/api-key", { method: "POST", cookie, origin })).body.data.key as string;
  const second = (await call("/v1/api-key/rotate", { method: "POST", cookie, origin })).body.data.key as string;
  for (const key of [first, second]) {
    secrets.add(key);
    const headers = { Authorization: `Bearer ${key}` };
    await call("/v1/contacts?query=ann", { headers });
    await call("/v1/contacts", {
      headers: { ...headers, "Content-Type": "application/json", "Idempotency-Key": "one" },
      body: '{"full_name":"Bo"}',
    });
    await call("/v1/nothing", { headers });
    await call("/records.v1.ContactService/GetContact", {
      headers: { ...headers, "Content-Type": "application/json" },
      body: "{}",
    });
    // A key in the wrong places.
    await call(`/v1/contacts/${key}`, { headers });
    await call(`/v1/${key}`);
    await call(`/${key}`, { accept: "text/html" });
    await call(`/v1/contacts?limit=${key}&query=${key}`);
    await call(`/v1/api-key?key=${key}`, { cookie: `records_session=${key}` });
    await call(`/sign-in/callback?code=${key}&state=${key}`, { accept: "text/html" });
    await call("/v1/contacts", {
      headers: { Authorization: `Basic ${Buffer.from(`api:${key}`).toString("base64")}`, "Content-Type": key },
    });
    await call("/sign-out/back-channel", { method: "POST", body: new URLSearchParams({ logout_token: key }) });
  }
  await call("/v1/api-key", { method: "DELETE", cookie, origin });
  const signedOut = await sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin });
  const idToken = new URL(signedOut.headers.get("location") ?? "").searchParams.get("id_token_hint") ?? "";
  secrets.add(idToken);

  for (const secret of secrets) expect(secret.length).toBeGreaterThan(8);
  expect(secrets.size).toBe(9);
  expect(idToken.split(".")).toHaveLength(3);
  expect(await findSecrets(service, secrets)).toEqual([]);
  expect(errors.length).toBeGreaterThan(15);
  expect(errors.flatMap((text) => secretsIn(text, secrets))).toEqual([]);
});
