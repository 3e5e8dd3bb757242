// Direct path for ordinary requests of revisions before 2026-07-28: skips the Fetch objects and streams of the
// library's HTTP handler, which take most of its time.
import type { JSONRPCMessage, JSONRPCRequest, Server, Transport } from "@modelcontextprotocol/server";
import { SUPPORTED_PROTOCOL_VERSIONS, classifyInboundRequest, isJsonContentType } from "@modelcontextprotocol/server";
import type { Request } from "../call/exchange.ts";

/**
 * Whether the body is a request that the library's HTTP handler would pass to a server unchanged. That handler gets
 * everything else, such as a batch, `initialize` or a request that its headers make invalid.
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

/**
 * Returns the server's response to the request, as JSON. The server must be new, because it serves only this request.
 */
export async function respond(server: Server, request: JSONRPCRequest): Promise<string> {
  const exchange = createExchange();
  await server.connect(exchange.transport);
  exchange.transport.onmessage?.(request);
  return JSON.stringify(await exchange.response);
}

/** Creates a transport for one request and its response. */
function createExchange(): { readonly transport: Transport; readonly response: Promise<JSONRPCMessage> } {
  let take: (message: JSONRPCMessage) => void;
  const response = new Promise<JSONRPCMessage>((resolve) => (take = resolve));
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send(message) {
      // A handler's own requests and notifications would need a stream. Ours send none.
      if ("method" in message)
        return Promise.reject(new Error(`nothing but a response can be sent: ${message.method}`));
      take(message);
      return Promise.resolve();
    },
  };
  return { transport, response };
}
