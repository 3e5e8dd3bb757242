// Follows the first sign-in of an MCP client, as far as possible without a user and a browser.
import {
  buildDiscoveryUrls,
  discoverAuthorizationServerMetadata,
  registerClient,
  startAuthorization,
} from "@modelcontextprotocol/client";
import { randomUUID } from "node:crypto";
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";
import { isSameIssuer } from "../../sign-in/issuer.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, note, ok, unchecked, warning } from "./check.ts";
import { authorization, pkce } from "./client.ts";
import { reasonOf } from "./reason.ts";
import { getJson, isObject, request, timedFetch } from "./request.ts";
import type { Running } from "./service.ts";
import type { DoctorContext } from "./doctor-context.ts";

const wellKnown = "/.well-known/oauth-protected-resource";
const mirrored = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
/** The headers of an assistant that runs in a browser. */
const fromBrowser = { Origin: "https://assistant.example", "MCP-Protocol-Version": "2025-06-18" };
const unchanged = "configure the proxy to pass requests on to PORT unchanged";
const redirectUri = "http://127.0.0.1:33418/callback";

export async function checkMcp(context: DoctorContext, running: Running): Promise<Finding[]> {
  const {
    config: { mcpAudiences },
    mcpUrl,
    provider,
  } = context;
  const known = provider !== undefined && mcpUrl !== undefined && mcpAudiences.length > 0;
  return [
    ...(known ? [await check("mcp.audience", () => audience(mcpAudiences, mcpUrl))] : []),
    ...(await signIn(context, running)),
  ];
}

/** Checks the audience without a sign-in. An assistant requests a token for the MCP URL, byte for byte (RFC 8707). */
function audience(audiences: readonly string[], mcpUrl: string): Verdict {
  const split = audiences.find((one) => /[\s;]/.test(one));
  if (split !== undefined)
    return fault(
      `MCP_AUDIENCE has "${split}", which is not a valid audience.`,
      "Separate several audiences with commas.",
    );
  if (audiences.includes(mcpUrl))
    return note(
      `MCP_AUDIENCE has ${mcpUrl}, for which assistants request tokens. Only a sign-in shows whether the provider follows the request: several providers ignore it.`,
      "Sign in with records token and call /mcp. If the token names no or another audience, configure the provider to add it.",
    );
  const host = new URL(mcpUrl).host;
  const near = audiences.find((one) => URL.canParse(one) && new URL(one).host === host);
  if (near !== undefined)
    return warning(
      `MCP_AUDIENCE is ${near}, but assistants request tokens for ${mcpUrl}: a provider that follows RFC 8707 issues tokens that the service rejects.`,
      `Add ${mcpUrl} to MCP_AUDIENCE, character for character, or configure the provider to issue tokens for ${near}.`,
    );
  return note(
    `Assistants request tokens for ${mcpUrl}. Only a sign-in shows whether they have the audience ${audiences.join(" or ")}.`,
    `If /mcp rejects every token, add the token's aud claim or ${mcpUrl} to MCP_AUDIENCE.`,
  );
}

async function signIn(
  { mcpUrl, provider, baseUrl, register }: DoctorContext,
  { inside, outside }: Running,
): Promise<Finding[]> {
  if (provider === undefined)
    return unchecked("mcp.sign_in", "MCP is off, because no identity provider is set.", "Set OIDC_ISSUER.");
  if (mcpUrl === undefined || (!inside && !outside))
    return unchecked("mcp.sign_in", "Not checked, because the service does not run.", "Start it (npm start).");
  const { origin, pathname } = new URL(mcpUrl);
  const suffix = pathname === "/" ? "" : pathname.replace(/\/$/, "");
  let servers: readonly unknown[] = [];
  let scopes: readonly string[] = [];
  const resource = (name: string, url: string): Promise<Finding> =>
    check(
      name,
      async () => {
        const { body, headers } = await getJson(url, fromBrowser);
        if (isObject(body) && Array.isArray(body["authorization_servers"]))
          servers = body["authorization_servers"] as unknown[];
        if (isObject(body) && Array.isArray(body["scopes_supported"])) scopes = body["scopes_supported"].map(String);
        return protectedResource(url, body, headers, mcpUrl);
      },
      ({ message }: Error) =>
        fault(
          `The protected resource metadata cannot be read at ${url}: ${message}.`,
          `Assistants read them first: ${unchanged}.`,
        ),
    );

  const first = await Promise.all([
    check(
      "mcp.challenge",
      () => challenge(mcpUrl, `${origin}${wellKnown}`),
      ({ message }: Error) =>
        fault(`${mcpUrl} does not respond: ${message}.`, `Correct MCP_URL or BASE_URL, and ${unchanged}.`),
    ),
    resource("mcp.resource", `${origin}${wellKnown}`),
    resource("mcp.resource_with_path", `${origin}${wellKnown}${suffix}`),
    ...(baseUrl === undefined ? [] : [check("mcp.copies", () => copies(new URL(baseUrl).origin, provider.issuer))]),
  ]);
  const [issuer] = servers;
  return typeof issuer === "string" ? [...first, ...(await atIssuer(issuer, { mcpUrl, scopes, register }))] : first;
}

