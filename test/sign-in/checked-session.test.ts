// A dashboard session ends if the provider no longer renews its tokens, although it sends no back-channel logout.
import { afterEach, beforeAll, expect, test } from "vitest";
import type { ResponseHandler } from "../fixtures/sign-in/fake-provider.ts";
import { away, idClaims, json, toForm } from "../fixtures/sign-in/fake-provider.ts";
import { begin, newOwner, ownerStatus, sendRequest, sessionCount, sessionOf } from "../fixtures/sign-in/fixture.ts";
import { useFakeProvider } from "../support/at-fake-provider.ts";

const { fake, service, base } = useFakeProvider();
/** The refresh tokens that were sent. */
const sent: string[] = [];

beforeAll(() => newOwner(service(), fake().issuer, "person-dora", "dora@example.com"));
afterEach(() => {
  fake().responses.clear();
  sent.length = 0;
});

const tokens = (changes: Record<string, string>): Record<string, unknown> => ({
  access_token: "an-access-token",
  token_type: "Bearer",
  expires_in: 60,
  ...changes,
});

/** Signs in at a provider that issues this refresh token, and then responds in the given way to each refresh. */
async function enterWith(refreshToken: string | undefined, refresh: () => ResponseHandler): Promise<string> {
  const { leadsTo, cookie } = await begin(base());
  const { nonce = "", state = "" } = Object.fromEntries(leadsTo.searchParams);
  const id_token = await fake().sign(idClaims(fake(), { nonce }));
  fake().responses.set(
    "/token",
    toForm((_request, form) => {
      if (form.get("grant_type") !== "refresh_token")
        return json(tokens({ id_token, ...(refreshToken !== undefined && { refresh_token: refreshToken }) }));
      sent.push(form.get("refresh_token") ?? "");
      return refresh();
    }),
  );
  const query = new URLSearchParams({ code: "a-code", state }).toString();
  return sessionOf(await sendRequest(`${base()}/sign-in/callback?${query}`, { cookie }));
}

/** Lets the next request check the sessions, as if a minute had passed. */
async function makeDue(): Promise<void> {
  await service()
    .app.client.db()
    .collection("dashboard_sessions")
    .updateMany({ check_at: { $exists: true } }, { $set: { check_at: new Date(0) } });
}

test("a session ends once the provider rejects its refresh token, such as of a disabled user [DSH-04]", async () => {
  const cookie = await enterWith("first", () => json({ error: "invalid_grant" }, 400));
  expect([await ownerStatus(base(), cookie), sent]).toEqual([200, []]);
  await makeDue();
  const before = await sessionCount(service());
  expect([await ownerStatus(base(), cookie), await sessionCount(service()), sent]).toEqual([
    401,
    before - 1,
    ["first"],
  ]);
});

test("a check keeps the renewed tokens, and concurrent requests make it once a minute [DSH-04]", async () => {
  let count = 1;
  const cookie = await enterWith("refresh-1", () => json(tokens({ refresh_token: `refresh-${++count}` })));
  for (let turn = 0; turn < 2; turn++) {
    await makeDue();
    const statuses = await Promise.all(Array.from({ length: 5 }, () => ownerStatus(base(), cookie)));
    expect(statuses).toEqual(Array(5).fill(200));
  }
  expect(sent).toEqual(["refresh-1", "refresh-2"]);
});

test.each<[string, ResponseHandler]>([
  ["is unavailable", away],
  ["fails", json({ error: "server_error" }, 500)],
  ["rejects the service(), and not the session", json({ error: "invalid_client" }, 401)],
])("a session continues if the provider %s [DSH-04]", async (_name, response) => {
  const cookie = await enterWith("first", () => response);
  await makeDue();
  expect(await ownerStatus(base(), cookie)).toBe(200);
  await makeDue();
  expect(await ownerStatus(base(), cookie)).toBe(200);
});

test("a session without a refresh token is never checked [DSH-04]", async () => {
  const cookie = await enterWith(undefined, () => json({ error: "invalid_grant" }, 400));
  await makeDue();
  expect([await ownerStatus(base(), cookie), sent]).toEqual([200, []]);
});
