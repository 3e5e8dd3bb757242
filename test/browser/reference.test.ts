// The reference page in a real Chromium: it shows our document, calls our service with a pasted key, and turns to
// nobody else.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useService } from "../support/client.ts";
import { openWindow, picture, useChromium } from "./pages.ts";
import { openRecorded } from "./recorder.ts";

const browser = useChromium();
const service = useService();

const operation = "#tag/contacts/GET/v1/contacts";

async function showsOperation(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Search contacts by name, email or phone" }).first().waitFor();
}

/** Sends a trial request with a new key, and checks that the page stores the key nowhere. */
async function tryOut(page: Page, base: string): Promise<void> {
  const { key } = await service().account();
  await service().rest("/v1/contacts", { key, body: { full_name: "Ann Trial" } });
  await page.getByPlaceholder("Token").first().fill(key);
  await page
    .getByRole("button", { name: /Test Request.*get \/v1\/contacts\)/i })
    .first()
    .click();
  const completed = page.waitForResponse((response) => response.url().startsWith(`${base}/v1/contacts`));
  await page.getByRole("button", { name: "Send" }).first().click();
  const response = await completed;
  expect([response.status(), response.url()]).toEqual([200, `${base}/v1/contacts?query=ann`]);
  await page.getByText("200 OK").first().waitFor();
  await page.getByText("Ann Trial").first().waitFor();
  const kept = await page.evaluate(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href, document.title])",
  );
  expect(kept).not.toContain(key.slice(4));
  expect(await page.evaluate("indexedDB.databases()")).toEqual([]);
}

/** What the renderer's markup still violates: a list of tabs with another child, and cards of one name. */
const ofRenderer = ["aria-required-children", "label-content-name-mismatch", "landmark-unique"];

/** Checks the accessibility and the width of the page. */
async function expectAccessible(page: Page, state: string): Promise<void> {
  const violations = async () =>
    page.evaluate<string[]>("axe.run().then(({ violations }) => violations.map((v) => v.id))");
  // The renderer fades its colors, and our script corrects its markup a frame later.
  await expect
    .poll(async () => (await violations()).filter((id) => !ofRenderer.includes(id)), {
      timeout: 20_000,
      message: state,
    })
    .toEqual([]);
  expect(
    await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
    state,
  ).toBeLessThanOrEqual(0);
  await picture(page, `reference-${state}`, false);
}

// The renderer takes seconds of processor time to start, so each load of it serves several checks.
test("under the name of BASE_URL it shows the document, sends a pasted key with a trial request, stores the key nowhere, and contacts no other host [OAS-01, OAS-06]", async () => {
  const base = `http://localhost:${service().app.port}`;
  expect(base).toBe(service().app.baseUrl);
  const { page, problems, foreign, stop } = await openRecorded(browser());
  await page.goto(`${base}/docs`);
  await page.getByRole("heading", { name: "Retrying a write" }).first().waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(operation)}`);
  await showsOperation(page);
  await picture(page, "reference-localhost", false);
  await tryOut(page, base);
  await page.reload();
  await page.getByPlaceholder("Token").first().waitFor();
  expect(await page.getByPlaceholder("Token").first().inputValue()).toBe("");
  expect(problems).toEqual([]);
  expect(foreign(base)).toEqual([]);
  await stop();
});

test("under another name it does the same, from the address of an operation, and is accessible and fits the window, light, dark and narrow [OAS-01, OAS-06]", async () => {
  const base = `http://127.0.0.1:${service().app.port}`;
  const { page, problems, foreign, stop } = await openRecorded(browser());
  await page.goto(`${base}/docs${operation}`);
  await showsOperation(page);
  await picture(page, "reference-127.0.0.1", false);
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  await page.setViewportSize({ width: 1100, height: 900 });
  await expectAccessible(page, "light");
  await page.emulateMedia({ colorScheme: "dark" });
  // The renderer has seen it.
  await page.locator("body.dark-mode").waitFor();
  await expectAccessible(page, "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("body.light-mode").waitFor();
  await page.setViewportSize({ width: 320, height: 900 });
  await expectAccessible(page, "narrow");
  await page.setViewportSize({ width: 1280, height: 900 });
  await tryOut(page, base);
  expect(problems).toEqual([]);
  expect(foreign(base)).toEqual([]);
  await stop();
}, 120_000);

test("without scripts, or without the renderer's file, the page links to the description", async () => {
  const { page, context } = await openWindow(browser(), { scripts: false });
  await page.goto(`${service().app.baseUrl}/docs`);
  expect((await page.locator("noscript main").first().boundingBox())?.height).toBeGreaterThan(50);
  await context.close();
  const broken = await openWindow(browser());
  await broken.page.route("**/renderer.js", (route) => route.abort());
  await broken.page.goto(`${service().app.baseUrl}/docs`);
  await broken.page.getByRole("alert").waitFor();
  expect(await broken.page.getByRole("alert").textContent()).toContain("openapi.json");
  await broken.context.close();
});
