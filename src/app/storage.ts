// Opens MongoDB and Redis, builds indexes, and starts the lease, the switches and the background tasks.
import type { MongoClient } from "mongodb";
import type { Logger } from "pino";
import { startBackground } from "./background.ts";
import type { ConnectionCheck } from "../db/connection-check.ts";
import { connectionsOf } from "../db/connection-check.ts";
import { ensureIndexes, longBuilds } from "../db/indexes.ts";
import { connectMongo } from "../db/mongo.ts";
import { previousTermsOf } from "../db/previous-terms.ts";
import type { Primary } from "../db/primary.ts";
import { primaryOf } from "../db/primary.ts";
import { replyCode } from "../db/redis-code.ts";
import type { OnChange } from "../db/redis-availability.ts";
import type { RedisLink } from "../db/redis.ts";
import { connectRedis } from "../db/redis.ts";
import { GetContactRequestSchema } from "../gen/records/v1/contacts_pb.ts";
import { compileRules } from "../guards/validate.ts";
import type { Services } from "./services.ts";
import { createServices, indexesFor } from "./services.ts";
import type { SwitchWatch } from "../switches/store.ts";
import { watchSwitches } from "../switches/store.ts";
import type { Foundation } from "./foundation.ts";

/** How long a start waits for MongoDB, in milliseconds. */
export const mongoWaitMs = 30_000;

/** The databases, and the services over them. */
export type Storage = Awaited<ReturnType<typeof openStorage>>;

/** Connects to MongoDB. Rejects if it cannot be reached within 30 seconds. */
export async function openMongo(uri: string, maxPool: number | undefined, log: Logger): Promise<MongoClient> {
  const connecting = connectMongo(uri, mongoWaitMs, maxPool, (reason) =>
    log.warn({ reason }, "MongoDB cannot be reached: the start tries again for up to 30 seconds"),
  );
  // Compiled while the connection is being opened.
  compileRules(GetContactRequestSchema);
  return connecting;
}

/** Opens all other storage of an instance. `prepare` runs once the indexes exist and the primary is proven. */
export async function openStorage(
  { config, dependencies, log, observability, opened, state }: Foundation,
  client: MongoClient,
  prepare: (services: Services) => Promise<void>,
) {
  let redis: RedisLink | undefined;
  const services = createServices(client, () => redis, observability.services);
  await ensureIndexes(client.db(), indexesFor(config), {
    waitMs: mongoWaitMs,
    onPlan: longBuilds((indexes) =>
      log.warn({ indexes }, "the start waits until indexes are built: run records migrate before an upgrade"),
    ),
  });
  const primary = primaryOf(client);
  await primary.waitUntilHeld(mongoWaitMs);
  const previousTerms = previousTermsOf(client);
  const ofPrevious = await previousTerms.check();
  if (ofPrevious.length > 0)
    log.warn({ collections: ofPrevious }, "search terms of the previous release: run records migrate to rebuild them");
  await prepare(services);

  observability.watchMongo(client);
  redis = dependencies.redisUrl === undefined ? undefined : await openRedis(dependencies.redisUrl);
  const connections = connectionsOf(client);
  const switches = await watchSwitches(primary, () => connections.failure()?.code ?? "stale switches");
  const stopBackground = startBackground(client, services, observability.services, log);
  opened.push(() => stopBackground(state.stopBy));
  logLeases(primary, connections, log);
  return { client, redis, primary, switches, services, mongodb: mongodbState(primary, switches, connections) };

  async function openRedis(url: string): Promise<RedisLink> {
    const onChange: OnChange = (ready, err, master) => {
      observability.metrics.redisUp.set(ready ? 1 : 0);
      if (ready) log.info("Redis responds");
      // In a cluster, the instance continues to use the masters that are not named.
      else log.warn({ err, code: replyCode(err), master }, "Redis is unavailable: this instance throttles on its own");
    };
    const link = connectRedis(url, onChange, {
      watch: observability.watchRedis,
      commandTimeoutMs: dependencies.redisTimeoutMs,
    });
    opened.push(() => link.close());
    await link.firstReady;
    return link;
  }
}

/** Returns whether MongoDB can serve requests. */
function mongodbState(primary: Primary, switches: SwitchWatch, connections: ConnectionCheck) {
  const acceptsConnections = (): boolean => connections.failure() === undefined;
  /** Returns whether requests get connections to MongoDB, it replies, and its primary is confirmed. */
  const isUp = (): boolean => switches.reachable() && acceptsConnections();
  return {
    isUp,
    /** Returns why not; undefined if no reason is known. */
    reason: () =>
      connections.failure()?.reason ?? primary.status().reason ?? (isUp() ? undefined : "MongoDB does not respond"),
    acceptsConnections,
  };
}

function logLeases(primary: Primary, connections: ConnectionCheck, log: Logger): void {
  primary.onLease(({ held, reason }) =>
    held
      ? log.info("the primary of MongoDB is confirmed again")
      : log.warn(
          { reason: connections.failure()?.reason ?? reason },
          "no lease on the primary of MongoDB: requests that need it get 503",
        ),
  );
  connections.onChange((failure) =>
    failure === undefined
      ? log.info("this instance can open connections to MongoDB again")
      : log.warn(failure, "this instance cannot get connections to MongoDB: it is not ready"),
  );
}
