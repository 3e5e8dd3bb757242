// Sign-out at the provider: a person's sessions and grants end all together, so that no refresh token outlives them.
import { setTimeout as sleep } from "node:timers/promises";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { DASHBOARD_ID } from "./clients.ts";
import type { Middleware } from "./page.ts";
import type { Store } from "./store.ts";

/** Ends what people have begun. */
export interface Endings {
  /** The dashboard revokes its access token when a person signs out there: everything of the person ends with it. */
  readonly byRevocation: Middleware;
  /**
   * Resolves when who signs in now has certainly signed in later than they signed out: times of sign-ins are whole seconds,
   * and others compare them with clocks of their own.
   */
  later(subject: string): Promise<void>;
}

type Session = InstanceType<Provider["Session"]>;

/** What the library's types leave out: a client that is sent logout tokens. */
interface Told {
  backchannelLogout(subject: string, sid: string): Promise<unknown>;
}

/** Seconds between a sign-out and the next sign-in that count as later wherever clocks agree to a second. */
const SECONDS_APART = 3;

export function endings(provider: Provider, store: Store): Endings {
  provider.on("end_session.success", (ctx) => {
    const session = ctx.oidc.session as (Session & { destroyed?: boolean }) | undefined;
    const subject = session?.accountId;
    if (session?.destroyed !== true || subject === undefined) return;
    // Another person signs in with this browser: the library ends the session by the same way, and nobody signed out.
    if (session.state?.["postLogoutRedirectUri"]?.toString().startsWith(`${provider.issuer}/`) === true) return;
    // At the dashboard people sign out of everything, elsewhere of this browser's session alone.
    if (ctx.oidc.client?.clientId === DASHBOARD_ID) {
      tellDashboard(subject, store.endPerson(subject));
    } else {
      store.endSession(session.uid, Object.values(session.authorizations ?? {}).flatMap(({ grantId }) => grantId ?? []));
    }
  });

  /** Of the sessions that ended in other browsers; the library tells of this one. */
  function tellDashboard(subject: string, sids: readonly string[]): void {
    const tell = async (): Promise<void> => {
      const dashboard = (await provider.Client.find(DASHBOARD_ID)) as Told | undefined;
      await Promise.all(sids.map((sid) => dashboard?.backchannelLogout(subject, sid)));
    };
    void tell().catch(() => undefined);
  }

  return {
    async byRevocation(ctx, next) {
      await next();
      const { route, entities } = (ctx as unknown as Partial<KoaContextWithOIDC>).oidc ?? {};
      const token = route === "revocation" ? entities?.AccessToken : undefined;
      if (token?.clientId === DASHBOARD_ID && entities?.Client?.clientId === DASHBOARD_ID) store.endPerson(token.accountId);
    },
    async later(subject) {
      const at = (store.signedOutAt(subject) + SECONDS_APART) * 1_000;
      while (Date.now() < at) await sleep(at - Date.now());
    },
  };
}
