// Configuration of the OpenID Connect library.
import type { Configuration, Grant, KoaContextWithOIDC } from "oidc-provider";
import { DASHBOARD_ID, rejectionOfRedirect, type Dashboard } from "./clients.ts";
import type { Keys } from "./keys.ts";
import type { loadLibrary } from "./load.ts";
import { mayFetch } from "./metadata-documents.ts";
import { ACCESS_TOKEN_SECONDS, SCOPES, type McpResource } from "./mcp.ts";
import { showError, showLogout, showSignedOut } from "./notices.ts";
import { accountOf, type User, type Users } from "./users.ts";
import type { Store } from "./store.ts";

const DAY = 86_400;
const DASHBOARD_SECONDS = 12 * 3_600;

/** The dependencies of the configuration. */
export interface Dependencies {
  readonly library: Awaited<ReturnType<typeof loadLibrary>>;
  readonly users: Users;
  readonly store: Store;
  readonly keys: Keys;
  readonly dashboard: Dashboard;
  readonly mcp: McpResource;
}

export function configurationOf({ library, users, store, keys, dashboard, mcp }: Dependencies): Configuration {
  const policy = library.interactionPolicy.base();
  // Users approve a native client once per session, like any other client.
  policy.get("consent")?.checks.remove("native_client_prompt");
  return {
    adapter: store.adapter,
    jwks: { keys: keys.signing.map((key) => ({ ...key })) },
    cookies: {
      keys: [...keys.cookies],
      // Cookies are shared by all ports of localhost, so the names must not clash with those of other programs.
      names: {
        session: "records_provider_session",
        interaction: "records_provider_sign_in",
        resume: "records_provider_resume",
      },
      long: { httpOnly: true, sameSite: "lax", signed: true },
      short: { httpOnly: true, sameSite: "lax", signed: true },
    },
    findAccount: (_ctx, subject) => accountOf(users.bySubject(subject)),
    scopes: [...SCOPES],
    claims: {
      acr: null,
      auth_time: null,
      iss: null,
      sid: null,
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name"],
    },
    // Includes the email and the name in the ID token of the code flow.
    conformIdTokenClaims: false,
    responseTypes: ["code"],
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256"] },
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    // Programs on the user's machine listen on any free port. A native client may use another port than it registered.
    clientDefaults: { application_type: "native" },
    extraClientMetadata: {
      properties: ["redirect_uris"],
      validator(_ctx, _name, value, { client_id: id }) {
        if (id === DASHBOARD_ID || !Array.isArray(value)) return;
        const rejection = value.map((uri) => rejectionOfRedirect(String(uri))).find((reason) => reason !== undefined);
        if (rejection !== undefined) throw new library.errors.InvalidClientMetadata(rejection);
      },
    },
    features: featuresOf(library, mcp),
    extraTokenClaims: (ctx, token) => extraClaims(users, ctx, token),
    interactions: { policy, url: (_ctx, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: existingGrant,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    ttl: lifetimes,
    fetch: fetchFor(dashboard),
    renderError: showError,
  };
}

function featuresOf(library: Dependencies["library"], mcp: McpResource): Configuration["features"] {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    clientCredentials: { enabled: false },
    userinfo: { enabled: true },
    registration: { enabled: true, issueRegistrationAccessToken: false },
    clientIdMetadataDocument: {
      enabled: true,
      ack: "draft-02",
      allowFetch: (_ctx, clientId) => mayFetch(clientId),
      // A document is not fetched again during a sign-in.
      cacheDuration: { min: 3_600, max: DAY },
    },
    introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => mayIntrospect(client, token.clientId) },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true, logoutSource: showLogout, postLogoutSuccessSource: showSignedOut },
    resourceIndicators: {
      enabled: true,
      defaultResource(_ctx, client, oneOf) {
        if (oneOf !== undefined) return mcp.names().find((name) => oneOf.includes(name)) ?? oneOf;
        // The dashboard calls no resource. Its access token only serves for the user info endpoint.
        return client.clientId === DASHBOARD_ID ? undefined : mcp.names();
      },
      useGrantedResource: () => true,
      getResourceServerInfo(_ctx, resource) {
        if (!mcp.isNamedBy(resource)) throw new library.errors.InvalidTarget("this provider knows no such resource");
        return mcp.server();
      },
    },
  };
}

