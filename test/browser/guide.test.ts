// The guide in a real Chromium: search, tabs and copy buttons work, and the pages are accessible at every width.
import { expect, test } from "vitest";
import { useService } from "../support/client.ts";
import { expectAccessible, look, openWindow, picture, useChromium } from "./pages.ts";

const browser = useChromium();
const service = useService();

const looks = [1280, 390].flatMap((width) =>
  [false, true].map((dark) => ({ name: `${width}-${dark ? "dark" : "light"}`, width, dark })),
);

test("at 1280 and 390 pixels, light and dark, pages are accessible, fit the window, and request nothing from another host", async () => {
  const { page, context, problems, origins } = await openWindow(browser());
  for (const name of ["", "/quickstart", "/concepts", "/errors", "/settings"]) {
    await page.goto(`${service().base}/guide${name}`);
    for (const one of looks) {
      await look(page, one);
      await expectAccessible(page, `guide${name} at ${one.name}`);
      // Taking a picture of a whole page costs as much as checking it.
      if (one.dark === (one.width === 390)) await picture(page, `guide${name.replace("/", "-")}-${one.name}`);
    }
  }
  expect([problems, [...origins]]).toEqual([[], [new URL(service().base).origin]]);
  await context.close();
}, 120_000);

test("the search finds a section by the beginnings of words and leads to it, or says that nothing matches", async () => {
  const { page, context } = await openWindow(browser());
  await page.goto(`${service().base}/guide`);
  const search = page.getByRole("searchbox", { name: "Search the guide" });
  await search.fill("zzzz");
  await page.getByText("Nothing matches").waitFor();
  await search.fill("dashboard sess");
  await page.getByRole("link", { name: /^Authentication: Dashboard sessions/ }).waitFor();
  await expectAccessible(page, "results of a search");
  await page.getByRole("link", { name: /^Authentication: Dashboard sessions/ }).click();
  await page.waitForURL(`${service().base}/guide/authentication#dashboard-sessions`);
  await context.close();
});

test("the search opens with / and Ctrl-K, and finds pages by their usual names", async () => {
  const { page, context } = await openWindow(browser());
  await page.goto(`${service().base}/guide/concepts`);
  const search = page.getByRole("searchbox", { name: "Search the guide" });
  for (const [keys, words, title] of [
    ["/", "pagination", "Pagination"],
    ["Control+k", "webhook", "Webhooks and events"],
    ["Control+k", "sdk", "TypeScript client: SDKs for other languages"],
    ["Control+k", "cron", "Stay in step with a source: Every night with cron"],
    ["Control+k", "nightly", "Stay in step with a source: Every night with cron"],
    ["Control+k", "google contacts", "Import and export: Files"],
    ["Control+k", "record page", "Import and export: Files"],
    ["Control+k", "iphone", "Import and export: Export"],
    ["Control+k", "load", "Observe: Load, latency and failures"],
    ["Control+k", "utilization", "Observe: Load, latency and failures"],
    ["Control+k", "request id", "Observe: Find the cause of a failed request by its id"],
    ["Control+k", "rotate password", "Deploy: Secrets and their rotation"],
    ["Control+k", "link session to contact", "Import meetings: Link a session to a contact, or set its date"],
    ["Control+k", "gdpr", "Command line: Erase an account"],
    ["Control+k", "assistant finds nothing", "Troubleshoot: An assistant or a search does not find what is there"],
  ] as const) {
    await page.keyboard.press(keys);
    expect(await search.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true);
    await page.keyboard.type(words);
    await page.locator("#found a").first().getByText(title, { exact: true }).waitFor();
  }
  // Within the field, a slash is a character.
  await search.fill("a");
  await page.keyboard.press("/");
  expect(await search.inputValue()).toBe("a/");
  await context.close();
});

test("on a phone, each row of a table is a block with labels that fits, and the page does not scroll sideways", async () => {
  const { page, context } = await openWindow(browser());
  await page.setViewportSize({ width: 320, height: 844 });
  for (const name of ["/errors", "/observability", "/limits", "/commands", "/troubleshooting", "/changelog"]) {
    await page.goto(`${service().base}/guide${name}`);
    const widths = await page.evaluate(
      "[document.documentElement.scrollWidth, ...[...document.querySelectorAll('.table')].map((one) => one.scrollWidth)]",
    );
    expect(Math.max(...(widths as number[])), name).toBeLessThanOrEqual(320);
  }
  await page.goto(`${service().base}/guide/errors`);
  const cells = page.locator("tr", { hasText: "DUPLICATE_EMAIL" }).last().locator("td");
  const [first, last] = await Promise.all([cells.nth(0).boundingBox(), cells.nth(4).boundingBox()]);
  expect([last?.x, (last?.y ?? 0) > (first?.y ?? 0)]).toEqual([first?.x, true]);
  expect(await cells.nth(4).getAttribute("data-label")).toBe("What to do");
  await context.close();
});

test("tabs show one way to call at a time, by mouse, by keyboard and by link", async () => {
  const { page, context } = await openWindow(browser());
  await page.goto(`${service().base}/guide/quickstart`);
  const python = page.getByRole("tab", { name: "Python" });
  expect(await page.getByText("import urllib.request").isVisible()).toBe(false);
  await python.click();
  expect(await page.getByText("import urllib.request").isVisible()).toBe(true);
  await python.press("ArrowRight");
  expect(await page.getByText("createGrpcTransport").first().isVisible()).toBe(true);
  expect(await page.getByText("import urllib.request").isVisible()).toBe(false);
  await page.goto("about:blank");
  await page.goto(`${service().base}/guide/quickstart#python`);
  await page.getByText("import urllib.request").waitFor();
  await context.close();
});

test("the copy button copies the commands without their prompts", async () => {
  const { page, context } = await openWindow(browser());
  await page.goto(`${service().base}/guide/quickstart`);
  await page.locator(".code", { hasText: "npm ci" }).first().getByRole("button", { name: "Copy" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npm ci && npm start");
  await context.close();
});

test("every page and every tab can be read without scripts", async () => {
  const { page, context } = await openWindow(browser(), { scripts: false });
  await page.goto(`${service().base}/guide/quickstart`);
  for (const heading of ["curl", "TypeScript", "Python", "gRPC"])
    expect(await page.getByRole("heading", { name: heading, level: 4 }).isVisible()).toBe(true);
  await page.getByRole("link", { name: "Next" }).click();
  await page.waitForURL(`${service().base}/guide/concepts`);
  await context.close();
});
