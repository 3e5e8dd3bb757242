// Wires the public listener: REST, Connect and gRPC, the dashboard, the reference, the guide, MCP, and the documents.
import { createGateway } from "../../gateway/handler.ts";
import type { OpenApiOptions } from "../http/openapi-settings.ts";
import type { ServedDocument } from "../../gateway/openapi.ts";
import { interfaceDocuments, openApiDocument } from "../../gateway/openapi.ts";
import { createDashboard } from "../dashboard/surface.ts";
import { createGuide } from "../guide/surface.ts";
import type { Surface } from "../call/exchange.ts";
import { healthStatus, interfaceVersion } from "../health/service.ts";
import { createListener } from "../http/listener.ts";
import { publicListener } from "./public-listener.ts";
import type { StaticFile } from "../http/static-files.ts";
import { staticFile } from "../http/static-files.ts";
import { countSent } from "../large/sending.ts";
import type { Mcp } from "../mcp/surface.ts";
import { createMcp } from "../mcp/surface.ts";
import { llmsText } from "../reference/llms.ts";
import { postmanCollection } from "../reference/postman.ts";
import { createReference } from "../reference/surface.ts";
import { createRpcSurface } from "../rpc/connect.ts";
import type { Services } from "./services.ts";
import type { Foundation } from "./foundation.ts";
import type { Guards } from "./guards.ts";
import type { Identity } from "./identity.ts";
import type { Rpcs } from "./rpcs.ts";
import type { Storage } from "./storage.ts";

/** Creates the public listener, and its documents. */
export function createPublicSide(
  foundation: Foundation,
  { services, switches }: Pick<Storage, "services" | "switches">,
  identity: Identity,
  guards: Guards,
  rpcs: Rpcs,
) {
  const { config, observability, where } = foundation;
  const { around, onError } = observability;
  const { dispatch, limits, sessionCookie } = guards;
  const { throttleDocument } = limits;
  const documentOptions = (): OpenApiOptions => ({ ...config, ...where, sessionCookie: sessionCookie.name() });
  const { documentProvider } = config;
  const dashboard = createDashboard({
    signIn: identity.signIn,
    throttleAsset: throttleDocument,
    onError,
    enter: guards.sessions.enter,
    readRecords: guards.sessions.readRecords,
    usage: services.usage,
    limits: { rate: config.rateLimit, burst: config.rateBurst },
    records: services,
    enterLogout: guards.enterLogout,
    baseUrl: () => where.baseUrl,
    mcpUrl: () => where.mcpUrl,
    health: () => healthStatus(rpcs.health),
    interfaceOff: () => !switches.state().publicInterface,
  });
  const { sendLarge } = limits;
  const pages = {
    baseUrl: () => where.baseUrl,
    throttle: throttleDocument,
    sendLarge,
    reject: dashboard.rejectRequest,
  };
  const mcp = createMcpSide(foundation, services, identity, guards, documentOptions);
  const documents = new Map<string, () => StaticFile>();
  const surfaces = {
    rest: createGateway({ dispatch: dispatch.open, documentProvider, onError }),
    rpc: createRpcSurface(rpcs.open.keys(), dispatch.open, onError),
    others: [dashboard, createReference(pages), createGuide(pages), ...mcp.surfaces.map(countedAfter)],
    rejectUnknown: dashboard.rejectRequest,
    documents,
  };
  const throttles = { throttle: dispatch.open.throttle, throttleDocument };
  const options = publicListener(config, {
    ...surfaces,
    ...throttles,
    shed: guards.shed,
    onError,
    ...observability.requests("public", services.usage.count),
  });
  return {
    listener: createListener(around(options)),
    /** Publishes the documents. Call it once the addresses in them are known. */
    publish() {
      const addresses = { baseUrl: where.baseUrl, mcpUrl: identity.provider && where.mcpUrl };
      const served = new Map<string, ServedDocument>([
        ...interfaceDocuments(documentOptions()),
        [
          "/postman.json",
          {
            type: "application/json; charset=utf-8",
            render: () =>
              Buffer.from(JSON.stringify(postmanCollection(openApiDocument(documentOptions()), where.baseUrl))),
          },
        ],
        [
          "/llms.txt",
          {
            type: "text/plain; charset=utf-8",
            render: () => Buffer.from(llmsText(openApiDocument(documentOptions()), addresses)),
          },
        ],
      ]);
      for (const [path, document] of served) documents.set(path, fileOnce(path, document));
    },
    /** Creates the documents and the MCP surface, so that no first request has to wait for them. */
    async prepare() {
      for (const create of documents.values()) create();
      if (identity.provider !== undefined) await mcp.prepare();
    },
  };
}

/** Returns a function that creates the file of a document when it is first called. */
function fileOnce(path: string, { type, render }: ServedDocument): () => StaticFile {
  let file: StaticFile | undefined;
  return () => (file ??= staticFile(path, render(), type));
}

/**
 * Wraps a surface that writes its responses piece by piece. When the handler is done, counts the bytes that the client
 * has not read yet.
 */
function countedAfter(surface: Surface): Surface {
  return {
    ...surface,
    async handle(path, request, response, inbound) {
      await surface.handle(path, request, response, inbound);
      countSent(response, inbound.tally, response.writableLength);
    },
  };
}

function createMcpSide(
  { config, dependencies, observability, where, opened }: Foundation,
  { audit }: Services,
  { provider }: Identity,
  { assistants, dispatch, limits }: Guards,
  documentOptions: () => OpenApiOptions,
): Mcp {
  const mcp = createMcp({
    provider,
    issuer: dependencies.oidc?.issuer,
    access: assistants,
    dispatch: dispatch.assistants,
    documentProvider: config.documentProvider,
    document: () => openApiDocument(documentOptions()),
    version: interfaceVersion,
    where,
    corsOrigins: config.corsOrigins,
    scopes: config.mcpScopes,
    audit,
    throttleDocument: limits.throttleDocument,
    burst: config.rateBurst,
    onError: observability.onError,
  });
  opened.push(() => mcp.close());
  return mcp;
}
