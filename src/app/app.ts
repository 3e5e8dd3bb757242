// The composition root: one instance, from its settings to its open ports.
import type { MongoClient } from "mongodb";
import type { Logger } from "pino";
import type { Foundation, Dependencies } from "./foundation.ts";
import { closeAll } from "./foundation.ts";
import { createGuards } from "./guards.ts";
import { createIdentity } from "./identity.ts";
import { createInternalListener } from "./internal.ts";
import { createPublicSide } from "./public.ts";
import { createRpcs } from "./rpcs.ts";
import { mongoWaitMs, openMongo, openStorage } from "./storage.ts";
import type { Config } from "../config/config.ts";
import { warmUp } from "../guards/validate.ts";
import type { ListenedPort } from "../http/ports.ts";
import { listen } from "../http/ports.ts";
import { createObservability } from "../observability/observability.ts";
import type { Services } from "./services.ts";

export type { Dependencies } from "./foundation.ts";

/** A running instance. */
export type App = Awaited<ReturnType<typeof startApp>>;

/** The time in milliseconds that a stop allows for the requests in progress, and then for pending writes. */
const graceMs = 10_000;

/**
 * Starts an instance. Runs `prepare` before any port opens. Rejects if MongoDB cannot be reached within 30 seconds, or
 * if a port is in use.
 */
export async function startApp(
  config: Config,
  dependencies: Dependencies,
  log: Logger,
  prepare: (services: Services) => Promise<void> = async () => undefined,
) {
  const opened: Foundation["opened"] = [];
  try {
    const client = await openMongo(dependencies.mongodbUri, config.mongodbMaxPool, log);
    opened.push(() => client.close());
    const observability = await createObservability(config.tracing, log);
    opened.push(() => observability.close());
    const where = { baseUrl: config.baseUrl ?? "", mcpUrl: config.mcpUrl ?? "" };
    const state = { stopping: false, idleMs: 0, stopBy: 0 };
    return await assemble({ config, dependencies, log, observability, opened, where, state }, client, prepare);
  } catch (error) {
    await closeAll(opened).catch(() => undefined);
    throw error;
  }
}

/** Returns the ports of an instance: that of the public listener, then that of the internal one. */
export function portsOf({ port, host, internalPort, internalHost }: Config): readonly [ListenedPort, ListenedPort] {
  return [
    { name: "PORT", port, hostName: "HOST", host },
    { name: "INTERNAL_PORT", port: internalPort, hostName: "INTERNAL_HOST", host: internalHost },
  ];
}

async function assemble(foundation: Foundation, client: MongoClient, prepare: (services: Services) => Promise<void>) {
  const { config, log, opened, where, state } = foundation;
  const storage = await openStorage(foundation, client, prepare);
  const { services } = storage;
  const identity = createIdentity(foundation, storage);
  const rpcs = createRpcs(foundation, storage);
  const guards = createGuards(foundation, storage, identity, rpcs);
  const open = createPublicSide(foundation, storage, identity, guards, rpcs);
  const internal = createInternalListener(foundation, storage, guards, rpcs);
  opened.push(async () => {
    await Promise.all([open.listener, internal].map((listener) => listener.close(graceMs, state.idleMs)));
  });

  await storage.primary.waitUntilHeld(mongoWaitMs);
  const [publicPort, internalPort] = portsOf(config);
  const port = await listen(open.listener, publicPort);
  where.baseUrl = config.baseUrl ?? `http://localhost:${port}`;
  where.mcpUrl = config.mcpUrl ?? `${where.baseUrl}/mcp`;
  open.publish();
  const internalAt = await listen(internal, internalPort);
  warmUp([...rpcs.rest.keys(), ...rpcs.internal.keys()].map(({ input }) => input))
    .then(open.prepare)
    .catch((error: unknown) => log.error({ err: error }, "a part cannot be loaded: requests that need it may fail"));

  return {
    port,
    internalPort: internalAt,
    ...where,
    services,
    client,
    /**
     * Stops accepting connections, lets running requests finish, and closes every connection. Closes idle ones after
     * `idle` milliseconds, by default at once.
     */
    async stop(idle = 0): Promise<void> {
      state.stopping = true;
      state.idleMs = idle;
      state.stopBy = performance.now() + graceMs;
      await closeAll(opened);
    },
  };
}