/** What an assistant knows when it finds the provider, and whether the doctor may register. */
interface Arrival {
  readonly mcpUrl: string;
  /** The scopes of the protected resource metadata. */
  readonly scopes: readonly string[];
  readonly register: boolean;
}

/** Makes the requests of an assistant to the authorization server that the metadata names. */
async function atIssuer(issuer: string, arrival: Arrival): Promise<Finding[]> {
  let metadata: AuthorizationServerMetadata | undefined;
  const found = await check(
    "mcp.authorization_server",
    async () => {
      metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: timedFetch });
      return authorizationServer(issuer, metadata);
    },
    (error) =>
      fault(
        `An assistant rejects the authorization server ${issuer}: ${whyOf(error)}.`,
        `Its metadata must have the issuer ${issuer}, character for character, and its endpoints.`,
      ),
  );
  if (metadata === undefined) return [found];
  const server = metadata;
  return [
    found,
    await check("mcp.pkce", () => pkce(server.code_challenge_methods_supported ?? [])),
    await check(
      "mcp.registration",
      () => registration(issuer, server, arrival),
      (error) => rejectedRegistration(issuer, scopeOf(server, arrival.scopes), error),
    ),
  ];
}

async function challenge(mcpUrl: string, document: string): Promise<Verdict> {
  const hello = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "records doctor", version: "1" } },
  };
  const { status, headers } = await request(mcpUrl, {
    method: "POST",
    body: JSON.stringify(hello),
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
  });
  if (status === 429)
    return warning(`${mcpUrl} returns 429: this address has exceeded its rate limit.`, "Try again in a few seconds.");
  if (status === 503)
    return fault(
      `${mcpUrl} returns 503: the public interface is switched off, or MCP is.`,
      "Switch it on (records interface on). If OIDC_ISSUER was not set at the start, set it and restart the service.",
    );
  if (status !== 401)
    return fault(
      `${mcpUrl} returns ${status} instead of 401 to a client without a token: assistants do not start the sign-in.`,
      `Correct MCP_URL, and ${unchanged}.`,
    );
  const said = headers.get("www-authenticate") ?? "";
  const leadsThere =
    said.startsWith('Bearer error="invalid_token", error_description="') &&
    said.endsWith(`", resource_metadata="${document}"`);
  if (leadsThere) return ok(`${mcpUrl} returns 401, and its challenge names ${document}.`);
  if (said === "")
    return fault(
      "The 401 has no WWW-Authenticate header: assistants do not know where to sign in.",
      "Configure the proxy to pass on the response headers.",
    );
  return fault(
    `The challenge is ${said}, and does not name ${document}.`,
    "Run the doctor with the service's BASE_URL and MCP_URL, and configure the proxy to pass on WWW-Authenticate unchanged.",
  );
}

function protectedResource(url: string, body: unknown, headers: Headers, mcpUrl: string): Verdict {
  const { resource, authorization_servers: servers } = isObject(body) ? body : {};
  if (resource !== mcpUrl)
    return fault(
      `${url} names the resource ${JSON.stringify(resource ?? null)} instead of ${mcpUrl}: assistants stop there.`,
      "Set BASE_URL, or MCP_URL, to the address that users enter, character for character, and restart the service.",
    );
  if (!Array.isArray(servers) || typeof servers[0] !== "string")
    return fault(`${url} names no authorization server.`, "Set OIDC_ISSUER, and restart the service.");
  if (headers.get("access-control-allow-origin") !== "*")
    return fault(
      `${url} has no Access-Control-Allow-Origin: *, so assistants in a browser cannot read it.`,
      "Configure the proxy to pass on the response headers.",
    );
  return ok(`${url} names the resource ${mcpUrl} and the authorization server ${String(servers[0])}.`);
}

