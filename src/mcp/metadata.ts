// Metadata documents that show assistants where to sign in (RFC 9728, RFC 8414), without a token and for any origin.
import { setOpenCors } from "../http/headers.ts";
import { writeFailure } from "../http/response.ts";
import { acceptMethod, sendText } from "../http/static-files.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail, failureOf } from "../call/errors.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import { loadOnce } from "../call/load-once.ts";
import { boundedFetch } from "../sign-in/bounded-fetch.ts";
import { isSameIssuer } from "../sign-in/issuer.ts";
import { unreachable } from "../sign-in/provider-failures.ts";

/** Dependencies of the metadata documents. */
export interface MetadataDependencies {
  /** Undefined if there is no identity provider. MCP is then off, and the documents report it. */
  readonly issuer: string | undefined;
  /** Returns the issuer that the provider names, or the configured one while the provider is unavailable. */
  readonly issuerName: () => Promise<string>;
  /** Returns the scopes in the provider's metadata; undefined if it lists none. Never rejects. */
  readonly scopes: () => Promise<readonly string[] | undefined>;
  /** The scopes that the operator has set. */
  readonly configuredScopes: readonly string[] | undefined;
  readonly mcpUrl: () => string;
  /** Throttles a request for a document. Fails with RATE_LIMITED. */
  readonly throttle: (inbound: Inbound) => Promise<void>;
  readonly onError: OnError;
}

const resourcePath = "/.well-known/oauth-protected-resource";
const serverPaths = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] as const;
/**
 * The scopes that identify the user in the log. Assistants register with them, and some providers reject a registration
 * with `openid`, which access tokens do not need. `offline_access` is left out, because clients request it from the
 * provider themselves.
 */
const defaultScopes = ["email", "profile"];
const mirrorMs = 300_000;
const waitMs = 4_000;

/**
 * Creates the surface of the documents. Clients look in different places: at the origin's root, or there with the path
 * of the MCP address appended.
 */
export function createMetadata({
  issuer,
  issuerName,
  scopes,
  configuredScopes,
  mcpUrl,
  throttle,
  onError,
}: MetadataDependencies): Surface {
  const mirrors = new Map(serverPaths.map((path) => [path as string, createMirror(issuer, path)]));
  const baseOf = (path: string): string | undefined => {
    const suffix = new URL(mcpUrl()).pathname.replace(/\/$/, "");
    return [resourcePath, ...serverPaths].find(
      (known) => path === known || path === known + suffix || path === `${known}/mcp`,
    );
  };

  async function document(base: string): Promise<Buffer | string> {
    if (issuer === undefined) return failOff();
    const mirror = mirrors.get(base);
    if (mirror !== undefined) return mirror();
    // Concurrently, because both may wait for the provider.
    const [name, offered] = await Promise.all([issuerName(), scopes()]);
    return JSON.stringify({
      resource: mcpUrl(),
      authorization_servers: [name],
      // A provider need not list all of its scopes, so only the default is compared with the list.
      scopes_supported: configuredScopes ?? defaultScopes.filter((scope) => offered?.includes(scope) !== false),
      bearer_methods_supported: ["header"],
      resource_name: "Records",
    });
  }

  return {
    serves: (path) => path.startsWith("/.well-known/") && baseOf(path) !== undefined,
    async handle(path, request: Request, response: Response, inbound) {
      request.resume();
      setOpenCors(request, response);
      try {
        await throttle(inbound);
        if (!acceptMethod(request, response)) return;
        const body = await document(baseOf(path) ?? "");
        sendText(request, response, { "Content-Type": "application/json" }, body);
      } catch (error) {
        const failure = failureOf(error);
        onError(failure, inbound);
        writeFailure(response, failure);
      }
    },
  };
}

/** Fails with UNAVAILABLE, because there is no identity provider. */
export function failOff(): never {
  return fail(Reason.UNAVAILABLE, {
    message: "MCP is off: the operator has not set an identity provider (OIDC_ISSUER).",
    because: "not configured",
  });
}

/**
 * Creates a mirror of the provider's own document, byte for byte. While the provider is unavailable, it returns its
 * last copy.
 */
function createMirror(issuer = "", path: string): () => Promise<Buffer> {
  const mirror = loadOnce(() => fetchFirst(candidates(issuer, path), issuer), mirrorMs);
  return () => mirror.get().catch(unreachable);
}

/**
 * Returns the possible addresses of a document. RFC 8414 §3.1 puts the issuer's path last, OpenID Connect Discovery §4
 * puts it first.
 */
function candidates(issuer: string, path: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const own = pathname.replace(/\/$/, "");
  const other = serverPaths.find((one) => one !== path) ?? path;
  return [`${origin}${path}${own}`, `${origin}${own}${path}`, `${origin}${own}${other}`, `${origin}${other}${own}`];
}

/** Returns the first document that names the issuer. All attempts together take at most 4 seconds. */
async function fetchFirst(urls: readonly string[], configured: string): Promise<Buffer> {
  const signal = AbortSignal.timeout(waitMs);
  let trouble: unknown;
  for (const url of new Set(urls)) {
    try {
      const response = await boundedFetch(url, { signal, headers: { Accept: "application/json" } });
      if (!response.ok) continue;
      const body = Buffer.from(await response.arrayBuffer());
      const { issuer } = JSON.parse(body.toString()) as { readonly issuer?: unknown };
      // Some providers return 200 for any path, and a host may have several issuers (RFC 8414 §3.3).
      if (isSameIssuer(configured, issuer)) return body;
    } catch (error) {
      trouble = error;
    }
  }
  throw trouble ?? new Error("the identity provider has no metadata document");
}
