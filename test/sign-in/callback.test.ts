// Rejected sign-ins: responses of the provider that were not requested, or not by this browser, or too long ago.
import { describe, expect, test } from "vitest";
import type { RestResponse } from "../fixtures/service/service.ts";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import { ann, ben } from "../fixtures/sign-in/users.ts";
import {
  almostIn,
  auditOf,
  begin,
  sendRequest,
  sessionCount,
  sessionOf,
  signIn,
  useSignInFixture,
} from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();

/** Rejected with 400, without a cookie and without a session. */
async function expectRejected(request: (accept: string) => Promise<RestResponse>): Promise<void> {
  const before = await sessionCount(fixture().service);
  for (const accept of ["text/html,application/xhtml+xml,*/*;q=0.8", "application/json", "*/*"]) {
    const response = await request(accept);
    expect(response.status).toBe(400);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(sessionOf(response)).toBe("");
    expect(response.headers.get("cache-control")).toBe("no-store");
    if (accept.startsWith("text/html")) {
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.text).toContain(response.headers.get("x-request-id"));
      expect(response.text).toMatch(/<a [^>]*href="\/sign-in"/);
    } else {
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(response.body).toEqual({
        error: { code: "400", message: expect.stringMatching(/sign-in/), reason: "SIGN_IN_FAILED" },
      });
    }
  }
  expect(await sessionCount(fixture().service)).toBe(before);
}

async function changed(change: (back: URL) => void): Promise<(accept: string) => Promise<RestResponse>> {
  return async (accept) => {
    const { back, cookie } = await almostIn(fixture(), ann);
    change(back);
    return sendRequest(back, { cookie, accept });
  };
}

const set =
  (name: string, value: string) =>
  (back: URL): void =>
    back.searchParams.set(name, value);

test("rejects a sign-in without the cookie of its beginning [DSH-01]", async () => {
  const { back } = await almostIn(fixture(), ann);
  await expectRejected((accept) => sendRequest(back, { accept }));
});

test("rejects a sign-in with the cookie of another browser's beginning, and its code in another browser [DSH-01]", async () => {
  const { back } = await almostIn(fixture(), ann);
  const { cookie } = await begin(fixture().base);
  await expectRejected((accept) => sendRequest(back, { cookie, accept }));
  const stolen = await almostIn(fixture(), ben);
  const own = await almostIn(fixture(), ann);
  const url = new URL(own.back);
  url.searchParams.set("code", stolen.back.searchParams.get("code") ?? "");
  await expectRejected((accept) => sendRequest(url, { cookie: own.cookie, accept }));
});

test("rejects a cookie that was changed in any part [DSH-01]", async () => {
  const { back, cookie } = await almostIn(fixture(), ann);
  const [name = "", value = ""] = [cookie.slice(0, cookie.indexOf("=")), cookie.slice(cookie.indexOf("=") + 1)];
  const parts = value.split(".");
  const forms = [
    ...parts.map((part, at) =>
      parts.map((one, index) => (index === at ? `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}` : one)).join("."),
    ),
    value.slice(0, -4),
    `${value}AAAA`,
    "",
    "x",
    "....",
    "eyJhbGciOiJub25lIn0.e30.",
    `"${value}`,
  ];
  for (const form of forms) {
    const response = await sendRequest(back, { cookie: `${name}=${form}` });
    expect([response.status, sessionOf(response)], form).toEqual([400, ""]);
  }
  // A rejected response does not use up the sign-in.
  expect((await sendRequest(back, { cookie })).status).toBe(303);
});

test("the cookie of a sign-in is not accepted as that of a session, or vice versa [DSH-01]", async () => {
  const { back, cookie } = await almostIn(fixture(), ann);
  const value = cookie.slice("records_sign_in=".length);
  expect((await sendRequest(`${fixture().base}/v1/api-key`, { cookie: `records_session=${value}` })).status).toBe(401);
  const { cookie: session } = await signIn(fixture(), ann);
  await expectRejected((accept) =>
    sendRequest(back, { accept, cookie: session.replace("records_session", "records_sign_in") }),
  );
});

test("accepts a code once [DSH-01]", async () => {
  const { back, cookie } = await almostIn(fixture(), ann);
  expect((await sendRequest(back, { cookie })).status).toBe(303);
  await expectRejected((accept) => sendRequest(back, { cookie, accept }));
});

test("a browser that returns to the address of its sign-in is led to the start page, and keeps its session [DSH-01]", async () => {
  const { back, cookie } = await almostIn(fixture(), ann);
  const session = sessionOf(await sendRequest(back, { cookie }));
  const before = await sessionCount(fixture().service);
  const { status, headers } = await sendRequest(back, { cookie: session });
  expect([status, headers.get("location"), headers.getSetCookie()]).toEqual([303, `${fixture().base}/`, []]);
  expect(await sessionCount(fixture().service)).toBe(before);
});

