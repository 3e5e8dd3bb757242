// Record of a finished request: the source of its log line, metrics and span.
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { Head, Request, Response } from "../call/exchange.ts";
import { wasSentWhole } from "../http/linger.ts";
import { wasCutOff } from "../http/listener.ts";
import { pathOf } from "../http/inbound.ts";
import type { Inbound, Observation } from "../call/dispatch.ts";
import type { Tally } from "../call/tally.ts";

/** The listener that received a request. */
export type ListenerName = "public" | "internal";

/** The protocol or kind of a request. `other` means that no surface serves its path. */
export type Wire = "rest" | "connect" | "grpc" | "grpc-web" | "mcp" | "page" | "probe" | "profile" | "other";

/** A finished request. It contains nothing that a caller can choose freely. */
export interface RequestRecord {
  readonly id: string;
  readonly listener: ListenerName;
  readonly wire: Wire;
  /** A method that HTTP defines, else `other`. */
  readonly method: string;
  /** The template of the path; `-` for a path that is not served. */
  readonly route: string;
  readonly rpc: string | undefined;
  /** The MCP methods with which an assistant read records, and the tools that it called. */
  readonly mcpMethods: string | undefined;
  readonly tools: string | undefined;
  readonly account: string | undefined;
  /** The first 8 hexadecimal digits of the SHA-256 of the operator's service token. */
  readonly serviceToken: string | undefined;
  /** The address of the client, as determined with TRUST_PROXY. */
  readonly address: string;
  /** The time and commands that the request spent; undefined if they were not counted. */
  readonly tally: Tally | undefined;
  readonly keyPrefix: string | undefined;
  /**
   * The status of the response. Without a complete response, 499 if the client disconnected and 503 if this instance
   * stopped.
   */
  readonly status: number;
  /** `ok` or the code of the failure, on RPC wires only. */
  readonly code: string | undefined;
  /** The REST status of the same outcome, because gRPC sends 200 with every failure. */
  readonly outcome: number;
  readonly replayed: boolean;
  /** A short reason why the service failed the request, and the resource for which it was waiting at the time. */
  readonly cause: string | undefined;
  readonly waitingFor: string | undefined;
  readonly ms: number;
}

/** Returns the record of a request whose response is closed. */
export function recordOf(
  listener: ListenerName,
  request: Request,
  response: Response,
  { requestId, arrivedAt, address, tally, observation = {} }: Inbound,
): RequestRecord {
  const {
    route = "-",
    rpc,
    assistantReads: reads,
    account,
    keyPrefix,
    serviceToken,
    failed,
    replayed = false,
    waitingFor,
  } = observation;
  // `writableEnded` is checked too, because Node reports a reset stream as finished.
  const isCompleted = (response.writableFinished && response.writableEnded) || wasSentWhole(response);
  const isCutOff = !isCompleted && wasCutOff(response);
  const status = isCompleted ? response.statusCode : isCutOff ? 503 : 499;
  const wire = wireOf(pathOf(request), request.headers["content-type"] ?? "", route);
  return {
    id: requestId,
    listener,
    wire,
    method: methodOf(request),
    route,
    rpc,
    mcpMethods: reads && joined(new Set(reads.map((read) => read.method))),
    tools: reads && joined(reads.filter(({ method }) => method === "tools/call").map(({ detail }) => detail)),
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

/** Returns the method of a request, or `other` for one that HTTP does not define. */
export function methodOf({ method = "" }: Head): string {
  return methods.has(method) ? method : "other";
}

/** Returns the wire of a request that was rejected before its route was found. */
export function wireOfShed(head: Head): Wire {
  const path = pathOf(head);
  return wireOf(path, head.headers["content-type"] ?? "", path);
}

function joined(names: Iterable<string>): string | undefined {
  return [...names].join(" ") || undefined;
}

/** Whether requests on this wire are RPCs. */
export function isRpc(wire: Wire): boolean {
  return wire === "connect" || wire === "grpc" || wire === "grpc-web";
}

/** Whether a request only checks the health of the instance. */
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

/**
 * Returns the code of the failure, or `ok`. If the RPC library itself rejected the request, the code is only in gRPC's
 * trailers or headers.
 */
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
