// Takes screenshots of every state of the pages from the running product: on a desktop and a phone, light and dark.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromium } from "playwright-core";
import type { Program } from "../test/fixtures/service/program.ts";
import { startProgram } from "../test/fixtures/service/program.ts";

const folder = join(import.meta.dirname, "../test-results/screenshots");
const looks = [
  { name: "desktop-light", width: 1280, height: 800, dark: false },
  { name: "desktop-dark", width: 1280, height: 800, dark: true },
  { name: "phone-light", width: 390, height: 844, dark: false },
  { name: "phone-dark", width: 390, height: 844, dark: true },
] as const;

type DemoFile = ReturnType<Program["demo"]>;

/** Takes a screenshot of a page in the state of this name. */
type Shoot = (page: Page, state: string) => Promise<void>;

const dataDir = mkdtempSync(join(tmpdir(), "records-screenshots-"));
const program = await startProgram(dataDir);
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  mkdirSync(folder, { recursive: true });
  await readSomething(program.demo());
  for (const look of looks) await shootAll(browser, program.demo(), look);
  process.stdout.write(`The pictures are in ${folder}.\n`);
} finally {
  await browser.close();
  await program.end("SIGTERM");
  rmSync(dataDir, { recursive: true, force: true });
}

/** Uses the demo's key, so that the dashboard shows a last use. */
async function readSomething({ base_url: base, accounts: [demo] }: DemoFile): Promise<void> {
  await fetch(`${base}/v1/contacts?query=ann`, { headers: { Authorization: `Bearer ${demo?.api_key ?? ""}` } });
}

async function shootAll(from: Browser, demo: DemoFile, { name, width, height, dark }: (typeof looks)[number]) {
  const context = await from.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  const shoot: Shoot = async (shown, state) => {
    await shown.waitForLoadState("networkidle");
    await shown.evaluate(
      "Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => undefined)))",
    );
    await shown.screenshot({ path: join(folder, `${state}-${name}.png`), fullPage: !state.startsWith("reference") });
  };
  await shootOutside(page, demo, shoot);
  await shootKey(page, demo, shoot);
  await signIn(page, demo, "demo");
  await shoot(page, "activity");
  await page.locator("summary").first().click();
  await shoot(page, "activity-open");
  await setInterface(demo, false);
  await page.reload();
  await shoot(page, "interface-off");
  await setInterface(demo, true);
  await signOut(page);
  await signIn(page, demo, "waiting");
  await shoot(page, "not-enrolled");
  await context.close();
}

async function shootOutside(page: Page, { base_url: base }: DemoFile, shoot: Shoot): Promise<void> {
  await page.goto(base);
  await shoot(page, "signed-out");
  await page.goto(`${base}/nothing-here`);
  await shoot(page, "not-found");
  await page.goto(`${base}/sign-in/callback?code=x&state=y`);
  await shoot(page, "problem");
  await page.goto(`${base}/docs`);
  await page.getByRole("heading", { name: "Search contacts by name, email or phone" }).first().waitFor();
  await shoot(page, "reference");
  await page.goto(`${base}/guide`);
  await shoot(page, "guide");
  await page.goto(`${base}/guide/quickstart`);
  await shoot(page, "guide-page");
  await page.goto(`${base}/guide/errors`);
  await shoot(page, "guide-table");
  await page.goto(`${base}/sign-in`);
  await shoot(page, "development-sign-in");
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByLabel("Password").fill("wrong");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.locator("#wrong").waitFor();
  await shoot(page, "development-sign-in-failed");
}

async function shootKey(page: Page, demo: DemoFile, shoot: Shoot): Promise<void> {
  const press = (button: string): Promise<void> => page.getByRole("button", { name: button, exact: true }).click();
  await signIn(page, demo, "enrolled");
  await shoot(page, "no-key");
  await press("Create key");
  await page.locator("#secret").waitFor();
  await shoot(page, "created");
  await press("Done");
  await shoot(page, "has-key");
  await press("Rotate");
  await shoot(page, "rotate");
  await page.keyboard.press("Escape");
  await press("Revoke");
  await shoot(page, "revoke");
  await press("Revoke key");
  await page.getByText("was revoked").first().waitFor();
  await shoot(page, "revoked");
  await signOut(page);
}

async function signIn(page: Page, { base_url: base, accounts }: DemoFile, who: string): Promise<void> {
  const { email = "", password = "" } = accounts.find((account) => account.email === `${who}@example.com`) ?? {};
  await page.goto(`${base}/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${base}/`);
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("link", { name: "Sign in" }).waitFor();
}

async function setInterface(
  { internal_url: internal, service_token: token }: DemoFile,
  enabled: boolean,
): Promise<void> {
  const response = await fetch(`${internal}/records.admin.v1.InterfaceService/SetPublicInterface`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ enabled, reason: "a picture of it" }),
  });
  if (!response.ok) throw new Error(`the interface cannot be switched: ${await response.text()}`);
  // The change reaches every instance within a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}
