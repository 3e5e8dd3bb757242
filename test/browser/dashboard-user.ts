// A user of the dashboard in a real Chromium: signs in, presses buttons, and reads the key that the page shows.
import type { Browser, Page } from "playwright-core";
import { createApiKeyStore } from "../../src/api-keys/store.ts";
import type { User } from "../../src/embedded/provider/provider.ts";
import type { SignInFixture } from "../fixtures/sign-in/fixture.ts";
import { useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import type { Cookies, Watched, WindowOptions } from "./pages.ts";
import { openWindow, useChromium } from "./pages.ts";

/** What the tests of a file have: a service with its provider, a browser, and windows in which a user is signed in. */
export interface Dashboard {
  fixture(): SignInFixture;
  browser(): Browser;
  /**
   * Opens a window in which the user is signed in, by the session of an earlier window if it has not ended. Without
   * scripts, always with email and password.
   */
  signIn(user: User, options?: WindowOptions): Promise<Watched>;
  /** Revokes the user's key past the pages, for the tests that follow. */
  revokeKeyOf(user: User): Promise<void>;
}

/** Starts the service and the browser before the tests of the file and stops them after. */
export function useDashboard(): Dashboard {
  const fixture = useSignInFixture();
  const browser = useChromium();
  const sessions = new Map<User, Cookies>();
  async function signIn(user: User, options: WindowOptions = {}): Promise<Watched> {
    const cookies = options.scripts === false ? [] : (sessions.get(user) ?? []);
    const watched = await openWindow(browser(), { ...options, cookies });
    const { page, context } = watched;
    await page.goto(`${fixture().base}/`);
    if ((await page.getByText(user.email).count()) === 0) {
      // The provider may still know the user of an ended session.
      await context.clearCookies();
      await page.getByRole("link", { name: "Sign in" }).click();
      await page.getByRole("textbox", { name: /email/i }).fill(user.email);
      await page.locator("input[type=password]").fill(user.password);
      await button(page, "Sign in").click();
      await page.waitForURL(`${fixture().base}/`);
    }
    await page.getByText(user.email).first().waitFor();
    sessions.set(user, await context.cookies());
    return watched;
  }
  async function revokeKeyOf({ email }: User): Promise<void> {
    const { client, services } = fixture().service.app;
    const account = (await services.accounts.list(10, 0, undefined)).find((one) => one.email === email);
    if (account === undefined) throw new Error(`${email} has no account`);
    await createApiKeyStore(client.db()).revoke(account._id);
  }
  return { fixture, browser, signIn, revokeKeyOf };
}

export const secretForm = /rec_[0-9A-Za-z]{49}/;

export const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

export async function shownKey(page: Page): Promise<string> {
  await page.getByText("It is not shown again").waitFor();
  return secretForm.exec((await page.textContent("main")) ?? "")?.[0] ?? "";
}
