// Sign-out at the provider: all sessions and grants of a user end together, so that no refresh token outlives them.
import { setTimeout as sleep } from "node:timers/promises";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { DASHBOARD_ID } from "./clients.ts";
import type { Middleware } from "./page.ts";
import type { Store } from "./store.ts";

/** Ends sessions and grants. */
export interface Endings {
  /** Ends everything of a user when the dashboard revokes its access token, as it does at a sign-out. */
  readonly byRevocation: Middleware;
  /**
   * Resolves when a sign-in of this user is certainly later than their last sign-out. Times of sign-ins are whole
   * seconds, and other services compare them with their own clocks.
   */
  later(subject: string): Promise<void>;
}

type Session = InstanceType<Provider["Session"]>;

/** A client that gets logout tokens; the library's types leave it out. */
interface LogoutReceiver {
  backchannelLogout(subject: string, sid: string): Promise<unknown>;
}

/**
 * With this many seconds between them, a sign-in counts as later than a sign-out where clocks differ by up to a second.
 */
const SECONDS_APART = 3;

export function endings(provider: Provider, store: Store): Endings {
  provider.on("end_session.success", (ctx) => {
    const session = ctx.oidc.session as (Session & { destroyed?: boolean }) | undefined;
    const subject = session?.accountId;
    if (session?.destroyed !== true || subject === undefined) return;
    // The library ends the session in the same way when another user signs in: that is not a sign-out.
    if (session.state?.["postLogoutRedirectUri"]?.toString().startsWith(`${provider.issuer}/`) === true) return;
    // A sign-out at the dashboard ends everything; elsewhere it ends only this browser's session.
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
    async byRevocation(ctx, next) {
      await next();
      const { route, entities } = (ctx as unknown as Partial<KoaContextWithOIDC>).oidc ?? {};
      const token = route === "revocation" ? entities?.AccessToken : undefined;
      if (token?.clientId === DASHBOARD_ID && entities?.Client?.clientId === DASHBOARD_ID)
        store.endUserSessions(token.accountId);
    },
    async later(subject) {
      const at = (store.signedOutAt(subject) + SECONDS_APART) * 1_000;
      while (Date.now() < at) await sleep(at - Date.now());
    },
  };
}
