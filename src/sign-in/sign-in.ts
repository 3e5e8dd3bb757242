// Signs users in to the dashboard and out of it: cookies, sessions and audit log entries.
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientSession, UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { AuditStore } from "../audit/store.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { SignedInUser } from "../guards/call.ts";
import { withTimeout } from "../call/time-limit.ts";
import type { Actor } from "../call/scope.ts";
import type { Cookie } from "./cookies.ts";
import { createCookie } from "./cookies.ts";
import type { Logout } from "./logout-token.ts";
import type { IdentityProvider } from "./provider.ts";
import type { SessionSecrets } from "./sealing.ts";
import type { PendingSignIn } from "./state-cookie.ts";
import { createStateCookie } from "./state-cookie.ts";
import type { EndedSessions, SignInEnd } from "./ended-store.ts";
import type { DashboardSessions, AuthenticatedUser, TokenResponse, SessionDocument } from "./session-store.ts";
import { signOutOf } from "./session-store.ts";

/** How long a sign-out waits for the provider. Our own part follows, and must finish by the deadline. */
const providerMs = 2_500;

/** The source of a request, for the audit log, and its time limit. */
export interface AuditContext extends Pick<Actor, "requestId" | "address"> {
  /** When the caller stops waiting. Nothing is changed for it afterwards. */
  readonly deadline: Deadline;
}

/** The address to redirect the browser to, and the cookies to set. */
export interface Redirect {
  readonly location: string;
  /** The values of the `Set-Cookie` headers. */
  readonly cookies: readonly string[];
}

/** A signed-in user, with the details that the dashboard shows. */
export interface DashboardUser extends SignedInUser {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly fullName: string | undefined;
  readonly accountEmail: string | undefined;
}

/** Signing in and out. The `cookies` parameters are `Cookie` headers. */
export interface SignIn {
  /** Returns the signed-in user; undefined if there is none. */
  find(cookies: string | undefined, deadline: Deadline): Promise<DashboardUser | undefined>;
  /**
   * Sends the user to the identity provider. Afterwards the user returns to the path `to`, or to the start page. Fails
   * with UNAVAILABLE if the provider cannot be reached.
   */
  begin(cookies: string | undefined, to?: string): Promise<Redirect>;
  /** Completes a sign-in when the user comes back from the provider. Fails with SIGN_IN_FAILED or UNAVAILABLE. */
  complete(search: string, cookies: string | undefined, from: AuditContext): Promise<Redirect>;
  /**
   * Ends all sessions and access tokens of the user here, then the session at the provider. An expired session that is
   * still stored is enough. Ends nothing if the session is no longer stored, or if `shown`, the `id` of the user on the
   * browser's page, is not that of the session's user.
   */
  end(cookies: string | undefined, shown: string | undefined, from: AuditContext): Promise<Redirect>;
  /**
   * Returns the origin of the identity provider's sign-out page; none if it has no such page or is unavailable. Never
   * rejects.
   */
  signOutOrigins(): Promise<string[]>;
  /** Verifies a logout token of the provider. Fails with INVALID_LOGOUT_TOKEN or UNAVAILABLE. */
  readLogoutToken(logoutToken: string, sender: { readonly address: string }): Promise<Logout>;
  /** Ends the sessions that a logout token names. Fails with INVALID_LOGOUT_TOKEN if it was used before. */
  endByProvider(logout: Logout, from: AuditContext): Promise<void>;
}

/** Dependencies of signing in and out. */
export interface SignInDependencies {
  readonly provider: IdentityProvider;
  readonly sessions: DashboardSessions;
  readonly ended: EndedSessions;
  readonly accounts: Pick<AccountStore, "ofIdentity">;
  readonly audit: AuditStore;
  readonly secrets: SessionSecrets;
  /** Returns the public base URL, without a trailing slash. */
  readonly baseUrl: () => string;
}

/** A stored session, or the user that the provider has just identified. */
type User = Pick<SessionDocument, "issuer" | "subject"> & { readonly email?: string | undefined };

export const callbackPath = "/sign-in/callback";

/** Creates the cookie of a signed-in browser, for a service with this public base URL. */
export function createSessionCookie(baseUrl: () => string): Cookie {
  return createCookie("records_session", () => baseUrl().startsWith("https:"));
}

/** The location after a sign-out that found no session, and so ended nothing. */
export const sessionEndedPath = "/?session-ended";

/** The maximum wait of a request for the check of its session at the provider. */
const checkPatienceMs = 1_500;
/** The maximum wait of a sign-in right after a sign-out, so that its time in whole seconds is later. */
const patienceMs = 2_500;

