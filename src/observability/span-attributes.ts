// How spans are named and what they have, by OpenTelemetry's semantic conventions; never a value of a caller's or of a
// record.
import type { Attributes } from "@opentelemetry/api";
import type { Command } from "./commands.ts";
import type { RequestRecord } from "./record.ts";
import { isRpc } from "./record.ts";

/** The rpc where the wire is one of rpcs, else method and template. */
export function requestName({ wire, method, route, rpc }: RequestRecord): string {
  if (isRpc(wire) && rpc !== undefined) return rpc;
  return route === "-" ? method : `${method} ${route}`;
}

/** Attributes of a server span (HTTP, RPC, MCP). */
export function requestAttributes(
  { wire, method, route, rpc, mcpMethods, tools, status, code, outcome }: RequestRecord,
  httpVersion: string,
): Attributes {
  return {
    "http.request.method": method === "other" ? "_OTHER" : method,
    ...(route === "-" ? {} : { "http.route": route }),
    "http.response.status_code": status,
    "network.protocol.name": "http",
    "network.protocol.version": httpVersion.replace(/\.0$/, ""),
    "url.scheme": "http",
    "records.wire": wire,
    ...(isRpc(wire) && rpc !== undefined
      ? { "rpc.system.name": wire === "connect" ? "connectrpc" : "grpc", "rpc.method": rpc }
      : {}),
    ...(code === undefined ? {} : { "rpc.response.status_code": code }),
    ...(mcpMethods === undefined ? {} : { "mcp.method.name": mcpMethods }),
    ...(tools === undefined ? {} : { "gen_ai.tool.name": tools }),
    ...(outcome >= 500 ? { "error.type": code ?? String(status) } : {}),
  };
}

/** `find contacts`, or only the operation where there is no collection. */
export function commandName({ name, collection }: Command): string {
  return collection === undefined ? name : `${name} ${collection}`;
}

/** Attributes of a client span to a database: the operation, and not its statement. */
export function commandAttributes({ system, name, database, collection, address = "" }: Command): Attributes {
  const [, host = address, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  return {
    "db.system.name": system,
    "db.operation.name": name,
    ...(database === undefined ? {} : { "db.namespace": database }),
    ...(collection === undefined ? {} : { "db.collection.name": collection }),
    ...(host === "" ? {} : { "server.address": host }),
    ...(port === undefined ? {} : { "server.port": Number(port) }),
  };
}
