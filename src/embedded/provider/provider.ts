// The development identity provider: an OpenID Connect provider with the demo's users, which runs in this process.
import { DASHBOARD_ID, createDashboard } from "./clients.ts";
import { configurationOf } from "./configuration.ts";
import { createSignOuts } from "./endings.ts";
import { openFolder } from "./folder.ts";
import { interactions } from "./interactions.ts";
import { issuedTokens } from "./issued-tokens.ts";
import { loadOrCreateKeys } from "./keys.ts";
import { listenOnKeptPort } from "./listener.ts";
import { loadLibrary } from "./load.ts";
import { createMcpResource } from "./mcp.ts";
import { createUsers, type User } from "./users.ts";
import {
  commonHeaders,
  oneHost,
  registrationFromBrowsers,
  tolerantRegistration,
  tolerantRequests,
} from "./requests.ts";
import { createStore } from "./store.ts";

export type { User } from "./users.ts";

export interface ProviderOptions {
  readonly dataDir: string;
  readonly users: readonly User[];
}

/** A running provider. */
export type DevelopmentProvider = Awaited<ReturnType<typeof startProvider>>;

/**
 * Starts the provider on its own port. The issuer, the keys, the registered clients, the sessions and the grants stay
 * the same from start to start.
 */
export async function startProvider(options: ProviderOptions) {
  const folder = await openFolder(options.dataDir);
  const [library, keys] = await Promise.all([loadLibrary(), loadOrCreateKeys(folder)]);
  const dashboard = createDashboard();
  const mcp = createMcpResource();
  const users = createUsers(options.users);
  const store = await createStore(folder, (id) => (id === DASHBOARD_ID ? dashboard.metadata() : undefined));
  const listener = await listenOnKeptPort(folder);
  try {
    const issuer = `http://localhost:${listener.port}`;
    const provider = new library.Provider(issuer, configurationOf({ library, users, store, keys, dashboard, mcp }));
    // Failures are reported in the response only, not on the console.
    provider.silent = true;
    provider.use(oneHost(issuer));
    provider.use(commonHeaders());
    provider.use(registrationFromBrowsers());
    provider.use(tolerantRegistration());
    provider.use(tolerantRequests(mcp));
    const ends = createSignOuts(provider, store);
    provider.use(ends.byRevocation);
    provider.use(interactions(provider, users, ends));
    provider.use(issuedTokens(provider, store, keys));
    listener.serveWith(provider.callback());
    return {
      issuer,
      /** The confidential client of the dashboard. Each start creates a new secret. */
      client: { id: dashboard.id, secret: dashboard.secret },
      /**
       * Sets the service's addresses once they are known: the redirect URIs of the dashboard's client, and the MCP
       * server.
       */
      serve({ baseUrl, mcpUrl }: { readonly baseUrl: string; readonly mcpUrl: string }): void {
        dashboard.moveTo(baseUrl);
        mcp.moveTo(mcpUrl);
      },
      async stop(): Promise<void> {
        await listener.stop();
        await store.keep();
      },
    };
  } catch (error) {
    await listener.stop();
    throw error;
  }
}