export function createSignIn(dependencies: SignInDependencies): SignIn {
  const { sessions, baseUrl } = dependencies;
  const sessionCookie = createSessionCookie(baseUrl);
  return {
    async find(cookies, deadline) {
      const value = sessionCookie.read(cookies);
      const session = value === undefined || value === "" ? undefined : await sessions.find(value, deadline);
      if (value === undefined || session === undefined) return undefined;
      if (!(await continues(dependencies, value, session, deadline))) return undefined;
      return userOf(dependencies, session, deadline);
    },
    ...createSigningIn(dependencies, sessionCookie),
    ...createSigningOut(dependencies, sessionCookie),
  };
}

/**
 * Whether a session continues at the provider. Some providers report neither a disabled user nor a logout of all users.
 * If the provider does not respond, the session continues, and a late response counts for the next request.
 */
async function continues(
  { provider, sessions }: Pick<SignInDependencies, "provider" | "sessions">,
  cookie: string,
  session: SessionDocument,
  deadline: Deadline,
): Promise<boolean> {
  const refreshToken = await sessions.takeCheck(cookie, session, deadline);
  if (refreshToken === undefined) return true;
  const check = provider.renew(refreshToken).then(async (renewed) => {
    // The provider may have withdrawn the old token, so the caller's deadline must not lose the new one.
    const ownDeadline = deadlineIn(deadlineMs);
    if (renewed === "ended") await sessions.end(cookie, ownDeadline);
    else if (renewed !== undefined) await sessions.replaceTokens(cookie, session, renewed, ownDeadline);
    return renewed !== "ended";
  });
  check.catch(() => undefined);
  return withTimeout(checkPatienceMs, check, () => true);
}

function createSigningIn(dependencies: SignInDependencies, sessionCookie: Cookie): Pick<SignIn, "begin" | "complete"> {
  const { provider, sessions, ended, secrets, baseUrl } = dependencies;
  const stateCookie = createStateCookie(secrets, baseUrl);
  const home = (): string => `${baseUrl()}/`;

  async function send(others: readonly string[], afresh: boolean, to: string | undefined): Promise<Redirect> {
    const { location, remember } = await provider.begin(baseUrl() + callbackPath, afresh);
    return { location, cookies: [await stateCookie.add(others, to === undefined ? remember : { ...remember, to })] };
  }

  /** Returns the next step after a sign-in that has already ended: to the provider once more, then a failure. */
  async function restartSignIn(
    end: SignInEnd,
    { idToken, tokenResponse }: AuthenticatedUser & { readonly tokenResponse: TokenResponse },
    { state: { afresh = false, to }, others }: PendingSignIn,
  ): Promise<Redirect> {
    if (end.kind === "session") {
      // The provider still has the session that ended here. It must end there before another can begin.
      const location =
        (await provider.endSessionUrl(idToken, home())) ??
        signInFailed("You signed out here, but not at the identity provider. Sign out there, then sign in again.");
      return { location, cookies: [stateCookie.keep(others), sessionCookie.clear()] };
    }
    if (afresh)
      signInFailed(
        tokenResponse.authenticatedAt === undefined
          ? "You signed out before, and the identity provider does not report the time of this sign-in (auth_time). Contact the operator of this service."
          : "By the identity provider's clock, this sign-in is not later than your last sign-out. Wait a few seconds and sign in again.",
      );
    const next = (Math.floor(end.laterThan / 1_000) + 1) * 1_000;
    await sleep(Math.min(patienceMs, Math.max(0, next - tokenResponse.issuedAt * 1_000)));
    return send(others, true, to);
  }

  return {
    begin: (cookies, to) => send(stateCookie.read(cookies), false, to),
    async complete(search, cookies, from) {
      const old = sessionCookie.read(cookies);
      const begun = await stateCookie.find(search, cookies);
      if (begun === undefined) {
        // The user reloads the address of a sign-in that has succeeded, or returns to it.
        if (old && (await sessions.find(old, from.deadline)) !== undefined) return { location: home(), cookies: [] };
        return signInFailed(
          "The sign-in was not started in this browser, took longer than ten minutes, or was replaced by a newer one. Sign in again.",
        );
      }
      const user = await provider.complete(new URL(baseUrl() + callbackPath + search), begun.state);
      if (old !== undefined) await sessions.end(old, from.deadline);
      const value = await sessions.begin(user, from.deadline);
      // After the session is stored, so that a concurrent sign-out finds the session, or its end is found here.
      const end = await ended.endOf({ ...user, authenticatedAt: user.tokenResponse.authenticatedAt }, from.deadline);
      if (end !== undefined) {
        await sessions.end(value, from.deadline);
        return restartSignIn(end, user, begun);
      }
      await recordSignIn(dependencies, user, from);
      const location = begun.state.to === undefined ? home() : baseUrl() + begun.state.to;
      return { location, cookies: [stateCookie.keep(begun.others), sessionCookie.set(value)] };
    },
  };
}

