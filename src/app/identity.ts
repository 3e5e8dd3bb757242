// Wires authentication: the identity provider, the sign-in of the dashboard, and the tokens of assistants.
import { createTokens } from "../mcp/surface.ts";
import { createEndedSessions } from "../sign-in/ended-store.ts";
import { createIdentityProvider } from "../sign-in/provider.ts";
import { createDashboardSessions } from "../sign-in/session-store.ts";
import { createSignIn } from "../sign-in/sign-in.ts";
import type { OidcConfig } from "../config/config.ts";
import type { Foundation } from "./foundation.ts";
import type { Storage } from "./storage.ts";

/** The parts of authentication by the identity provider. Each is undefined if there is no identity provider. */
export type Identity = Partial<ReturnType<typeof connectProvider>>;

export function createIdentity(foundation: Foundation, storage: Storage): Identity {
  const { oidc } = foundation.dependencies;
  return oidc === undefined ? {} : connectProvider(foundation, storage, oidc);
}

function connectProvider(
  { config, dependencies, log, observability, where }: Foundation,
  { client, services }: Storage,
  oidc: OidcConfig,
) {
  if (config.oidc !== undefined && config.mcpAudiences.length === 0)
    log.warn(
      "MCP_AUDIENCE is not set: the MCP surface also accepts access tokens that the identity provider issued for other applications",
    );
  const { outgoing, metrics } = observability;
  const { responded, rejected } = metrics.identityProvider;
  const warnOfRejection = createRejectionWarning(log);
  const provider = createIdentityProvider({
    ...oidc,
    outgoing,
    onResponse: responded,
    onRejection(rejection) {
      rejected(rejection !== undefined);
      warnOfRejection(rejection);
    },
  });
  const ended = createEndedSessions(client.db(), () =>
    log.error("the time of a sign-out could not be read: the sign-out now counts as one of this time"),
  );
  const { accounts, audit } = services;
  const signIn = createSignIn({
    provider,
    sessions: createDashboardSessions(client.db(), dependencies.sessionSecrets),
    ended,
    accounts,
    audit,
    secrets: dependencies.sessionSecrets,
    baseUrl: () => where.baseUrl,
  });
  const warn = (message: string): void => log.warn(message);
  const tokens = createTokens({ provider, audiences: config.mcpAudiences, ended, warn });
  return { provider, signIn, tokens };
}

/** Returns a function that warns once of a rejection of introspection, and again when the rejection changes. */
function createRejectionWarning(log: Foundation["log"]): (rejection: string | undefined) => void {
  let known: string | undefined;
  return (rejection) => {
    if (rejection === known) return;
    known = rejection;
    if (rejection === undefined) log.info("the identity provider no longer rejects the introspection of access tokens");
    else
      log.warn(
        `the identity provider rejects the introspection of access tokens (${rejection}): tokens that it revokes are accepted until they expire. To check it, run records doctor.`,
      );
  };
}