test("sign-ins begun in three tabs of a browser all succeed, in any order; a fourth takes the place of the first [DSH-01]", async () => {
  const { base } = fixture();
  const browser = createBrowser([`${base}/sign-in/callback`]);
  const backs: URL[] = [];
  const states: string[] = [];
  for (let tab = 0; tab < 4; tab++) {
    const form = await browser.open(`${base}/sign-in`);
    states.push(browser.cookiesFor(base));
    // The provider remembers the user, so that only the first tab shows its form.
    const { url } =
      tab === 0 ? await browser.submit(form, { login: ann.email, password: ann.password }, "Sign in") : form;
    backs.push(url);
  }
  const last = states.at(-1) ?? "";
  for (const at of [2, 3, 1]) {
    const response = await sendRequest(backs[at] ?? "", { cookie: last });
    expect([response.status, response.headers.get("location")]).toEqual([303, `${base}/`]);
    expect(sessionOf(response)).not.toBe("");
  }
  expect((await sendRequest(backs[0] ?? "", { cookie: last })).status).toBe(400);
});

test("a code that arrives twice at once creates at most one session [DSH-01]", async () => {
  const { back, cookie } = await almostIn(fixture(), ann);
  const before = await sessionCount(fixture().service);
  const statuses = (await Promise.all([1, 2, 3].map(() => sendRequest(back, { cookie }))))
    .map(({ status }) => status)
    .sort();
  expect(statuses.filter((status) => status !== 303 && status !== 400)).toEqual([]);
  expect((await sessionCount(fixture().service)) - before).toBeLessThanOrEqual(1);
});

describe("a response of the provider", () => {
  test.each([
    ["with another state", set("state", "another")],
    ["with an empty state", set("state", "")],
    ["without a state", (back: URL) => back.searchParams.delete("state")],
    ["with two states", (back: URL) => back.searchParams.append("state", back.searchParams.get("state") ?? "")],
    ["with two codes", (back: URL) => back.searchParams.append("code", back.searchParams.get("code") ?? "")],
    ["with another code", set("code", "A".repeat(43))],
    ["with an empty code", set("code", "")],
    ["without a code", (back: URL) => back.searchParams.delete("code")],
    ["of another provider", set("iss", "https://other.example")],
    ["without the provider's name, which this provider always sends", (back: URL) => back.searchParams.delete("iss")],
    ["with an error and a code", set("error", "server_error")],
    ["as a JWT", set("response", "eyJhbGciOiJub25lIn0.e30.")],
    ["without a query", (back: URL) => void (back.search = "")],
    ["with a query of garbage", (back: URL) => void (back.search = "?%00%ff%zz&&==&?#[]")],
    ["with a long query", (back: URL) => void (back.search = `?code=${"x".repeat(8_000)}`)],
  ])("is rejected %s [DSH-01]", async (_name, change) => {
    await expectRejected(await changed(change));
  });

  test("is rejected with ID tokens in its query, or without the code of the code flow [DSH-01]", async () => {
    await expectRejected(
      await changed((back) => {
        back.searchParams.delete("code");
        back.searchParams.set("id_token", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJwZXJzb24tYmVuIn0.");
      }),
    );
  });
});

test("a user who denies access at the provider sees that the sign-in was cancelled, and can start again", async () => {
  const { cookie, leadsTo } = await begin(fixture().base);
  const back = new URL(`${fixture().base}/sign-in/callback`);
  back.search = new URLSearchParams({
    error: "access_denied",
    state: leadsTo.searchParams.get("state") ?? "",
    iss: fixture().provider.issuer,
  }).toString();
  await expectRejected((accept) => sendRequest(back, { cookie, accept }));
  expect((await sendRequest(back, { cookie })).body).toEqual({
    error: { code: "400", message: "The sign-in was cancelled.", reason: "SIGN_IN_FAILED" },
  });
});

test("shows the provider's reason as text, and shortened", async () => {
  const { cookie, leadsTo } = await begin(fixture().base);
  const back = new URL(`${fixture().base}/sign-in/callback`);
  back.search = new URLSearchParams({
    error: `<script>alert(1)</script>${"x".repeat(500)}`,
    state: leadsTo.searchParams.get("state") ?? "",
    iss: fixture().provider.issuer,
  }).toString();
  await expectRejected((accept) => sendRequest(back, { cookie, accept }));
  const { text } = await sendRequest(back, { cookie, accept: "text/html" });
  expect(text).not.toContain("<script>alert");
  expect(text).not.toContain("x".repeat(100));
});

test("a rejected sign-in keeps the browser's session, and the audit log has no entry of it [KEY-19]", async () => {
  const { cookie: session } = await signIn(fixture(), ann);
  const before = await auditOf(fixture().base, session);
  const { cookie, leadsTo } = await begin(fixture().base);
  const back = `${fixture().base}/sign-in/callback?code=x&state=${leadsTo.searchParams.get("state")}`;
  expect((await sendRequest(back, { cookie: `${session}; ${cookie}` })).status).toBe(400);
  expect(await auditOf(fixture().base, session)).toEqual(before);
});
