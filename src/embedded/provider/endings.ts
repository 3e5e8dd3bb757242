// Sign-out at the provider: ends all sessions and grants of a user together, so that no refresh token outlives them.
import { setTimeout as sleep } from "node:timers/promises";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { DASHBOARD_ID } from "./clients.ts";
import type { Middleware } from "./page.ts";
import type { Store } from "./store.ts";

/** Ends sessions and grants. */
export type Endings = ReturnType<typeof createSignOuts>;

type Session = InstanceType<Provider["Session"]>;

/** A client that receives logout tokens. The library's types omit the method. */
interface LogoutReceiver {
  backchannelLogout(subject: string, sid: string): Promise<unknown>;
}

/**
 * The minimum number of seconds between a sign-out and a sign-in. The sign-in then counts as later even if clocks
 * differ by up to a second.
 */
const SECONDS_APART = 3;

export function createSignOuts(provider: Provider, store: Store) {
  provider.on("end_session.success", (ctx) => {
    const session = ctx.oidc.session as (Session & { destroyed?: boolean }) | undefined;
    const subject = session?.accountId;
    if (session?.destroyed !== true || subject === undefined) return;
    // The library also ends the session like this when another user signs in, which is not a sign-out.
    if (session.state?.["postLogoutRedirectUri"]?.toString().startsWith(`${provider.issuer}/`) === true) return;
    // A sign-out at the dashboard ends all sessions; a sign-out elsewhere only ends the session in this browser.
    if (ctx.oidc.client?.clientId === DASHBOARD_ID) {
      sendLogoutTokens(subject, store.endUserSessions(subject));
    } else {
      store.endSession(
        session.uid,
        Object.values(session.authorizations ?? {}).flatMap(({ grantId }) => grantId ?? []),
      );
    }
  });

  /** Sends logout tokens for the sessions in other browsers; the library sends the one for this browser. */
  function sendLogoutTokens(subject: string, sids: readonly string[]): void {
    const send = async (): Promise<void> => {
      const dashboard = (await provider.Client.find(DASHBOARD_ID)) as LogoutReceiver | undefined;
      await Promise.all(sids.map((sid) => dashboard?.backchannelLogout(subject, sid)));
    };
    void send().catch(() => undefined);
  }

  return {
    /** Ends all sessions and grants of a user when the dashboard revokes its access token, as it does at a sign-out. */
    byRevocation: (async (ctx, next) => {
      await next();
      const { route, entities } = (ctx as unknown as Partial<KoaContextWithOIDC>).oidc ?? {};
      const token = route === "revocation" ? entities?.AccessToken : undefined;
      if (token?.clientId === DASHBOARD_ID && entities?.Client?.clientId === DASHBOARD_ID)
        store.endUserSessions(token.accountId);
    }) satisfies Middleware,
    /**
     * Resolves when a sign-in of this user is certainly later than the last sign-out. The times of sign-ins are whole
     * seconds, and other services compare them with their own clocks.
     */
    async later(subject: string): Promise<void> {
      const at = (store.signedOutAt(subject) + SECONDS_APART) * 1_000;
      while (Date.now() < at) await sleep(at - Date.now());
    },
  };
}