/**
 * Checks the copies of the provider's metadata at our own origin, for clients before 2025-06-18 and some later ones.
 */
async function copies(origin: string, issuer: string): Promise<Verdict> {
  const wrong: string[] = [];
  for (const path of mirrored) {
    const trouble = await getJson(origin + path, fromBrowser).then(
      ({ body, headers }) => {
        const served = isObject(body) ? body["issuer"] : undefined;
        if (!isSameIssuer(issuer, served)) return `has the issuer ${String(served ?? "none")}`;
        return headers.get("access-control-allow-origin") === "*" ? undefined : "has no Access-Control-Allow-Origin: *";
      },
      ({ message }: Error) => message,
    );
    if (trouble !== undefined) wrong.push(`${origin}${path}: ${trouble}`);
  }
  if (wrong.length === 0) return ok("Older clients also find the provider's metadata at the service's own origin.");
  return warning(
    `Older clients do not find the provider's metadata at the service's own origin (${wrong.join("; ")}).`,
    `See the group on the identity provider, and ${unchanged}.`,
  );
}

function authorizationServer(issuer: string, metadata: AuthorizationServerMetadata | undefined): Verdict {
  if (metadata !== undefined) return ok(`An assistant finds ${issuer} and its endpoints.`);
  return fault(
    `An assistant finds no metadata for ${issuer}. It looked at ${buildDiscoveryUrls(issuer)
      .map(({ url }) => url.href)
      .join(", ")}.`,
    "Configure the provider to serve its metadata at one of these addresses.",
  );
}

async function registration(
  issuer: string,
  metadata: AuthorizationServerMetadata,
  { mcpUrl, scopes, register }: Arrival,
): Promise<Verdict> {
  if (metadata.registration_endpoint === undefined)
    return note(
      "The provider's metadata has no registration_endpoint: each assistant needs a client id from you.",
      "Turn on dynamic client registration at the provider, and list it in the metadata, or create the clients by hand.",
    );
  if (!register)
    return note(
      "Not tried: whether the provider lets an assistant register from its address, with its redirect URI and scopes. That leaves a client at the provider.",
      "To try it, run records doctor --register. It continues to the sign-in page.",
    );
  const clientMetadata = {
    client_name: "records doctor",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  const scope = scopeOf(metadata, scopes);
  const requested = scope === undefined ? {} : { scope };
  const clientInformation = await registerClient(issuer, {
    metadata,
    clientMetadata,
    ...requested,
    fetchFn: timedFetch,
  });
  const { authorizationUrl } = await startAuthorization(issuer, {
    metadata,
    clientInformation,
    redirectUrl: redirectUri,
    resource: mcpUrl,
    // Some providers reject a short one.
    state: randomUUID(),
    ...requested,
  });
  const { status, message, fix } = await authorization(authorizationUrl, redirectUri);
  return {
    status,
    message: `A new client (${clientInformation.client_id}) was registered, and stays at the provider. ${message}`,
    fix,
  };
}

function rejectedRegistration(issuer: string, scope: string | undefined, error: Error): Verdict {
  if ("issues" in error)
    return fault(
      `${issuer} registers an assistant, but its response is invalid, so that assistants reject it: ${whyOf(error)}.`,
      "Correct the response of the provider. Otherwise, turn off dynamic registration and create a public client for each assistant.",
    );
  const requested = scope === undefined ? "" : ` with the scopes "${scope}"`;
  return fault(
    `An assistant cannot register at ${issuer}${requested}: ${whyOf(error)}.`,
    "At the provider, allow dynamic registration of public clients from this address, with a redirect to 127.0.0.1 and with these scopes. MCP_SCOPES sets other scopes.",
  );
}

/**
 * Returns the scopes with which an assistant registers: those of the protected resource metadata, and `offline_access`
 * if the provider offers it. The library's own function for this is private.
 */
function scopeOf(
  { scopes_supported: offered }: AuthorizationServerMetadata,
  scopes: readonly string[],
): string | undefined {
  if (scopes.length === 0) return undefined;
  return [...new Set([...scopes, ...(offered?.includes("offline_access") ? ["offline_access"] : [])])].join(" ");
}

/** Returns the library's reason. For an invalid document, returns its invalid fields. */
function whyOf(error: Error): string {
  const issues =
    "issues" in error && Array.isArray(error.issues)
      ? (error.issues as { readonly path: readonly unknown[]; readonly message: string }[])
      : [];
  return issues.length === 0
    ? reasonOf(error)
    : issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
