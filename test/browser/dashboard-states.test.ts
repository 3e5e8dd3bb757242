// What the dashboard's pages say and how they look in each state: every account, width and color, and without scripts.
import { expect, test } from "vitest";
import { ann, ben, cleo } from "../fixtures/sign-in/users.ts";
import { button, shownKey, useDashboard } from "./dashboard-user.ts";
import { expectAccessible, look, openWindow, picture } from "./pages.ts";
import { share } from "../support/form.ts";

const { fixture, browser, signIn } = useDashboard();

test("every page says so while the interface is switched off", async () => {
  const set = (enabled: boolean) =>
    fixture().service.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", {
      enabled,
      reason: "moving",
    });
  await set(false);
  try {
    const { page, context } = await openWindow(browser());
    await page.goto(`${fixture().base}/`);
    await expect
      .poll(async () => (await page.reload()) && page.getByText("The operator has switched the API off.").count())
      .toBe(1);
    await expectAccessible(page, "interface off");
    await context.close();
  } finally {
    await set(true);
  }
});

test("the page of the status says whether the service works, to everyone [DSH-12]", async () => {
  const { page, context } = await openWindow(browser(), { width: 320, dark: true });
  await page.goto(`${fixture().base}/status`);
  expect(await page.getByRole("heading").innerText()).toBe("Everything works");
  await expectAccessible(page, "status");
  await context.close();
});

test("the usual assistants have their own instructions below the address, of which one is open [DSH-12]", async () => {
  const { page, context } = await signIn(ann);
  const clients = page.locator(".clients details");
  expect(await clients.locator("summary").allInnerTexts()).toEqual([
    "Claude",
    "Claude Code",
    "ChatGPT",
    "Cursor",
    "VS Code",
  ]);
  await page.getByText("Claude Code", { exact: true }).click();
  const address = await page.locator("#mcp-url").innerText();
  expect(await page.locator("#claude-code").innerText()).toBe(`claude mcp add --transport http records ${address}`);
  await page.getByText("Cursor", { exact: true }).click();
  expect(await page.locator("#claude-code").isVisible()).toBe(false);
  const link = new URL((await page.getByRole("link", { name: "Add to Cursor" }).getAttribute("href")) ?? "");
  expect(JSON.parse(Buffer.from(link.searchParams.get("config") ?? "", "base64").toString())).toEqual({ url: address });
  await expectAccessible(page, "clients");
  await picture(page, "17-clients");
  await context.close();
});

test("an unknown address shows a page with a link to the start page", async () => {
  const { page, context } = await openWindow(browser());
  expect((await page.goto(`${fixture().base}/no/such/page`))?.status()).toBe(404);
  await expectAccessible(page, "not found");
  await page.getByRole("link", { name: "Go to the start page" }).click();
  await page.waitForURL(`${fixture().base}/`);
  await context.close();
});

test("an account that is not enrolled sees its state and the next step, and no button to create a key [DSH-01, KEY-15]", async () => {
  const { page, context, problems } = await signIn(ben);
  await page
    .getByText(/not enrolled/i)
    .first()
    .waitFor();
  await expect.poll(() => button(page, "Create key").count()).toBe(0);
  await expectAccessible(page, "not enrolled");
  await picture(page, "9-not-enrolled");
  expect(problems).toEqual([]);
  await context.close();
});

test("a user without an account sees that and the next step, and can sign out [DSH-01]", async () => {
  const { page, context, problems } = await signIn(cleo);
  for (const text of [cleo.subject, fixture().provider.issuer]) expect(await page.textContent("main")).toContain(text);
  await expectAccessible(page, "no account");
  await picture(page, "10-no-account");
  await page.getByRole("link", { name: "Check again" }).click();
  await page.getByText("We just checked: no account is linked yet.").waitFor();
  await button(page, "Sign out").click();
  await page.getByRole("link", { name: "Sign in" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

test.each([true, false])(
  "the owner of a suspended account sees that it is suspended and can sign out, with scripts: %s [DSH-11]",
  async (scripts) => {
    const { page, context } = await signIn(ben, { scripts });
    const accounts = await fixture().service.app.services.accounts.list(10, 0, undefined);
    const accountId = accounts.find(({ email }) => email === ben.email)?._id.toHexString() ?? "";
    const set = (rpc: string) =>
      fixture().service.internalCall(`records.admin.v1.AccountService/${rpc}`, { accountId, reason: "test" });
    await set("SuspendAccount");
    try {
      expect((await page.reload())?.status()).toBe(403);
      expect(await page.textContent("main")).toContain("The account is suspended.");
      if (scripts) {
        await expectAccessible(page, "suspended");
        await picture(page, "14-suspended");
      }
      await button(page, "Sign out").click();
      // The provider hands over by a form, which a script would send.
      if (!scripts && page.url().startsWith(fixture().provider.issuer)) await page.getByRole("button").click();
      await page.getByRole("link", { name: "Sign in" }).waitFor();
    } finally {
      await set("ResumeAccount");
      await context.close();
    }
  },
);

test("a failed sign-in shows the reason, the request's id and a way to start again", async () => {
  const { page, context } = await openWindow(browser());
  const response = await page.goto(`${fixture().base}/sign-in/callback?code=x&state=y`);
  expect(response?.status()).toBe(400);
  expect(await page.textContent("main")).toContain(response?.headers()["x-request-id"] ?? "-");
  await expectAccessible(page, "problem");
  await picture(page, "11-problem");
  await page.getByRole("link", { name: /again/i }).click();
  await page.waitForURL(/\/interaction\//);
  await context.close();
});

const looks = [
  { name: "dark", width: 1100, dark: true },
  { name: "a phone", width: 375, dark: false },
  { name: "a narrow phone in the dark", width: 320, dark: true },
];

test("every state is accessible and fits the window: dark, on a phone, and on a narrow phone in the dark [DSH-01]", async () => {
  const { page, context } = await signIn(ann);
  const expectAccessibleIn = async (state: string, pictured?: string): Promise<void> => {
    for (const one of share(looks, 1, 2)) {
      await look(page, one);
      await expectAccessible(page, `${state}, ${one.name}`);
      if (pictured !== undefined) await picture(page, `${pictured}-${one.name.replaceAll(" ", "-")}`);
    }
  };
  await button(page, "Create key").waitFor();
  await expectAccessibleIn("no key");
  await button(page, "Create key").click();
  await shownKey(page);
  await expectAccessibleIn("created", "12-created");
  await button(page, "Done").click();
  await button(page, "Revoke").click();
  await expectAccessibleIn("asked", "13-asked");
  await button(page, "Revoke key").click();
  await button(page, "Create key").waitFor();
  await context.close();
});

test("without scripts a user can still sign in and out, and sees what needs scripts [OPS-08]", async () => {
  const { page, context } = await signIn(ann, { scripts: false });
  // By its position on the page: text locators ignore what is in noscript.
  expect((await page.locator("noscript .notice").first().boundingBox())?.height).toBeGreaterThan(10);
  await button(page, "Sign out").click();
  // The provider hands over by a form, which a script would send.
  if (page.url().startsWith(fixture().provider.issuer)) await page.getByRole("button").click();
  await page.getByRole("link", { name: "Sign in" }).waitFor();
  expect(page.url()).toBe(`${fixture().base}/`);
  await context.close();
});
