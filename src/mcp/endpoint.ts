// The /mcp endpoint: Streamable HTTP without sessions. Its guards respond in the order of the contract (§8): 429, 503,
// 401 with the challenge, 403, 405.
import type { createMcpHandler } from "@modelcontextprotocol/server";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { bodyLimit } from "../http/body.ts";
import { failureEnvelope, setFailureHeaders, writeJson } from "../http/response.ts";
import { mongoFailureOf } from "../db/mongo.ts";
import { Failure, rejectInput } from "../call/errors.ts";
import type { AssistantAccess } from "../guards/assistant.ts";
import type { TokenFacts, UserProfile } from "../guards/call.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import type { AssistantRead, Inbound, OnError } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { loadOnce } from "../call/load-once.ts";
import type { Calls } from "./calls.ts";
import type { Assistant, AssistantFactory } from "./server.ts";
import type { ToolContext } from "./tool.ts";
import type { ReceivedBody } from "./web.ts";
import {
  acceptedForms,
  excessOf,
  receiveMessages,
  rejectDuplicateIds,
  rejectEncoded,
  rejectMalformed,
  streamAsJson,
  toResponse,
  toWebRequest,
  withNamedTypes,
  withoutForeignMembers,
} from "./web.ts";

/** Dependencies of the endpoint. */
export interface EndpointDependencies {
  readonly access: Pick<AssistantAccess, "enter" | "throttleMore">;
  readonly calls: Calls;
  /** Returns what the provider says of the holder of a token; undefined if it does not respond. Never rejects. */
  readonly userInfo: (accessToken: string, subject: string) => Promise<UserProfile | undefined>;
  /** Called once, when the MCP library is loaded. */
  readonly assistantFactory: () => Promise<AssistantFactory>;
  readonly where: { readonly baseUrl: string; readonly mcpUrl: string };
  /** Browser origins that may call the endpoint, in addition to our own. */
  readonly corsOrigins: readonly string[];
  /** Throttles a request that needs no token. Fails with RATE_LIMITED. */
  readonly throttleDocument: (inbound: Inbound) => Promise<void>;
  /** The size of a bucket, in tokens. A batch cannot have more messages. */
  readonly burst: number;
  /** Called for each read. */
  readonly onRead: (read: AssistantRead, holder: TokenFacts, inbound: Inbound) => void;
  readonly onError: OnError;
}

/** The MCP endpoint. `close` ends open streams. */
export interface Endpoint extends Surface {
  /** Loads the MCP library. A starting instance does not wait for it, but the first call would. */
  prepare(): Promise<unknown>;
  close(): Promise<void>;
}

/** A request whose token is proven. */
interface Exchange {
  readonly inbound: Inbound;
  readonly holder: TokenFacts;
}

/** The loaded MCP library. */
interface Library {
  readonly handler: ReturnType<typeof createMcpHandler>;
  readonly direct: typeof import("./direct.ts");
  readonly assistantFor: (exchange: Exchange) => Assistant;
}

const path = "/mcp";
/** The time limit of a stream. By then, each call of a request has its response (contract §10). */
const maxMs = 5_000;
const allow = "POST, OPTIONS";

export function createEndpoint(dependencies: EndpointDependencies): Endpoint {
  const { access, where } = dependencies;
  const library = loadOnce(() => load(dependencies));

  /** Serves a request. Returns the response to a plain tool call as JSON. */
  async function serve(
    request: Request,
    body: ReceivedBody,
    exchange: Exchange,
  ): Promise<string | globalThis.Response> {
    await requireAcceptable(body, exchange.inbound, dependencies); // 422, 429
    const json = withoutForeignMembers(body.json);
    const rejection = rejectEncoded(request.headers) ?? rejectDuplicateIds(json) ?? rejectMalformed(json);
    if (rejection !== undefined) return rejection;
    const { handler, direct, assistantFor } = await library.get();
    const accepted = acceptedForms(request.headers.accept);
    const headers = withNamedTypes(request.headers, accepted);
    const isPlain = accepted.json && direct.isOrdinary(headers, json);
    if (isPlain && json.method === "tools/call") return direct.respond(assistantFor(exchange).call, json);
    const authInfo = { token: "", clientId: "", scopes: [], extra: { exchange } };
    const sent = toWebRequest(request.method, headers, where.mcpUrl, body);
    const served = await handler.fetch(sent, { authInfo, parsedBody: json });
    return isPlain || (accepted.json && !accepted.stream) ? streamAsJson(served, Array.isArray(json)) : served;
  }

  return {
    serves: (requested) => requested === path,
    async handle(_path, request, response, inbound) {
      try {
        if (request.method === "OPTIONS") return await preflight(inbound, response, dependencies);
        const { holder, prove, received } = await access.enter(inbound); // 429, 503, 401, 403
        const rejection = rejectionOf(request, dependencies);
        if (rejection !== undefined) {
          await prove(); // 503, 401, 403
          throw rejection; // 403, 405
        }
        const body = await receiveMessages(request, bodyLimit, inbound);
        if (body === undefined) return;
        const exchange = { inbound: received(), holder };
        await prove(); // 503, 401, 403
        const made = await serve(request, body, exchange); // 422, 429
        if (typeof made === "string") writeJson(response, 200, made);
        else await toResponse(made, response, maxMs);
      } catch (error) {
        const failure = mongoFailureOf(error);
        dependencies.onError(failure, inbound);
        request.resume();
        writeRejection(response, failure, where.mcpUrl);
      }
    },
    prepare: library.get,
    close: async () => (await library.begun()?.catch(() => undefined))?.handler.close(),
  };
}

