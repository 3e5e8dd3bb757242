// Direct path for tool calls of revisions before 2026-07-28, without the library: its Fetch objects, streams and
// validators take longer than most calls.
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import {
  ProtocolError,
  SUPPORTED_PROTOCOL_VERSIONS,
  classifyInboundRequest,
  isJsonContentType,
} from "@modelcontextprotocol/server";
import type { Request } from "../call/exchange.ts";
import type { Assistant } from "./server.ts";

/**
 * Whether the body is a request that the library's HTTP handler would pass to a server unchanged: not a batch, an
 * `initialize` or a request that its headers make invalid.
 */
export function isOrdinary(headers: Request["headers"], body: unknown): body is JSONRPCRequest {
  if (body === undefined || Array.isArray(body)) return false;
  const { accept = "", "content-type": type, "mcp-protocol-version": version } = headers;
  if (Array.isArray(version) || (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version))) return false;
  if (!accept.includes("application/json") || !accept.includes("text/event-stream")) return false;
  if (!isJsonContentType(type ?? null)) return false;
  const route = classifyInboundRequest({
    httpMethod: "POST",
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    body,
  });
  return route.kind === "legacy" && route.reason === "no-claim";
}

/** Returns the response to a tool call, as JSON. Fails with an error that is not for the caller. */
export async function respond(call: Assistant["call"], { id, params }: JSONRPCRequest): Promise<string> {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`;
  try {
    const { content, text } = await call(params);
    const more = content === undefined ? '"isError":true' : `"structuredContent":${text}`;
    return `${head},"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}],${more}}}`;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message, data } = error;
    return `${head},"error":${JSON.stringify({ code, message, data })}}`;
  }
}
