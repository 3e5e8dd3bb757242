// Headers of every response of a surface, of any status (contract §2.8, §10).
import type { Config } from "../config/config.ts";
import type { Head, Request, Response } from "../call/exchange.ts";

/** Headers by name. */
export type HeaderList = readonly (readonly [string, string])[];

/** The headers of every response on every listener. Browsers must not guess another content type. */
export const contentHeaders: HeaderList = [["X-Content-Type-Options", "nosniff"]];

/** Returns a year of HSTS if `BASE_URL` is https (RFC 6797). It does not cover other hosts of the domain. */
export function transportHeaders({ baseUrl }: Pick<Config, "baseUrl">): HeaderList {
  return baseUrl !== undefined && new URL(baseUrl).protocol === "https:"
    ? [["Strict-Transport-Security", "max-age=31536000"]]
    : [];
}

/**
 * Returns `RateLimit-Limit` and `RateLimit-Policy`, in the early form of the IETF draft that the specification names.
 */
export function rateLimitHeaders({ rateLimit }: Pick<Config, "rateLimit">): HeaderList {
  return [
    ["RateLimit-Limit", String(rateLimit)],
    ["RateLimit-Policy", `${rateLimit};w=1`],
  ];
}

/** Returns `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) if the version is retired. */
export function retirementHeaders({ retirement }: Pick<Config, "retirement">): HeaderList {
  if (retirement === undefined) return [];
  return [
    ["Deprecation", `@${Math.floor(retirement.deprecatedAt.getTime() / 1000)}`],
    ["Sunset", retirement.sunsetAt.toUTCString()],
  ];
}

/** Returns the CORS headers of a response for requests from these origins. */
export function corsHeaders({ headers: { origin }, method }: Head, origins: readonly string[]): HeaderList {
  if (origins.length === 0) return [];
  if (origin === undefined || !origins.includes(origin)) return [["Vary", "Origin"]];
  return [
    ["Vary", "Origin"],
    ["Access-Control-Allow-Origin", origin],
    ["Access-Control-Expose-Headers", exposed],
    ...(method === "OPTIONS" ? preflight : []),
  ];
}

/** Sets the CORS headers of a document, which pages of every origin may read. */
export function setOpenCors(request: Request, response: Response): void {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Expose-Headers", exposed);
  if (request.method !== "OPTIONS") return;
  response.setHeader("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
  response.setHeader("Access-Control-Allow-Headers", "*, Authorization");
  response.setHeader("Access-Control-Max-Age", "7200");
}

/** Sets these headers on a response. */
export function setHeaders(response: Response, headers: HeaderList): void {
  for (const [name, value] of headers) response.setHeader(name, value);
}

const exposed = [
  "RateLimit-Limit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Request-Id",
  "ETag",
  "Location",
  "Idempotent-Replayed",
  "WWW-Authenticate",
  "Deprecation",
  "Sunset",
  "Grpc-Status",
  "Grpc-Message",
  "Grpc-Status-Details-Bin",
].join(", ");
/**
 * Ends with a wildcard for what the tools of a page add, such as tracing. The operator trusts the page, and its requests
 * have no cookies. Old browsers read only the names, and `Authorization` must be named in all.
 */
const allowed = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "X-Request-Id",
  "Mcp-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Session-Id",
  "Last-Event-Id",
  "Traceparent",
  "Tracestate",
  "Baggage",
  "Connect-Protocol-Version",
  "Connect-Timeout-Ms",
  "Grpc-Timeout",
  "X-Grpc-Web",
  "X-User-Agent",
  "*",
].join(", ");

const preflight: HeaderList = [
  ["Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE, OPTIONS"],
  ["Access-Control-Allow-Headers", allowed],
  ["Access-Control-Max-Age", "7200"],
];
