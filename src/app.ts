// The composition root: wires stores, services, guards and surfaces into one instance. The only file that knows everything.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { MongoClient } from "mongodb";
import type { Logger } from "pino";
import { createGateway } from "../gateway/handler.ts";
import type { OpenApiOptions } from "../gateway/openapi.ts";
import { openApiDocument, openApiFiles } from "../gateway/openapi.ts";
import { createRenderBody } from "../gateway/response.ts";
import type { ServedText } from "../gateway/served-text.ts";
import { lazily } from "../gateway/served-text.ts";
import { createAccountService } from "./accounts/service.ts";
import { hashSecret, isSecret } from "./api-keys/secret.ts";
import { recordRefusals } from "./audit/refusals.ts";
import { startBackground } from "./background.ts";
import type { Config, OidcConfig } from "./config.ts";
import { createDashboard } from "./dashboard/surface.ts";
import { ensureIndexes, longBuilds } from "./db/indexes.ts";
import { connectMongo } from "./db/mongo.ts";
import { poolOf } from "./db/pool.ts";
import { primaryOf } from "./db/primary.ts";
import type { RedisLink } from "./db/redis.ts";
import { connectRedis } from "./db/redis.ts";
import { AccountService } from "./gen/records/admin/v1/accounts_pb.ts";
import { InstanceService } from "./gen/records/admin/v1/instance_pb.ts";
import { InterfaceService } from "./gen/records/admin/v1/interface_pb.ts";
import { IngestService } from "./gen/records/ingest/v1/ingest_pb.ts";
import { ApiKeyService } from "./gen/records/v1/api_keys_pb.ts";
import { AuditService } from "./gen/records/v1/audit_pb.ts";
import { ContactService, GetContactRequestSchema } from "./gen/records/v1/contacts_pb.ts";
import { HealthService } from "./gen/records/v1/health_pb.ts";
import { NoteService } from "./gen/records/v1/notes_pb.ts";
import { SessionService } from "./gen/records/v1/sessions_pb.ts";
import { assistantDoor } from "./guards/assistant.ts";
import { createAuthentication } from "./guards/authenticate.ts";
import type { Handler } from "./guards/chain.ts";
import { createDispatch } from "./guards/chain.ts";
import { internalDoor, publicDoor } from "./guards/doors.ts";
import { createIdempotency } from "./guards/idempotency.ts";
import { createInternalAccess } from "./guards/internal.ts";
import { createLimits } from "./guards/limits.ts";
import { createReservations } from "./guards/reservations.ts";
import { createSessionGuard } from "./guards/session.ts";
import { createStreamDispatch } from "./guards/stream.ts";
import { compileRules, warmUp } from "./guards/validate.ts";
import { createHealthService, interfaceVersion } from "./health/service.ts";
import { internalOptions } from "./http/internal.ts";
import { createListener } from "./http/listener.ts";
import { listen } from "./http/ports.ts";
import { publicListener } from "./http/public.ts";
import { createProfiles } from "./instance/profiles.ts";
import { createInstanceService } from "./instance/service.ts";
import { createMcp, createTokens } from "./mcp/surface.ts";
import { createObservability } from "./observability/observability.ts";
import { release } from "./observability/release.ts";
import { llmsText } from "./reference/llms.ts";
import { createReference } from "./reference/surface.ts";
import { createRpcSurface } from "./rpc/connect.ts";
import { registerHealth } from "./rpc/health.ts";
import { registerReflection } from "./rpc/reflection.ts";
import { route } from "./rpc/routes.ts";
import type { Services } from "./services.ts";
import { createServices, indexesFor } from "./services.ts";
import { createEndedSessions } from "./sign-in/ended-store.ts";
import { createIdentityProvider } from "./sign-in/provider.ts";
import { createDashboardSessions } from "./sign-in/session-store.ts";
import { createSessionCookie, createSignIn } from "./sign-in/sign-in.ts";
import { createInterfaceService, switchName } from "./switches/service.ts";
import { watchSwitches } from "./switches/store.ts";