function createSigningOut(
  dependencies: SignInDependencies,
  sessionCookie: Cookie,
): Pick<SignIn, "end" | "signOutOrigins" | "readLogoutToken" | "endByProvider"> {
  const { provider, sessions, ended, baseUrl } = dependencies;
  const home = (): string => `${baseUrl()}/`;

  return {
    async end(cookies, shown, from) {
      const value = sessionCookie.read(cookies);
      const found = value === undefined ? undefined : await sessions.findStored(value, from.deadline);
      if (value === undefined || found === undefined)
        return { location: baseUrl() + sessionEndedPath, cookies: [sessionCookie.clear()] };
      if (shown !== undefined && shown !== (await userOf(dependencies, found, from.deadline)).id)
        return { location: home(), cookies: [] };
      // The ends are stored first, so that everything has ended even if the rest fails.
      await ended.signOut(found, [signOutOf(found)], from.deadline);
      const { idToken, accessToken } = await sessions.tokensOf(value, found);
      // The redirect is not enough, because the user may not complete the provider's page.
      const revoked = accessToken === undefined ? undefined : provider.revoke(accessToken);
      const left = Promise.all([provider.endSessionUrl(idToken, home()), revoked]).then(([url]) => url);
      const location = await withTimeout(providerMs, left);
      const record = await recorderOf(dependencies, [found], from);
      // The session is deleted last, together with the audit entry, so that a failed sign-out can be repeated.
      await sessions.endUserSessions(found, from.deadline, record);
      return { location: location ?? home(), cookies: [sessionCookie.clear()] };
    },
    async signOutOrigins() {
      const location = await provider.endSessionUrl(undefined, home());
      return location === undefined ? [] : [new URL(location).origin];
    },
    readLogoutToken: (logoutToken, sender) => provider.readLogoutToken(logoutToken, sender),
    async endByProvider(logout, from) {
      const ending = await sessions.ofUser(logout.issuer, logout.sid, logout.subject, from.deadline);
      const record = await recorderOf(dependencies, ending, from, "At the identity provider.");
      const subjects = ending.map(({ subject }) => subject);
      // A token is accepted once. If this fails, the transaction releases its id, so that the provider can retry.
      await ended.logOut(logout, subjects, from.deadline, async (session) => {
        await sessions.endAll(ending, session);
        await record(session);
      });
    },
  };
}

/** Returns the user of a session. */
async function userOf(
  { accounts }: Pick<SignInDependencies, "accounts">,
  { issuer, subject, email, name }: SessionDocument,
  deadline: Deadline,
): Promise<DashboardUser> {
  const account = await accounts.ofIdentity({ issuer, subject }, deadline);
  return {
    id: hash("sha256", JSON.stringify([issuer, subject, account?._id.toHexString()]), "base64url"),
    name: email ?? subject,
    account: account && {
      id: account._id,
      betaEnrolled: account.beta_enrolled,
      suspended: account.suspension !== undefined,
    },
    issuer,
    subject,
    email,
    fullName: name,
    accountEmail: account?.email,
  };
}

/** Adds the audit entry of a sign-in, in a write of its own. */
async function recordSignIn({ accounts, audit }: SignInDependencies, user: User, from: AuditContext): Promise<void> {
  const account = await accounts.ofIdentity(user, from.deadline);
  if (account !== undefined)
    await audit.append(account._id, actorOf(user, from), { event: "signed_in" }, from.deadline);
}

/**
 * Looks up the accounts of the users who are signed out. Returns a function that adds their audit entries in a
 * transaction.
 */
async function recorderOf(
  { accounts, audit }: SignInDependencies,
  users: readonly User[],
  from: AuditContext,
  detail?: string,
): Promise<(session: ClientSession) => Promise<void>> {
  const fact = { event: "signed_out", ...(detail === undefined ? {} : { detail }) } as const;
  const entries: { readonly accountId: UUID; readonly actor: Actor }[] = [];
  for (const user of users) {
    const account = await accounts.ofIdentity(user, from.deadline);
    if (account !== undefined) entries.push({ accountId: account._id, actor: actorOf(user, from) });
  }
  return async (session) => {
    for (const { accountId, actor } of entries) await audit.appendIn(session, accountId, actor, fact);
  };
}

function actorOf({ subject, email }: User, { requestId, address }: AuditContext): Actor {
  return { person: email ?? subject, requestId, address };
}

function signInFailed(message: string): never {
  return fail(Reason.SIGN_IN_FAILED, { message });
}
