// The demo's user in a browser, who signs in on the page that a client opens, closes it instead, or signs out on the
// dashboard.
import { createBrowser } from "../../test/fixtures/sign-in/browser.ts";
import type { Program } from "../../test/fixtures/service/program.ts";
import type { UserAgent } from "./client.ts";

/** A page that a client opened. */
export interface OpenedPage {
  /** Where the browser ended up: the provider's origin, or that of the callback. */
  readonly origin: string;
  /** Whether the address has a PKCE challenge with SHA-256. */
  readonly hasPkce: boolean;
  /** Whether the user has to type the password. */
  readonly hasPasswordForm: boolean;
}

/** A service with the demo's records, and one of its users. */
export interface Place {
  readonly base: string;
  readonly issuer: string;
  readonly email: string;
  readonly password: string;
}

/** The demo's first account on a running instance. */
export function placeOf({ base_url, issuer, accounts }: ReturnType<Program["demo"]>): Place {
  const [account] = accounts;
  if (account === undefined) throw new Error("the demo has no account");
  return { base: base_url, issuer, email: account.email, password: account.password };
}

/** One user in one browser. */
export interface BrowserUser {
  /** A user agent that adds each page to the list, signs in and consents. */
  signsIn(pages: OpenedPage[]): UserAgent;
  /** A user agent that adds each page to the list and closes it. */
  declines(pages: OpenedPage[]): UserAgent;
  /** Signs out on the dashboard, through the provider's own page. */
  signOut(): Promise<void>;
}

export function createBrowserUser({ base, issuer, email, password }: Place): BrowserUser {
  const callbacks: string[] = [];
  const browser = createBrowser(callbacks);
  const open = async (address: URL, pages: OpenedPage[]): ReturnType<typeof browser.open> => {
    callbacks.push(address.searchParams.get("redirect_uri") ?? "");
    const page = await browser.open(address);
    pages.push({
      origin: page.url.origin,
      hasPkce: address.searchParams.get("code_challenge_method") === "S256",
      hasPasswordForm: page.text.includes('name="password"'),
    });
    return page;
  };
  return {
    signsIn: (pages) => async (address) => {
      let page = await open(address, pages);
      if (page.text.includes('name="password"'))
        page = await browser.submit(page, { login: email, password }, "Sign in");
      if (page.text.includes("Allow access?")) page = await browser.submit(page, {}, "Allow");
      return page.url;
    },
    declines: (pages) => async (address) => {
      const { url } = await open(address, pages);
      // A page that redirects back by itself has authorized the client, which gets its code.
      if (url.origin !== issuer) return url;
      const callback = new URL(address.searchParams.get("redirect_uri") ?? "");
      callback.search = new URLSearchParams({
        error: "access_denied",
        state: address.searchParams.get("state") ?? "",
        iss: issuer,
      }).toString();
      return callback;
    },
    async signOut() {
      const home = await browser.open(`${base}/sign-in`);
      if (home.url.origin !== new URL(base).origin) await browser.submit(home, { login: email, password }, "Sign in");
      const { status, headers } = await fetch(`${base}/sign-out`, {
        method: "POST",
        redirect: "manual",
        headers: { Cookie: browser.cookiesFor(base), Origin: base },
      });
      if (status !== 303) throw new Error(`the dashboard did not sign the user out: ${status}`);
      const left = await browser.submit(await browser.open(headers.get("location") ?? ""));
      if (left.url.href !== `${base}/`) throw new Error(`the sign-out ended at ${left.url.href}`);
    },
  };
}