/** Returns the claims that the library does not set: the user, the session (`sid`) and the time of sign-in. */
async function extraClaims(
  users: Users,
  ctx: KoaContextWithOIDC,
  token: Parameters<NonNullable<Configuration["extraTokenClaims"]>>[1],
): Promise<Record<string, unknown> | undefined> {
  if (!("accountId" in token)) return undefined;
  const session =
    token.sessionUid === undefined ? undefined : await ctx.oidc.provider.Session.findByUid(token.sessionUid);
  const sid = session?.sidFor(DASHBOARD_ID);
  // The time of the sign-in, also for a refreshed token (RFC 9068 §2.2.1).
  const { AuthorizationCode: code, RefreshToken: refreshed } = ctx.oidc.entities;
  const auth_time = code?.authTime ?? refreshed?.authTime;
  return {
    ...profileOf(users.bySubject(token.accountId)),
    ...(sid === undefined ? {} : { sid }),
    ...(auth_time === undefined ? {} : { auth_time }),
  };
}

/** The userinfo endpoint accepts no token for another audience, so the access token says who the user is. */
function profileOf(user: User | undefined): Record<string, unknown> {
  return user === undefined ? {} : { email: user.email, name: user.name };
}

/** The lifetimes, in seconds. */
const lifetimes: Configuration["ttl"] = {
  // The dashboard's token lives as long as a dashboard session, because the dashboard revokes it to report a sign-out.
  AccessToken: (_ctx, token, client) =>
    token.resourceServer?.accessTokenTTL ??
    (client.clientId === DASHBOARD_ID ? DASHBOARD_SECONDS : ACCESS_TOKEN_SECONDS),
  AuthorizationCode: 60,
  Grant: 14 * DAY,
  IdToken: 3_600,
  Interaction: 3_600,
  RefreshToken: 14 * DAY,
  Session: 14 * DAY,
};

/**
 * Returns the library's `fetch`. The library's dispatcher blocks private addresses, but a development dashboard has no
 * other address. Only its back-channel logout is called without the dispatcher.
 */
function fetchFor(dashboard: Dashboard): NonNullable<Configuration["fetch"]> {
  return async (url, options) => {
    const { dispatcher, ...open } = options as RequestInit & { dispatcher?: unknown };
    if (String(url) === normal(dashboard.backchannelLogoutUri())) return fetch(url, open);
    if (dispatcher === undefined) throw new Error("private addresses cannot be distinguished from public ones here");
    return fetch(url, { ...open, dispatcher } as RequestInit);
  };
}

function normal(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).href;
}

/**
 * Whether a client may introspect a token. A client with a secret may introspect any token, other clients only their
 * own.
 */
export function mayIntrospect(
  client: { clientId: string; clientAuthMethod?: string | undefined },
  tokenOf: string | undefined,
): boolean {
  return client.clientAuthMethod !== "none" || tokenOf === client.clientId;
}

/**
 * Returns the grant that the user gave the client in this session. The dashboard, as the service's own client, gets all
 * scopes that it requests. Also gives every session its `sid` for the dashboard, because the library stores the session
 * afterwards. The tokens of other clients then name the same `sid`, even if the dashboard is opened later.
 */
async function existingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { session, client, result, provider, account, requestParamOIDCScopes } = ctx.oidc;
  if (session === undefined || client === undefined || account === undefined) return undefined;
  session.ensureClientContainer(DASHBOARD_ID);
  const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const grant = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (client.clientId !== DASHBOARD_ID) return grant;
  const own = grant ?? new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
  own.addOIDCScope([...requestParamOIDCScopes].join(" "));
  await own.save();
  return own;
}
