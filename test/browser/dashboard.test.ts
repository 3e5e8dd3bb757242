// The dashboard in a real Chromium: a user gets a key, sees it once, rotates and revokes it, and signs out.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import { tools } from "../../src/mcp/tools.ts";
import { ann, ben } from "../fixtures/sign-in/users.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { button, secretForm, shownKey, useDashboard } from "./dashboard-user.ts";
import { expectAccessible, look, openWindow, picture } from "./pages.ts";

const { fixture, browser, signIn, revokeKeyOf } = useDashboard();
const looks = [
  { name: "dark", width: 1100, dark: true },
  { name: "phone", width: 320, dark: false },
];
/** Tells of each head of the table of days whether a blank separates its text from that of the head before it. */
const headsApart = `[...document.querySelector(".numbers thead").querySelectorAll("th")].map((head) => {
  const text = document.createRange();
  text.selectNodeContents(head);
  return text.getBoundingClientRect();
}).map(({ left }, at, all) => at === 0 || left - all[at - 1].right > 4)`;
let second: TestService;

beforeAll(async () => {
  second = await fixture().service.another({ BASE_URL: fixture().base });
});
afterAll(async () => second.stop());

const statusOf = async (key: string, at: TestService = fixture().service): Promise<number> =>
  (await at.rest("/v1/contacts?query=ann", { key })).status;

