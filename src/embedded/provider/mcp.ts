// The MCP server as a resource of the provider: its names, and its access tokens.
import type { ResourceServer } from "oidc-provider";

/** The scopes of the provider. A token for the MCP server lists those that were granted. */
export const SCOPES = ["openid", "offline_access", "email", "profile"] as const;

export const ACCESS_TOKEN_SECONDS = 600;

/** The MCP server, whose address the service sets once it is known. */
export type McpResource = ReturnType<typeof createMcpResource>;

export function createMcpResource() {
  let url: string | undefined;
  /** Returns all names that a client may use in `resource`, the canonical one first. Empty until the address is known. */
  const names = (): string[] => {
    if (url === undefined) return [];
    const { origin, href } = new URL(url);
    const bare = href.replace(/\/$/, "");
    return [...new Set([url, bare, `${bare}/`, origin, `${origin}/`])];
  };
  return {
    names,
    isNamedBy(resource: string): boolean {
      if (!URL.canParse(resource)) return false;
      const { href } = new URL(resource);
      return names().some((name) => new URL(name).href === href);
    },
    /** Returns the properties of access tokens for the server. */
    server: (): ResourceServer => ({
      // The audience is the canonical name, whichever name the client used.
      audience: names()[0],
      scope: SCOPES.join(" "),
      accessTokenFormat: "jwt",
      accessTokenTTL: ACCESS_TOKEN_SECONDS,
      jwt: { sign: { alg: "RS256" } },
    }),
    moveTo(to: string): void {
      url = to;
    },
  };
}
