// A user of the dashboard in a real Chromium: signs in, presses buttons, and reads the key that the page shows.
import type { Browser, Page } from "playwright-core";
import type { User } from "../../src/embedded/provider/provider.ts";
import type { SignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Watched, WindowOptions } from "./pages.ts";
import { openWindow, useChromium } from "./pages.ts";

/** What the tests of a file have: a service with its provider, a browser, and windows in which a user is signed in. */
export interface Dashboard {
  fixture(): SignInFixture;
  browser(): Browser;
  signIn(user: User, options?: WindowOptions): Promise<Watched>;
}

/** Starts the service and the browser before the tests of the file and stops them after. */
export function useDashboard(): Dashboard {
  const fixture = useSignInFixture();
  const browser = useChromium();
  async function signIn(user: User, options: WindowOptions = {}): Promise<Watched> {
    const watched = await openWindow(browser(), options);
    const { page } = watched;
    await page.goto(`${fixture().base}/`);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("textbox", { name: /email/i }).fill(user.email);
    await page.locator("input[type=password]").fill(user.password);
    await button(page, "Sign in").click();
    await page.waitForURL(`${fixture().base}/`);
    await page.getByText(user.email).first().waitFor();
    return watched;
  }
  return { fixture, browser, signIn };
}

/** The form of a key. */
export const secretForm = /rec_[0-9A-Za-z]{49}/;

/** The buttons of this name. */
export const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

/** The key that the page shows right now. */
export async function shownKey(page: Page): Promise<string> {
  await page.getByText("It is not shown again").waitFor();
  return secretForm.exec((await page.textContent("main")) ?? "")?.[0] ?? "";
}