describe("a user who has an account", () => {
  test("creates a key, sees it once, uses it, rotates it, revokes it and signs out, after which the Back button shows nothing [DSH-01, DSH-02, DSH-03, DSH-04, KEY-07, KEY-09]", async () => {
    const { page, context, problems, origins } = await signIn(ann);
    await button(page, "Create key").waitFor();
    await expectAccessible(page, "no key");
    await picture(page, "1-no-key");

    await button(page, "Create key").click();
    const first = await shownKey(page);
    expect(first).toMatch(secretForm);
    await expectAccessible(page, "created");
    await picture(page, "2-created");
    await button(page, "Copy key").click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(first);
    await button(page, "Copy command").click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      `curl '${fixture().base}/v1/contacts?query=ann' \\\n  -H 'Authorization: Bearer ${first}'`,
    );
    expect([await statusOf(first), await statusOf(first, second)]).toEqual([200, 200]);
    // The page shows only the secret, in one line: nothing else can be done until it is dismissed.
    for (const name of ["Rotate", "Revoke"]) expect(await button(page, name).count()).toBe(0);
    const height = await page.locator("#secret").evaluate((code) => code.getClientRects()[0]?.height);
    expect(height).toBeLessThan(40);

    await page.reload();
    await button(page, "Rotate").waitFor();
    expect(await page.content()).not.toContain(first);
    expect(await page.textContent("main")).toContain(first.slice(0, 8));
    const kept = await page.evaluate(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href, document.title])",
    );
    expect(kept).not.toContain(first.slice(8));
    await expectAccessible(page, "has a key");
    await picture(page, "3-reloaded");

    await button(page, "Rotate").click();
    expect(await page.getByRole("dialog").textContent()).toContain("stops working at once");
    await expectAccessible(page, "asked whether to rotate");
    await picture(page, "4-rotate");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(await statusOf(first)).toBe(200);
    await button(page, "Rotate").click();
    await page
      .getByRole("dialog")
      .getByRole("radio", { name: /Read only/ })
      .check();
    await button(page, "Rotate key").click();
    await expect.poll(async () => (await shownKey(page)) !== first).toBe(true);
    const rotated = await shownKey(page);
    expect([
      await statusOf(first),
      await statusOf(first, second),
      await statusOf(rotated),
      await statusOf(rotated, second),
    ]).toEqual([401, 401, 200, 200]);
    await picture(page, "5-rotated");
    await button(page, "Done").click();
    expect(await page.content()).not.toContain(rotated);
    expect(await page.textContent("main")).toContain("Read only");

    await button(page, "Revoke").click();
    expect(await page.getByRole("dialog").textContent()).toContain("stops working at once");
    await expectAccessible(page, "asked whether to revoke");
    await picture(page, "6-revoke");
    await button(page, "Revoke key").click();
    await button(page, "Create key").waitFor();
    expect([await statusOf(rotated), await statusOf(rotated, second)]).toEqual([401, 401]);

    const activity = page.getByRole("region", { name: "Activity" });
    await expect
      .poll(async () => (await activity.textContent()) ?? "")
      .toMatch(/revoked.*rotated.*created.*signed in/is);
    await picture(page, "7-revoked");

    await button(page, "Sign out").click();
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    expect(page.url()).toBe(`${fixture().base}/`);
    expect((await context.cookies()).filter(({ name }) => name.includes("records_session"))).toEqual([]);
    await expectAccessible(page, "signed out");
    await picture(page, "8-signed-out");
    for (let steps = 0; steps < 4; steps++) {
      await page.goBack().catch(() => null);
      if (!page.url().startsWith(fixture().base)) continue;
      expect(await page.content()).not.toContain(ann.email);
    }
    expect(problems).toEqual([]);
    expect([...origins].sort()).toEqual([fixture().base, fixture().provider.issuer].sort());
    await context.close();
  });

  test("creates and revokes a key by keyboard alone [DSH-02]", async () => {
    const { page, context } = await signIn(ann);
    await button(page, "Create key").waitFor();
    const reach = async (name: string): Promise<void> => {
      for (let presses = 0; presses < 40; presses++) {
        if ((await page.evaluate("document.activeElement?.textContent?.trim()")) === name)
          return page.keyboard.press("Enter");
        await page.keyboard.press("Tab");
      }
      throw new Error(`${name} cannot be reached with the keyboard`);
    };
    await reach("Create key");
    expect(await shownKey(page)).toMatch(secretForm);
    await reach("Done");
    await button(page, "Revoke").waitFor();
    await reach("Revoke");
    await page.getByRole("dialog").waitFor();
    // A hasty Enter does not trigger the destructive action.
    expect(await page.evaluate("document.activeElement?.textContent?.trim()")).toBe("Cancel");
    await reach("Revoke key");
    await button(page, "Create key").waitFor();
    await context.close();
  });

  test.each([
    ["arrives", true],
    ["fails", false],
  ])("ignores a page of the previous list that %s after the log was reloaded", async (_name, arrives) => {
    const { page, context } = await signIn(ann);
    const entry = (id: string) => ({
      id,
      created_at: "2026-01-31T09:30:00.000Z",
      event: "key_refused",
      detail: `detail ${id}`,
      key_prefix: null,
      person: null,
      request_id: id,
      address: "192.0.2.1",
    });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let first = ["b", "a"];
    await page.route("**/v1/audit-log?*", async (route) => {
      const later = new URL(route.request().url()).searchParams.get("offset") !== "0";
      if (later) await held;
      if (later && !arrives) return route.abort();
      const data = later ? ["of the list before"] : first;
      return route.fulfill({
        json: {
          data: data.map(entry),
          pagination: { limit: 2, offset: 0, has_more: !later, next_offset: later ? null : 2 },
        },
      });
    });
    await page.reload();
    const activity = page.getByRole("region", { name: "Activity" });
    await activity.getByText("detail a").waitFor({ state: "attached" });
    await button(page, "Show more").click();
    first = ["c", "b"];
    await button(page, "Create key").click();
    await activity.getByText("detail c").waitFor({ state: "attached" });
    release();
    await expect.poll(() => button(page, "Show more").isEnabled()).toBe(true);
    expect(await activity.getByText(/^detail/).allTextContents()).toEqual(["detail c", "detail b"]);
    expect(await activity.getByRole("alert").count()).toBe(0);
    await context.close();
    await revokeKeyOf(ann);
  });

  test("sees a message when another tab was faster, or when the session is over", async () => {
    const { page, context } = await signIn(ann);
    await button(page, "Create key").waitFor();
    const elsewhere = await context.newPage();
    await elsewhere.goto(`${fixture().base}/`);
    await button(elsewhere, "Create key").click();
    await shownKey(elsewhere);
    // A page behind another one draws once a second, and each click waits for that.
    await page.bringToFront();
    await button(page, "Create key").click();
    await page.getByText("A key was already created, in another tab").first().waitFor();
    await button(page, "Rotate").waitFor();
    await elsewhere.bringToFront();
    await button(elsewhere, "Sign out").click();
    await elsewhere.getByRole("link", { name: "Sign in" }).waitFor();
    await page.bringToFront();
    await button(page, "Revoke").click();
    await button(page, "Revoke key").click();
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    expect(await page.content()).not.toContain(ann.email);
    await context.close();
    await revokeKeyOf(ann);
  });
});

test("a page changes nothing for a user who signed in in another tab, nor a key other than the one that it shows [DSH-02]", async () => {
  const { page, context } = await signIn(ann);
  await button(page, "Create key").click();
  await shownKey(page);
  await button(page, "Done").click();
  const elsewhere = await context.newPage();
  await elsewhere.goto(`${fixture().base}/`);
  await button(elsewhere, "Rotate").click();
  await button(elsewhere, "Rotate key").click();
  const annsKey = await shownKey(elsewhere);
  await page.bringToFront();
  await button(page, "Revoke").click();
  await button(page, "Revoke key").click();
  await page.getByText("The key was already replaced, in another tab").first().waitFor();
  expect(await page.locator(".key-name").textContent()).toContain(annsKey.slice(0, 8));

  const other = await signIn(ben);
  await context.clearCookies({ name: "records_session" });
  await context.addCookies((await other.context.cookies()).filter(({ name }) => name === "records_session"));
  await button(page, "Revoke").click();
  await button(page, "Revoke key").click();
  await page.locator("#person").getByText(ben.email).waitFor();
  expect(await statusOf(annsKey)).toBe(200);
  await elsewhere.bringToFront();
  await button(elsewhere, "Sign out").click();
  await elsewhere.locator("#person").getByText(ben.email).waitFor();
  await other.page.reload();
  expect(await other.page.textContent("#person")).toBe(ben.email);
  for (const one of [context, other.context]) await one.close();
  await revokeKeyOf(ann);
});