/** Where the parts are that an instance needs. */
export interface Parts {
  readonly mongodbUri: string;
  /** Undefined where no Redis can be had: each instance is then on its own. */
  readonly redisUrl: string | undefined;
  readonly serviceTokens: readonly string[];
  /** Undefined where there is no identity provider: sign-in is off. */
  readonly oidc: OidcConfig | undefined;
  readonly sessionSecrets: NonNullable<Config["sessionSecrets"]>;
}

/** A running instance. */
export interface App {
  readonly port: number;
  readonly internalPort: number;
  readonly baseUrl: string;
  readonly mcpUrl: string;
  readonly services: Services;
  readonly client: MongoClient;
  /** Stops taking connections, lets what runs finish, and closes every connection: the idle ones after `idleMs`, by default at once. */
  stop(idleMs?: number): Promise<void>;
}

const mongoWaitMs = 30_000;
const graceMs = 10_000;

/**
 * Starts an instance. `prepare` runs before anyone is listened to. Rejects when MongoDB cannot be reached within 30
 * seconds, or a port is taken.
 */
export async function startApp(config: Config, parts: Parts, log: Logger, prepare: (services: Services) => Promise<void> = async () => undefined): Promise<App> {
  const opened: Opened = [];
  try {
    return await assemble(config, parts, log, prepare, opened);
  } catch (error) {
    await closeAll(opened).catch(() => undefined);
    throw error;
  }
}

/** How to close what was opened, the last of it first. */
type Opened = (() => Promise<void> | void)[];

/** What cannot be closed leaves none of the others open. */
async function closeAll(opened: Opened): Promise<void> {
  const close = opened.pop();
  if (close !== undefined) await Promise.resolve().then(close).finally(() => closeAll(opened));
}

