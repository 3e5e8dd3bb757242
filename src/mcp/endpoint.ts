// /mcp: Streamable HTTP without sessions, behind its guards in the contract's order (§8): 429, 503, 401 with the
// challenge, 405.
import type { createMcpHandler } from "@modelcontextprotocol/server";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { bodyLimit } from "../../gateway/body.ts";
import { failureEnvelope, setFailureHeaders, writeFailure, writeJson } from "../../gateway/response.ts";
import { failureFrom } from "../db/mongo.ts";
import type { Failure } from "../errors.ts";
import { fail, refuse } from "../errors.ts";
import type { AssistantAccessPolicy } from "../guards/assistant.ts";
import type { TokenFacts } from "../guards/call.ts";
import type { Request, Response } from "../http/exchange.ts";
import type { Surface } from "../http/public.ts";
import type { Inbound, OnError } from "../rpc/dispatch.ts";
import { observe } from "../rpc/dispatch.ts";
import type { Calls } from "./calls.ts";
import type { ServerFactory } from "./server.ts";
import { toResponse, toWebRequest } from "./web.ts";

/** Its dependencies. */
export interface EndpointDependencies {
  readonly accessPolicy: Pick<AssistantAccessPolicy, "enter" | "throttleMore">;
  readonly calls: Calls;
  /** Asked for once, when the protocol's library is loaded. */
  readonly serverFactory: () => Promise<ServerFactory>;
  readonly where: { readonly baseUrl: string; readonly mcpUrl: string };
  /** Origins of browsers that may call, beside our own. */
  readonly corsOrigins: readonly string[];
  /** The size of a bucket, in tokens: no batch can have more messages. */
  readonly burst: number;
  /** Hears of each tool call: which tool, not with what. */
  readonly onToolCall: (tool: string, holder: TokenFacts, inbound: Inbound) => void;
  readonly onError: OnError;
}

/** The endpoint, and how to end what still streams. */
export interface Endpoint extends Surface {
  /** Loads the protocol's library, which an instance that starts does not wait for: the first call would. */
  prepare(): Promise<unknown>;
  close(): Promise<void>;
}

interface Exchange {
  readonly inbound: Inbound;
  readonly holder: TokenFacts;
}

type McpHandler = ReturnType<typeof createMcpHandler>;

const path = "/mcp";
/** Arguments are ids and words. */
const allow = "POST, OPTIONS";

export function createEndpoint(dependencies: EndpointDependencies): Endpoint {
  const { accessPolicy, where } = dependencies;
  let prepared: Promise<McpHandler> | undefined;
  const prepare = (): Promise<McpHandler> => (prepared ??= load(dependencies));

  return {
    serves: (asked) => asked === path,
    async handle(_path, request, response, inbound) {
      try {
        if (request.method === "OPTIONS") return void response.writeHead(204, { Allow: allow }).end();
        const holder = await accessPolicy.enter(inbound); // 429, 503, 401, 403
        requireOrigin(request, dependencies); // 403
        if (request.method !== "POST") fail(Reason.METHOD_NOT_ALLOWED, { allow });
        const exchange: Exchange = { inbound, holder };
        const authInfo = { token: "", clientId: "", scopes: [], extra: { exchange } };
        const asked = await toWebRequest(request, where.mcpUrl, bodyLimit);
        if (asked === undefined) return;
        await throttleBatch(inbound, asked.messages, dependencies); // 422, 429
        await toResponse(await (await prepare()).fetch(asked.request, { authInfo }), response);
      } catch (error) {
        const failure = failureFrom(error);
        dependencies.onError(failure, inbound);
        request.resume();
        writeRejection(response, failure, where.mcpUrl);
      }
    },
    prepare,
    close: async () => (await prepared)?.close(),
  };
}

async function load({ calls, serverFactory, where, onToolCall }: EndpointDependencies): Promise<McpHandler> {
  const [{ createMcpHandler }, createServer] = await Promise.all([
    import("@modelcontextprotocol/server"),
    serverFactory(),
  ]);
  return createMcpHandler(
    ({ authInfo }) => {
      const exchange = authInfo?.extra?.["exchange"] as Exchange | undefined;
      if (exchange === undefined) throw new Error("the MCP library lost the exchange of a request");
      const { inbound, holder } = exchange;
      return createServer({ calls, inbound, baseUrl: where.baseUrl }, (tool) => {
        observe(inbound, { tools: [...(inbound.observation?.tools ?? []), tool] });
        onToolCall(tool, holder, inbound);
      });
    },
    { maxRequestBodySize: bodyLimit, onerror: () => undefined },
  );
}

/** A browser that is on another's page must not be led here (DNS rebinding); programs send no origin. */
function requireOrigin({ headers: { origin } }: Request, { where, corsOrigins }: EndpointDependencies): void {
  if (origin === undefined || corsOrigins.includes(origin)) return;
  if (origin === new URL(where.mcpUrl).origin || origin === new URL(where.baseUrl).origin) return;
  fail(Reason.FOREIGN_ORIGIN, {
    message: "Origin: must be one that whoever runs the service allows (CORS_ORIGINS).",
  });
}

/**
 * Takes a token for each message of a batch after the first, which is paid. Rejects a batch that does not fit as a
 * whole.
 */
async function throttleBatch(
  inbound: Inbound,
  messages: number,
  { burst, accessPolicy }: EndpointDependencies,
): Promise<void> {
  const message = `a batch must have at most ${burst} messages`;
  if (messages > burst) refuse([{ field: "", rule: "batch", message }]);
  if (messages > 1) await accessPolicy.throttleMore(inbound, messages - 1);
}

function writeRejection(response: Response, failure: Failure, mcpUrl: string): void {
  if (response.headersSent) return void response.end();
  if (failure.reason === Reason.RATE_LIMITED) return writeThrottled(response, failure);
  if (failure.kind.http !== 401) return writeFailure(response, failure);
  response.setHeader("WWW-Authenticate", challenge(failure.message, mcpUrl));
  writeJson(response, 401, failureEnvelope(failure));
}

/** Adds the JSON-RPC members to the envelope, so that clients show its message. */
function writeThrottled(response: Response, failure: Failure): void {
  setFailureHeaders(response, failure);
  writeJson(response, failure.kind.http, `{"jsonrpc":"2.0","id":null,${failureEnvelope(failure).slice(1)}`);
}

/** The challenge of every 401 (RFC 6750 §3, RFC 9728 §5.1). */
function challenge(description: string, mcpUrl: string): string {
  const said = description.replace(/[^\x20-\x7e]|["\\]/g, "");
  return `Bearer error="invalid_token", error_description="${said}", resource_metadata="${new URL(mcpUrl).origin}/.well-known/oauth-protected-resource"`;
}