test("consecutive reads of an assistant, and sign-ins and sign-outs of a user, are one row each, which expands to every entry", async () => {
  const { page, context } = await signIn(ann);
  const reads = ["search_contacts", "resource session", "resource session", "unheard_of"];
  const others = ["signed_out", "signed_in", "signed_in", "key_created", "signed_in"].map((event) => [event, null]);
  // Of a user each, so that each has a row.
  const calls = tools.map(({ name }) => ["tool_called", name, `${name}@example.com`]);
  const all = [...reads.map((detail) => ["tool_called", detail]), ...others, ...calls];
  const entries = all.map(([event, detail, person = ann.email], at) => ({
    id: String(at),
    created_at: "2026-01-31T09:30:00.000Z",
    event,
    detail,
    key_prefix: null,
    person,
    request_id: `request-${at}`,
    address: "192.0.2.1",
  }));
  await page.route("**/v1/audit-log?*", (route) =>
    route.fulfill({
      json: { data: entries, pagination: { limit: 25, offset: 0, has_more: false, next_offset: null } },
    }),
  );
  await page.reload();
  const activity = page.getByRole("region", { name: "Activity" });
  const group = activity.getByText("An assistant searched contacts, read a session, read records");
  await group.waitFor();
  const rows = (await activity.locator(".entry-what").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  expect(rows.slice(-tools.length)).not.toContain("An assistant read records");
  expect(rows.slice(0, -tools.length)).toEqual([
    "An assistant searched contacts, read a session, read records 4 times",
    "Signed in and out 3 times",
    "API key created",
    "Signed in",
  ]);
  expect(await activity.getByText("request-2").isVisible()).toBe(false);
  await group.click();
  expect(await activity.getByText("request-2").isVisible()).toBe(true);
  await activity.getByText("Signed in and out").click();
  expect(
    await activity.getByText("2026-01-31 09:30:00 UTC · Signed out · from 192.0.2.1 · request request-4").count(),
  ).toBe(1);
  await expectAccessible(page, "activity");
  await context.close();
});

test("nothing on the page moves while it loads", async () => {
  const { page, context } = await signIn(ann);
  await button(page, "Create key").waitFor();
  await page.addInitScript(
    "window.moved = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.moved += entry.value }).observe({ type: 'layout-shift', buffered: true })",
  );
  await page.reload();
  await button(page, "Create key").waitFor();
  await page.getByRole("region", { name: "Activity" }).getByText("Signed in").first().waitFor();
  expect(await page.evaluate("window.moved")).toBeLessThan(0.01);
  // The control detects content that moves down.
  await page.evaluate("document.body.prepend(Object.assign(document.createElement('p'), { textContent: 'late' }))");
  await expect.poll(() => page.evaluate("window.moved")).toBeGreaterThan(0.01);
  await context.close();
});

test("the owner sees the requests of the last 30 days, those of today and the limits, also without scripts [DSH-12]", async () => {
  const { service, base } = fixture();
  const { client, services } = service.app;
  const usage = client.db().collection<{ _id: object; requests: number; rejected: number }>("request_counts");
  const account = (await services.accounts.list(1_000, 0, undefined)).find(({ email }) => email === ann.email);
  await services.usage.flush();
  await usage.deleteMany({});
  const { page, context, problems } = await signIn(ann);
  const shown = page.getByRole("region", { name: "Usage" });
  expect(await shown.textContent()).toContain("No requests in the last 30 days.");
  await expectAccessible(page, "no requests");

  await button(page, "Create key").click();
  const key = await shownKey(page);
  const statuses = [await statusOf(key), (await service.rest("/v1/nothing", { key })).status, await statusOf(key)];
  const narrow = await service.another({ BASE_URL: base, RATE_LIMIT: "1", RATE_BURST: "2" });
  try {
    while (!statuses.includes(429)) statuses.push(await statusOf(key, narrow));
  } finally {
    await narrow.stop();
  }
  const dayMs = 86_400_000;
  const today = new Date(Math.floor(Date.now() / dayMs) * dayMs);
  const day = (ago: number) => ({ account_id: account?._id, day: new Date(today.getTime() - ago * dayMs) });
  await usage.insertMany([
    { _id: day(29), requests: 1_200, rejected: 200 },
    { _id: day(30), requests: 5, rejected: 0 },
  ]);
  const requests = statuses.length;
  await expect
    .poll(async () => (await services.usage.flush(), usage.findOne({ _id: day(0) })))
    .toMatchObject({ requests, rejected: 1 });

  await page.reload();
  const text = (await shown.innerText()).replace(/\s+/g, " ");
  expect(text).toContain(`Today ${requests} requests 1 rejected with 429`);
  expect(text).toContain(`Last 30 days ${(1_200 + requests).toLocaleString("en")} requests 201 rejected with 429`);
  expect(text).toContain("Limits 100,000 a second 100,000 at once");
  const heights = await shown.locator("rect.served").evaluateAll((all) => all.map((one) => one.getAttribute("height")));
  expect([heights.length, heights[0], heights[1]]).toEqual([30, "100.00", "0.00"]);
  expect(Number(heights[29])).toBeGreaterThan(0);
  expect(await shown.locator("rect.rejected").count()).toBe(2);
  await shown.getByText("Requests of each day").click();
  const rows = await shown.getByRole("row").allInnerTexts();
  expect(rows.map((row) => row.split(/\s+/).slice(-2))).toEqual([
    ["with", "429"],
    [String(requests), "1"],
    ["1,200", "200"],
  ]);
  await shown.getByText(`Last ${requests} requests`).click();
  const newest = await shown.locator(".requests tbody tr").first().innerText();
  expect(newest.replace(/\s+/g, " ")).toMatch(/^\d+ \w+, [\d:]{8} GET \/v1\/contacts 429 \d+ ms [0-9a-f-]{36}$/);
  expect(await shown.locator(".requests tbody").innerText()).toMatch(/GET \(unknown path\)\s+404/);
  for (const how of looks) {
    await look(page, how);
    await expectAccessible(page, `usage, ${how.name}`);
    await picture(page, `15-usage-${how.name}`);
  }
  await page.setViewportSize({ width: 360, height: 900 });
  expect(await page.evaluate(headsApart)).toEqual([true, true, true]);
  expect(problems).toEqual([]);
  const still = await openWindow(browser(), { scripts: false, cookies: await context.cookies() });
  await still.page.goto(`${base}/`);
  expect(await still.page.getByRole("region", { name: "Usage" }).textContent()).toContain("1,200");
  for (const one of [context, still.context]) await one.close();
  await revokeKeyOf(ann);
});

test("tests a new key from the page, and shows when it works and when it no longer does [DSH-12]", async () => {
  const { page, context, problems } = await signIn(ann);
  await button(page, "Create key").click();
  const key = await shownKey(page);
  const sent: string[] = [];
  page.on("request", (request) => {
    if (JSON.stringify(request.headers()).includes(key) || request.url().includes(key)) sent.push(request.url());
  });
  await button(page, "Test it").click();
  await page.getByText("The key works").waitFor();
  await expectAccessible(page, "key works");
  await picture(page, "16-key-works");
  await revokeKeyOf(ann);
  await button(page, "Test it").click();
  await page.getByRole("alert").getByText("The API key is not valid").waitFor();
  expect(await page.getByText("The key works").count()).toBe(0);
  await expectAccessible(page, "key does not work");
  // The secret is still there to be copied, and went only to the service.
  expect(await shownKey(page)).toBe(key);
  expect(new Set(sent)).toEqual(new Set([`${fixture().base}/v1/contacts?query=ann`]));
  expect(problems).toEqual([]);
  await context.close();
});

test("the page of a session is read on a phone and in the dark, and leads to its contact [MCP-52]", async () => {
  const { service, base } = fixture();
  const owner = (await service.app.services.accounts.list(1_000, 0, undefined)).find(
    ({ email }) => email === ann.email,
  );
  const put = ingestInto(service, owner?._id.toHexString() ?? "");
  const contact = await put.contact({ full_name: "Ida Vale", email: "ida@example.com", memory: "Rows at dawn." });
  const session = await put.session({
    contact_id: contact,
    title: "Harbour plan",
    session_date: "2026-03-02T09:30:00Z",
  });
  await put.transcript({ session_id: session, transcript: `Ida: ${"The quay is ready. ".repeat(40)}` });
  for (const how of [{}, { width: 360, dark: true }]) {
    const { page, context, problems } = await signIn(ann, how);
    await page.goto(`${base}/sessions/${session}`);
    await expectAccessible(page, "session");
    await picture(page, `record-session-${"width" in how ? "phone" : "desktop"}`);
    await page.getByRole("link", { name: "Ida Vale" }).click();
    await page.getByRole("heading", { name: "Ida Vale", level: 1 }).waitFor();
    await expectAccessible(page, "contact");
    expect(problems).toEqual([]);
    await context.close();
  }
});
