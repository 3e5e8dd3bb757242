// The MCP server as a resource of the provider: the names it goes by, and the access tokens for it.
import type { ResourceServer } from "oidc-provider";

/** The scopes of the provider; a token for the MCP server reports those that were granted. */
export const SCOPES = ["openid", "offline_access", "email", "profile"] as const;

export const ACCESS_TOKEN_SECONDS = 600;

/** The MCP server, once the service has reported where it is. */
export interface McpResource {
  /** All the names that a client may use in `resource`, the right one first; none before the service has reported. */
  names(): string[];
  isNamedBy(resource: string): boolean;
  /** What an access token for it is. */
  server(): ResourceServer;
  moveTo(url: string): void;
}

export function createMcpResource(): McpResource {
  let url: string | undefined;
  const names = (): string[] => {
    if (url === undefined) return [];
    const { origin, href } = new URL(url);
    const bare = href.replace(/\/$/, "");
    return [...new Set([url, bare, `${bare}/`, origin, `${origin}/`])];
  };
  return {
    names,
    isNamedBy(resource) {
      if (!URL.canParse(resource)) return false;
      const { href } = new URL(resource);
      return names().some((name) => new URL(name).href === href);
    },
    server: () => ({
      // Whatever name the client used, the token is for the one that the server goes by.
      audience: names()[0],
      scope: SCOPES.join(" "),
      accessTokenFormat: "jwt",
      accessTokenTTL: ACCESS_TOKEN_SECONDS,
      jwt: { sign: { alg: "RS256" } },
    }),
    moveTo(to) {
      url = to;
    },
  };
}
