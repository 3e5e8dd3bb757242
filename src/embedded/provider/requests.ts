// What every request to the provider passes before the library: one host, common headers, a tolerant reading of
// requests.
import { DASHBOARD_ID } from "./clients.ts";
import { SCOPES, type McpResource } from "./mcp.ts";
import { frameHandOver, showError, showNotFound } from "./notices.ts";
import { contentSecurityPolicy, type Middleware } from "./page.ts";

/** Only the issuer's own host is served: cookies and links are for that one, and no other name may lead here. */
export function oneHost(issuer: string): Middleware {
  const { host } = new URL(issuer);
  return async (ctx, next) => {
    if (ctx.host === host) return next();
    if (ctx.method === "GET" || ctx.method === "HEAD") {
      ctx.status = 308;
      ctx.redirect(`${issuer}${ctx.url}`);
    } else {
      ctx.status = 421;
      ctx.body = { error: "invalid_request", error_description: `this provider is ${issuer}` };
    }
  };
}

/** What every response has, also where the library has none of its own: nothing is there, or something failed. */
export function commonHeaders(): Middleware {
  const policy = contentSecurityPolicy();
  return async (ctx, next) => {
    ctx.set("Content-Security-Policy", policy);
    ctx.set("X-Content-Type-Options", "nosniff");
    ctx.set("Referrer-Policy", "same-origin");
    try {
      await next();
    } catch (error) {
      ctx.status = 500;
      return showError(ctx, { error: "server_error" }, error as Error);
    }
    if (ctx.status === 404 && (ctx.body === undefined || ctx.body === null)) showNotFound(ctx);
    else frameHandOver(ctx);
  };
}

/** Lets programs that run in a browser register; the library lets them do everything else. */
export function registrationFromBrowsers(): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== "/reg") return next();
    ctx.set("Access-Control-Allow-Origin", "*");
    if (ctx.method !== "OPTIONS") return next();
    ctx.set("Access-Control-Allow-Methods", "POST");
    ctx.set("Access-Control-Allow-Headers", "Content-Type");
    ctx.set("Access-Control-Max-Age", "3600");
    ctx.status = 204;
  };
}

/** Removes an empty `scope` from registration requests: some assistants fill in every field. */
export function tolerantRegistration(): Middleware {
  return async (ctx, next) => {
    if (ctx.path === "/reg" && ctx.method === "POST") {
      const { req } = ctx;
      const original = req.iterator.bind(req);
      req.iterator = (options) => withoutEmptyScope(original(options));
      // The length may change.
      if (req.headers["content-length"] !== undefined) {
        delete req.headers["content-length"];
        req.headers["transfer-encoding"] = "chunked";
      }
    }
    return next();
  };
}

const LONGEST_REGISTRATION = 56 * 1_024;

/** The body as one piece. A body that is too long or not a JSON object stays as it is: the library rejects it. */
async function* withoutEmptyScope(body: AsyncIterable<Buffer>): NodeJS.AsyncIterator<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > LONGEST_REGISTRATION) break;
  }
  const whole = Buffer.concat(chunks);
  yield length > LONGEST_REGISTRATION ? whole : scopeless(whole);
}

function scopeless(body: Buffer): Buffer {
  try {
    const metadata = JSON.parse(body.toString("utf8")) as unknown;
    if (typeof metadata !== "object" || metadata === null || !("scope" in metadata) || metadata.scope !== "")
      return body;
    const { scope: _empty, ...others } = metadata;
    return Buffer.from(JSON.stringify(others));
  } catch {
    return body;
  }
}

/**
 * Reads authorization requests with good will. One for the MCP server by any of its names is one without a resource:
 * the default has all the names, so that the client may use another one for its token. And one for nothing that we
 * know requests who the user is: many assistants request no scope at all.
 */
export function tolerantRequests(mcp: McpResource): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== "/auth" || ctx.method !== "GET") return next();
    const query = new URLSearchParams(ctx.querystring);
    if (
      query.get("client_id") !== DASHBOARD_ID &&
      query.getAll("resource").every((resource) => mcp.isNamedBy(resource))
    ) {
      query.delete("resource");
    }
    const scopes = (query.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
    if (query.getAll("scope").length < 2 && !scopes.some((scope) => SCOPES.some((known) => known === scope))) {
      query.set("scope", ["openid", ...scopes].join(" "));
    }
    ctx.querystring = query.toString();
    return next();
  };
}
