// Record of a finished request, from which come the log line, the metrics and the span.
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { Request, Response } from "../call/exchange.ts";
import { wasCutOff } from "../http/listener.ts";
import { pathOf } from "../http/inbound.ts";
import type { Inbound, Observation } from "../call/dispatch.ts";
import type { Tally } from "../tally.ts";

/** On which port a request came in. */
export type ListenerName = "public" | "internal";

/** How a request was spoken. `other` is what nothing serves. */
export type Wire = "rest" | "connect" | "grpc" | "grpc-web" | "mcp" | "page" | "probe" | "profile" | "other";

/** A request that is over. Whatever a caller may choose freely is not in it. */
export interface RequestRecord {
  readonly id: string;
  readonly listener: ListenerName;
  readonly wire: Wire;
  /** One that HTTP defines, else `other`. */
  readonly method: string;
  /** The template of the path; `-` for what is not served. */
  readonly route: string;
  readonly rpc: string | undefined;
  /** What an assistant read: the methods of MCP and, of these, the tools that it called. */
  readonly mcpMethods: string | undefined;
  readonly tools: string | undefined;
  readonly account: string | undefined;
  /** Which of several service tokens an operator used. */
  readonly serviceToken: string | undefined;
  /** The client's, as TRUST_PROXY lets it be known. */
  readonly address: string;
  /** What the request spent; undefined where nothing was counted. */
  readonly tally: Tally | undefined;
  readonly keyPrefix: string | undefined;
  /** The status that was sent; where there was none, 499 if the client left and 503 if this instance stopped. */
  readonly status: number;
  /** `ok` or the code of the failure, on the wires of rpcs. */
  readonly code: string | undefined;
  /** The status that the same outcome has over REST: gRPC sends 200 with every failure. */
  readonly outcome: number;
  readonly replayed: boolean;
  /** In a word, why the service failed the request, and what it was waiting for then. */
  readonly cause: string | undefined;
  readonly waitingFor: string | undefined;
  readonly ms: number;
}

/** Reports a request whose response is closed. */
export function recordOf(
  listener: ListenerName,
  request: Request,
  response: Response,
  { requestId, arrivedAt, address, tally, observation = {} }: Inbound,
): RequestRecord {
  const {
    route = "-",
    rpc,
    assistantReads = [],
    account,
    keyPrefix,
    serviceToken,
    failed,
    replayed = false,
    waitingFor,
  } = observation;
  // Node reports a stream that was reset as finished.
  const isCompleted = response.writableFinished && response.writableEnded;
  const isCutOff = !isCompleted && wasCutOff(response);
  const status = isCompleted ? response.statusCode : isCutOff ? 503 : 499;
  const wire = wireOf(pathOf(request), request.headers["content-type"] ?? "", route);
  return {
    id: requestId,
    listener,
    wire,
    method: methods.has(request.method ?? "") ? (request.method as string) : "other",
    route,
    rpc,
    mcpMethods: joined(new Set(assistantReads.map((read) => read.method))),
    tools: joined(assistantReads.filter((read) => read.method === "tools/call").map(({ detail }) => detail)),
    account: account?.toHexString(),
    keyPrefix,
    serviceToken,
    address,
    tally,
    status,
    code: isRpc(wire) && isCompleted ? codeOf(response, status, failed) : undefined,
    outcome: status === 200 ? (failed?.http ?? status) : status,
    replayed,
    cause: isCutOff ? "cut off" : observation.cause,
    waitingFor: isCutOff ? tally?.waits.at(-1)?.what : waitingFor,
    ms: performance.now() - arrivedAt,
  };
}

function joined(names: Iterable<string>): string | undefined {
  return [...names].join(" ") || undefined;
}

/** Whether a wire carries rpcs. */
export function isRpc(wire: Wire): boolean {
  return wire === "connect" || wire === "grpc" || wire === "grpc-web";
}

/** Whether a request only checks how the instance is. */
export function isProbe({ wire, rpc }: RequestRecord): boolean {
  return wire === "probe" || rpc?.startsWith("grpc.health.v1.") === true;
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"]);
const probes = new Set(["/livez", "/readyz", "/metrics"]);

function wireOf(path: string, contentType: string, route: string): Wire {
  if (path.startsWith("/v1/") || path === "/v1") return "rest";
  if (route === "-") return "other";
  if (path.startsWith("/records.") || path.startsWith("/grpc.")) {
    if (contentType.startsWith("application/grpc-web")) return "grpc-web";
    return contentType.startsWith("application/grpc") ? "grpc" : "connect";
  }
  if (path === "/mcp" || path.startsWith("/.well-known/")) return "mcp";
  if (path.startsWith("/profiles/")) return "profile";
  return probes.has(path) ? "probe" : "page";
}

/** What the library rejected by itself it reports in gRPC's trailers alone. */
function codeOf(
  response: Response & { readonly stream?: { readonly sentTrailers?: Readonly<Record<string, unknown>> } },
  status: number,
  failed: Observation["failed"],
): string | undefined {
  if (failed !== undefined) return codeToString(failed.code);
  const sent = response.stream?.sentTrailers?.["grpc-status"] ?? response.getHeader("grpc-status");
  if (sent !== undefined && sent !== "0") return codeToString(Number(sent));
  return status < 400 ? "ok" : undefined;
}