async function assemble(config: Config, parts: Parts, log: Logger, prepare: (services: Services) => Promise<void>, opened: Opened): Promise<App> {
  const connecting = connectMongo(parts.mongodbUri, mongoWaitMs);
  // While that waits.
  compileRules(GetContactRequestSchema);
  const client = await connecting;
  opened.push(() => client.close());
  let redis: RedisLink | undefined;
  const observability = await createObservability(config.tracing, log);
  opened.push(() => observability.close());
  const { metrics, around, onError } = observability;
  const services = createServices(client, () => redis, observability.services);
  await ensureIndexes(client.db(), indexesFor(config), { waitMs: mongoWaitMs, onPlan: longBuilds((indexes) => log.warn({ indexes }, "the start waits until indexes are built: run records migrate before an upgrade")) });
  await prepare(services);

  observability.watchMongo(client);
  redis = parts.redisUrl === undefined ? undefined : await openRedis(parts.redisUrl);
  const primary = primaryOf(client);
  const watch = await watchSwitches(primary);
  opened.push(startBackground(client, services, observability.services, log));
  let [stopping, idleMs] = [false, 0];
  primary.onLease(({ held, reason }) => (held ? log.info("the primary of MongoDB is proven again") : log.warn({ reason }, "no lease on the primary of MongoDB: what needs it is answered 503")));

  const idempotency = createIdempotency(client.db(), createReservations(redis), createRenderBody(config.documentProvider));
  const { throttle, capacity, throttleDocument, sendLarge, recognizers, fallbackBuckets } = createLimits(redis, { rate: config.rateLimit, burst: config.rateBurst }, config.maxInFlight, metrics);
  const authentication = createAuthentication({
    isSecret,
    hash: hashSecret,
    async find(hash, deadline) {
      const key = await services.apiKeys.find(hash, deadline);
      return key && { hash, keyId: key.key_id, accountId: key.account_id, readOnly: key.access === "read_only", prefix: key.prefix, suspended: key.suspended };
    },
  }, recognizers);

  // Where we are is known when we are listened to.
  const where = { baseUrl: config.baseUrl ?? "", mcpUrl: config.mcpUrl ?? "" };
  const sessionCookie = createSessionCookie(() => where.baseUrl);
  const documentOptions = (): OpenApiOptions => ({ ...config, ...where, sessionCookie: sessionCookie.name() });
  if (config.oidc !== undefined && config.mcpAudiences.length === 0) log.warn("MCP_AUDIENCE is not set: an access token that the identity provider issued for another application opens the MCP surface as well");
  const provider = parts.oidc && createIdentityProvider({ ...parts.oidc, outgoing: observability.outgoing, onAnswer: metrics.identityProvider });
  const ended = createEndedSessions(client.db());
  const signIn = provider && createSignIn({
    provider,
    sessions: createDashboardSessions(client.db(), parts.sessionSecrets),
    ended,
    accounts: services.accounts,
    audit: services.audit,
    secrets: parts.sessionSecrets,
    baseUrl: () => where.baseUrl,
  });

  const publicHandlers = new Map<DescMethodUnary, Handler>();
  const facts = {
    reachable: () => watch.reachable() && (redis === undefined || redis.ready()),
    enabled: () => watch.state().publicInterface,
  };
  route(publicHandlers, HealthService, createHealthService(facts));
  route(publicHandlers, ContactService, services.contacts);
  route(publicHandlers, SessionService, services.sessions);
  route(publicHandlers, NoteService, services.notes);
  const internalHandlers = new Map(publicHandlers);
  route(internalHandlers, AccountService, createAccountService(services.accounts, services.erasures, services.levers));
  route(internalHandlers, InterfaceService, createInterfaceService({
    switches: services.switches,
    refresh: watch.refresh,
    onChange: (setting, { requestId: id, address, token }) => log.warn({ id, ...setting, switch: switchName(setting.switch), address, token }, "switched"),
  }));
  route(internalHandlers, InstanceService, createInstanceService(log, config.logLevel));
  route(internalHandlers, IngestService, services.ingest);
  // What a signed-in person does is there over REST alone.
  const restHandlers = new Map(publicHandlers);
  route(restHandlers, ApiKeyService, services.apiKeyService);
  route(restHandlers, AuditService, services.auditLog);

  const sessions = createSessionGuard({
    read: sessionCookie.read,
    find: async (cookies, deadline) => signIn?.find(cookies, deadline),
    ...{ origin: () => new URL(where.baseUrl).origin, recognizers, capacity },
  });
  const door = publicDoor({
    ...{ authentication, sessions },
    switches: watch.state,
    requireFreshSwitches: watch.requireFresh,
    onUse: ({ hash }) => services.lastUse.note(hash),
    onRefusal: recordRefusals(services.audit, onError),
  });
  const publicDispatch = createDispatch(door, restHandlers, idempotency, capacity);
  const access = createInternalAccess(parts.serviceTokens, services.accounts.exists);
  const inside = internalDoor(access, watch.state, watch.requireFresh);
  const internalDispatch = createDispatch(inside, internalHandlers, idempotency);
  const streaming = { rpcs: services.ingestStreams.keys(), dispatch: createStreamDispatch(inside, services.ingestStreams) };

  const dashboard = createDashboard({ signIn, enter: sessions.enter, throttleAsset: throttleDocument, baseUrl: () => where.baseUrl, mcpUrl: () => where.mcpUrl, onError });
  const reference = createReference({ baseUrl: () => where.baseUrl, throttle: throttleDocument, sendLarge, onError });
  const tokens = provider && createTokens({ provider, audiences: config.mcpAudiences, ended, accounts: services.accounts, warn: (message) => log.warn(message) });
  const assistants = tokens && assistantDoor({ throttle, tokens, recognizers, switches: watch.state, requireFreshSwitches: watch.requireFresh });
  const mcp = createMcp({
    provider,
    issuer: parts.oidc?.issuer,
    door: assistants,
    dispatch: createDispatch(assistants ?? door, publicHandlers, idempotency, capacity),
    documentProvider: config.documentProvider,
    document: () => openApiDocument(documentOptions()),
    version: interfaceVersion,
    where,
    corsOrigins: config.corsOrigins,
    audit: services.audit,
    ...{ throttleDocument, burst: config.rateBurst },
    onError,
  });
  opened.push(() => mcp.close());

  const documents = new Map<string, ServedText>();
  const openListener = createListener(
    around(publicListener(config, {
      rest: createGateway({ dispatch: publicDispatch, documentProvider: config.documentProvider, onError }),
      rpc: createRpcSurface(publicHandlers.keys(), publicDispatch, onError),
      others: [dashboard, reference, ...mcp.surfaces],
      documents,
      throttle: publicDispatch.throttle,
      throttleDocument,
      onError,
      ...observability.requests("public"),
    })),
  );
  const internalServices = [...new Set([...internalHandlers.keys()].map(({ parent }) => parent))];
  const internalRpc = createRpcSurface(internalHandlers.keys(), internalDispatch, onError, (router) => {
    registerHealth(router, internalServices.map(({ typeName }) => typeName), () => !stopping && watch.reachable(), () => stopping);
    registerReflection(router, [...new Set(internalServices.map(({ file }) => file))]);
  }, streaming);
  const probes = {
    ready: () => !stopping && watch.reachable(),
    parts: () => ({ mongodb: watch.reachable(), redis: redis?.ready() ?? false }),
    reason: () => (stopping ? "the instance is stopping" : primary.status().reason ?? (watch.reachable() ? undefined : "MongoDB does not answer")),
    metrics: metrics.text,
  };
  metrics.show({
    version: release,
    interfaceVersion,
    ready: probes.ready,
    mongodbReachable: watch.reachable,
    lease: primary.status,
    switches: () => ({ [switchName("publicInterface")]: watch.state().publicInterface, [switchName("writes")]: watch.state().writes }),
    ...{ fallbackBuckets, erasures: services.erasures.counts },
    pool: () => poolOf(client),
    work: capacity.state,
  });
  const internalListener = createListener(around(internalOptions({ rpc: internalRpc, others: [createProfiles(access, onError)], probes, onError, ...observability.requests("internal") })));
  opened.push(async () => void (await Promise.all([openListener.close(graceMs, idleMs), internalListener.close(graceMs, idleMs)])));
  await primary.held(mongoWaitMs);
  const port = await listen(openListener, "PORT", config.port, "HOST", config.host);
  where.baseUrl = config.baseUrl ?? `http://localhost:${port}`;
  where.mcpUrl = config.mcpUrl ?? `${where.baseUrl}/mcp`;
  for (const [path, document] of openApiFiles(documentOptions())) documents.set(path, document);
  documents.set("/llms.txt", lazily("text/plain; charset=utf-8", () => llmsText(openApiDocument(documentOptions()), { baseUrl: where.baseUrl, mcpUrl: provider && where.mcpUrl })));
  const internalPort = await listen(internalListener, "INTERNAL_PORT", config.internalPort, "INTERNAL_HOST", config.internalHost);
  void warmUp([...restHandlers.keys(), ...internalHandlers.keys()].map(({ input }) => input)).then(() => [...documents.values()].map(({ text }) => text)).then(provider && mcp.prepare);

  return {
    port,
    internalPort,
    ...where,
    services,
    client,
    async stop(idle = 0) {
      [stopping, idleMs] = [true, idle];
      await closeAll(opened);
    },
  };

  async function openRedis(url: string): Promise<RedisLink> {
    const link = connectRedis(url, (ready, error) => {
      metrics.redisUp.set(ready ? 1 : 0);
      if (ready) log.info("Redis answers");
      else log.warn({ err: error }, "Redis is away: this instance throttles with buckets of its own");
    });
    opened.push(() => link.close());
    observability.watchRedis(link.client);
    await link.firstReady;
    return link;
  }
}
