// Names and attributes of spans, by OpenTelemetry's semantic conventions. They contain no value of a caller or a
// record.
import type { Attributes } from "@opentelemetry/api";
import type { Command } from "./commands.ts";
import type { RequestRecord } from "./record.ts";
import { isRpc } from "./record.ts";

/** Returns the name of a request's span: the RPC on an RPC wire, else method and path template. */
export function requestName({ wire, method, route, rpc }: RequestRecord): string {
  if (isRpc(wire) && rpc !== undefined) return rpc;
  return route === "-" ? method : `${method} ${route}`;
}

/** Returns the attributes of a server span (HTTP, RPC, MCP). */
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

/** Returns the name of a command's span: `find contacts`, or only the operation if there is no collection. */
export function commandName({ name, collection }: Command): string {
  return collection === undefined ? name : `${name} ${collection}`;
}

/** Returns the attributes of a database client span: the operation without its statement. */
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
