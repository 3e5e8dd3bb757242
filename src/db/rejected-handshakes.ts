// Changes how the driver responds to a new connection whose credentials the server rejects: the open connections of the
// pool stay in use.
import type { MongoClient } from "mongodb";
import { MongoErrorLabel, MongoServerError } from "mongodb";
import type { ConnectionPool } from "mongodb/lib/cmap/connection_pool.js";
import { Server } from "mongodb/lib/sdam/server.js";
import { rejectionOf } from "./rejection.ts";

/** The pools that open no further connections, by client, with their own options. */
const limited = new WeakMap<MongoClient, Map<ConnectionPool, ConnectionPool["options"]>>();
let isChanged = false;

/** Whether the server rejected the credentials of a new connection. Nothing else was sent over it. */
export function isRejectedHandshake(error: unknown): error is MongoServerError {
  return (
    error instanceof MongoServerError &&
    error.hasErrorLabel(MongoErrorLabel.HandshakeError) &&
    rejectionOf(error) !== undefined
  );
}

/**
 * Keeps the connections of all clients when the server rejects the credentials of a new one. The driver has no option
 * for that: it closes the whole pool, although MongoDB continues to accept connections that were opened with an earlier
 * password.
 */
export function keepOpenConnections(): void {
  if (isChanged) return;
  isChanged = true;
  const { handleError } = Server.prototype;
  Server.prototype.handleError = function (error, connection) {
    if (!isRejectedHandshake(error)) return handleError.call(this, error, connection);
    const { client } = this.topology;
    const pools = client && limited.get(client);
    if (pools !== undefined) limit(this.pool, pools);
  };
}

/**
 * After a rejected handshake, commands of this client wait for an open connection, as they do if the pool has reached
 * its maximum. Returns a function to call once the server accepts the credentials again.
 */
export function waitForOpenConnections(client: MongoClient): () => void {
  const pools = new Map<ConnectionPool, ConnectionPool["options"]>();
  limited.set(client, pools);
  return () => {
    for (const [pool, options] of pools) pool.options = options;
    pools.clear();
  };
}

/** Limits a pool to the connections that it has. An empty one tries one at a time. */
function limit(pool: ConnectionPool, pools: Map<ConnectionPool, ConnectionPool["options"]>): void {
  const options = pools.get(pool) ?? pool.options;
  pools.set(pool, options);
  const maxPoolSize = Math.max(1, pool.totalConnectionCount);
  pool.options = { ...options, maxPoolSize, minPoolSize: 0 };
}
