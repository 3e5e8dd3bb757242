// `npm run pictures`: takes screenshots of the dashboard and the API reference of a running demo, for the README.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { findChromium } from "../test/fixtures/chromium.ts";
import type { Program } from "../test/fixtures/service/program.ts";
import { startProgram } from "../test/fixtures/service/program.ts";

const folder = "docs/pictures";
const size = { width: 1180, height: 760 };

async function photograph(browser: Browser, program: Program, colorScheme: "light" | "dark"): Promise<void> {
  const context = await browser.newContext({ viewport: size, colorScheme });
  const page = await context.newPage();
  await showDashboard(page, program);
  await page.screenshot({ path: join(folder, `dashboard-${colorScheme}.png`) });
  const { base_url } = program.demo();
  await page.goto(`${base_url}/docs#tag/contacts/GET/v1/contacts`);
  await page.getByRole("heading", { name: "Search contacts by name, email or phone" }).first().waitFor();
  await page.evaluate("document.fonts.ready");
  await page.screenshot({ path: join(folder, `reference-${colorScheme}.png`) });
  await context.close();
}

/** Signs in as the first user of the demo, who has a key and some activity. */
async function showDashboard(page: Page, program: Program): Promise<void> {
  const { base_url, accounts } = program.demo();
  const [user] = accounts;
  await page.goto(base_url);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("textbox", { name: /email/i }).fill(user?.email ?? "");
  await page.locator("input[type=password]").fill(user?.password ?? "");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${base_url}/`);
  await page.getByRole("button", { name: "Rotate", exact: true }).waitFor();
  await page.locator(".entry").first().waitFor();
}

const dataDir = mkdtempSync(join(tmpdir(), "records-pictures-"));
// The pictures show the address at which a reader's own demo runs.
const program = await startProgram(dataDir, { PORT: "8080", INTERNAL_PORT: "8081" });
try {
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: findChromium() ?? "", args: ["--no-sandbox"] });
  for (const scheme of ["light", "dark"] as const) await photograph(browser, program, scheme);
  await browser.close();
} finally {
  await program.end();
  rmSync(dataDir, { recursive: true, force: true });
}
