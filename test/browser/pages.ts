// A real Chromium for tests, what it must never do on our pages, and pictures of what it shows.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { findChromium } from "../fixtures/chromium.ts";
import { isLong } from "../support/form.ts";

const pictures = join(import.meta.dirname, "../../test-results/browser");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A page, with what went wrong on it and where it sent requests. */
export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of scripts, and what the Content-Security-Policy stopped. */
  readonly problems: string[];
  /** The origins that received requests. */
  readonly origins: Set<string>;
}

export interface WindowOptions {
  readonly width?: number;
  readonly dark?: boolean;
  readonly scripts?: boolean;
  /** Through which every request to another machine goes. */
  readonly proxy?: string;
  /** The cookies of an earlier window. */
  readonly cookies?: Cookies;
}

export type Cookies = Awaited<ReturnType<BrowserContext["cookies"]>>;

/** Starts the browser before the tests of the file and ends it after them. */
export function useChromium(): () => Browser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: findChromium() ?? "", args: ["--no-sandbox"] });
    mkdirSync(pictures, { recursive: true });
  });
  afterAll(async () => browser.close());
  return () => browser;
}

/** A new window without history. */
export async function openWindow(
  browser: Browser,
  { width = 1100, dark = false, scripts = true, proxy, cookies = [] }: WindowOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
    javaScriptEnabled: scripts,
    ...(proxy !== undefined && { proxy: { server: proxy, bypass: "127.0.0.1,localhost" } }),
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addCookies(cookies);
  const page = await context.newPage();
  const problems: string[] = [];
  const origins = new Set<string>();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    // A missing key is a 404, which the browser logs as an error.
    if (message.type() === "error" && !/status of 40[0-9]|status of 429/.test(message.text()))
      problems.push(message.text());
  });
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  return { context, page, problems, origins };
}

/** Saves a picture of the page in the long form: of all of it, or of what the window shows. */
export async function picture(page: Page, name: string, fullPage = true): Promise<void> {
  if (!isLong) return;
  // A PNG takes the processor twice as long.
  await page.screenshot({ path: join(pictures, `${name}.jpg`), type: "jpeg", fullPage });
}

export interface Look {
  readonly name: string;
  readonly width: number;
  readonly dark: boolean;
}

/** Shows an open page as in a window of this width and with these colours: what differs is all in its style sheets. */
export async function look(page: Page, { width, dark }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  await page.setViewportSize({ width, height: 900 });
}

/** Checks the page against WCAG as far as axe can see, and against its own width. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  // Colours in the middle of a transition are not measured. A transition of what is not shown never ends.
  await page.evaluate(
    "Promise.all(document.getAnimations().filter(({ effect }) => effect.target.checkVisibility()).map(({ finished }) => finished.catch(() => undefined)))",
  );
  // A document keeps it.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  const violations = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))",
  );
  expect(violations, state).toEqual([]);
  expect(
    await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
    `${state}: wider than the window`,
  ).toBeLessThanOrEqual(0);
}