async function preflight(
  inbound: Inbound,
  response: Response,
  { throttleDocument }: EndpointDependencies,
): Promise<void> {
  await throttleDocument(inbound); // 429
  response.writeHead(204, { Allow: allow }).end();
}

async function load({
  calls,
  userInfo,
  assistantFactory,
  where,
  onRead,
  onError,
}: EndpointDependencies): Promise<Library> {
  const [{ createMcpHandler }, direct, createAssistant] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./direct.ts"),
    assistantFactory(),
  ]);
  const assistantFor = ({ inbound, holder }: Exchange): Assistant =>
    createAssistant(
      { calls, inbound, baseUrl: where.baseUrl, onError, ...userOf(inbound, holder, userInfo) },
      (read) => {
        observe(inbound, { assistantReads: [...(inbound.observation?.assistantReads ?? []), read] });
        // The response need not wait for the entry in the audit log.
        setImmediate(onRead, read, holder, inbound);
      },
    );
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const exchange = authInfo?.extra?.["exchange"] as Exchange | undefined;
      if (exchange === undefined) throw new Error("the MCP library lost the exchange of a request");
      return assistantFor(exchange).server();
    },
    { maxRequestBodySize: bodyLimit, onerror: () => undefined },
  );
  return { handler, direct, assistantFor };
}

/** Returns what the token says of the user, and a function that completes it with what the provider says. */
function userOf(
  inbound: Inbound,
  { profile = unknownUser, subject }: TokenFacts,
  userInfo: EndpointDependencies["userInfo"],
): Pick<ToolContext, "profile" | "user"> {
  return {
    profile,
    async user() {
      if (Object.values(profile).every((value) => value !== undefined)) return profile;
      // The request was admitted, so the header has this form.
      const token = inbound.header("authorization")?.replace(/^bearer +/i, "") ?? "";
      const said = await userInfo(token, subject);
      return {
        name: profile.name ?? said?.name,
        email: profile.email ?? said?.email,
        timeZone: profile.timeZone ?? said?.timeZone,
      };
    },
  };
}

const unknownUser: UserProfile = { name: undefined, email: undefined, timeZone: undefined };

/**
 * Returns why a request is rejected even if its token is valid. A page of another site must not make a browser send
 * requests here (DNS rebinding). Programs send no Origin header.
 */
function rejectionOf(
  { method, headers: { origin } }: Request,
  { where, corsOrigins }: EndpointDependencies,
): Failure | undefined {
  const own = [...corsOrigins, new URL(where.mcpUrl).origin, new URL(where.baseUrl).origin];
  if (origin !== undefined && !own.includes(origin))
    return new Failure(Reason.FOREIGN_ORIGIN, {
      message: "Origin: must be one that the operator allows (CORS_ORIGINS).",
    });
  return method === "POST" ? undefined : new Failure(Reason.METHOD_NOT_ALLOWED, { allow });
}

/**
 * Throttles the messages of a batch after the first, which is already throttled. Fails with INVALID_REQUEST if the
 * batch exceeds the bucket or the JSON has too many levels or values, and with RATE_LIMITED unless all messages fit.
 */
async function requireAcceptable(
  { json, messages }: ReceivedBody,
  inbound: Inbound,
  { burst, access }: EndpointDependencies,
): Promise<void> {
  const message = `a batch must have at most ${burst} messages`;
  if (messages > burst) rejectInput([{ field: "", rule: "batch", message }]);
  const excess = excessOf(json);
  if (excess !== undefined) rejectInput([{ field: "", rule: "size", message: excess }]);
  if (messages > 1) await access.throttleMore(inbound, messages - 1);
}

/** Writes the envelope with the members of a JSON-RPC error, so that clients show its message. */
function writeRejection(response: Response, failure: Failure, mcpUrl: string): void {
  if (response.headersSent) return void response.end();
  setFailureHeaders(response, failure);
  const status = failure.kind.http;
  if (status === 401) response.setHeader("WWW-Authenticate", challenge(failure.message, mcpUrl));
  writeJson(response, status, `{"jsonrpc":"2.0","id":null,${failureEnvelope(failure).slice(1)}`);
}

/** Returns the challenge of a 401 (RFC 6750 §3, RFC 9728 §5.1). */
function challenge(description: string, mcpUrl: string): string {
  const said = description.replace(/[^\x20-\x7e]|["\\]/g, "");
  return `Bearer error="invalid_token", error_description="${said}", resource_metadata="${new URL(mcpUrl).origin}/.well-known/oauth-protected-resource"`;
}
