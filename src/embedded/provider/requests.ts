// Middleware that precedes the library: one host, common headers, and tolerance for clients' requests.
import { DASHBOARD_ID } from "./clients.ts";
import { SCOPES, type McpResource } from "./mcp.ts";
import { frameHandOver, showError, showNotFound } from "./notices.ts";
import { contentSecurityPolicy, type Middleware } from "./page.ts";

/** Serves only the issuer's own host: cookies and links are for that host, and no other name may lead here. */
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

/** Sets the common headers of every response, and shows our own pages for 404 and for unexpected failures. */
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

/** Lets programs in a browser register. The library itself allows them all other requests. */
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

/**
 * Removes from registration requests what assistants send and a server may ignore (RFC 7591 §2): members that are null
 * or empty, and scopes, grant types and response types that are unknown here. Without any known one they are rejected.
 */
export function tolerantRegistration(): Middleware {
  return async (ctx, next) => {
    if (ctx.path === "/reg" && ctx.method === "POST") {
      const { req } = ctx;
      const original = req.iterator.bind(req);
      req.iterator = (options) => tolerantBody(original(options));
      // The length may change.
      if (req.headers["content-length"] !== undefined) {
        delete req.headers["content-length"];
        req.headers["transfer-encoding"] = "chunked";
      }
    }
    return next();
  };
}

const MAX_REGISTRATION_BYTES = 56 * 1_024;

/**
 * Yields the body as one piece. A body that is too long or not a JSON object is unchanged, and the library rejects it.
 */
async function* tolerantBody(body: AsyncIterable<Buffer>): NodeJS.AsyncIterator<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_REGISTRATION_BYTES) break;
  }
  const whole = Buffer.concat(chunks);
  yield length > MAX_REGISTRATION_BYTES ? whole : registrable(whole);
}

function registrable(body: Buffer): Buffer {
  try {
    const metadata = JSON.parse(body.toString("utf8")) as unknown;
    if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return body;
    const members = Object.entries(metadata)
      .map(([name, value]): [string, unknown] => [name, withoutUnknown(name, value)])
      .filter(([, value]) => value !== null && value !== "");
    return Buffer.from(JSON.stringify(Object.fromEntries(members)));
  } catch {
    return body;
  }
}

/** The values of lists that are known here. */
const known: ReadonlyMap<string, readonly string[]> = new Map([
  ["grant_types", ["authorization_code", "refresh_token"]],
  ["response_types", ["code"]],
]);

function withoutUnknown(name: string, value: unknown): unknown {
  // A client without any scope gets all of them at its sign-ins.
  if (name === "scope" && typeof value === "string")
    return value
      .split(" ")
      .filter((scope) => SCOPES.some((one) => one === scope))
      .join(" ");
  const values = known.get(name);
  if (values === undefined || !Array.isArray(value)) return value;
  const kept = value.filter((one) => values.includes(String(one)));
  return kept.length === 0 ? value : kept;
}

/**
 * Normalizes authorization requests. Removes `resource` if it names the MCP server: the default resource has all names
 * of the server, so the client may use another one for its token. Adds the scope `openid` if no known scope is
 * requested, because many assistants request none.
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
