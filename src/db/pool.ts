// Connection pool statistics of a client, from the driver's own events (CMAP).
import type { MongoClient } from "mongodb";

/** The connections of a client to all members of its set. */
export interface PoolState {
  /** Connections that a command uses. */
  readonly inUse: number;
  /** Connections that are open and idle. */
  readonly available: number;
  /** How long all commands together have waited for a connection, in milliseconds. */
  readonly waitedMs: number;
}

const states = new WeakMap<MongoClient, () => PoolState>();

/** Starts counting the connections of a client, and returns how to read them. Call it before the client connects. */
export function watchPool(client: MongoClient): () => PoolState {
  let [inUse, waiting, waitedMs, countedTo] = [0, 0, 0, performance.now()];
  // The waits that have not ended count too.
  const wait = (more: number): void => {
    const now = performance.now();
    waitedMs += waiting * (now - countedTo);
    countedTo = now;
    waiting += more;
  };
  // A set of names rather than a count: a connection that fails before it is ready is closed too.
  const open = new Set<string>();
  client.on("connectionReady", (event) => void open.add(nameOf(event)));
  client.on("connectionClosed", (event) => void open.delete(nameOf(event)));
  client.on("connectionCheckOutStarted", () => wait(1));
  client.on("connectionCheckOutFailed", () => wait(-1));
  client.on("connectionCheckedOut", () => {
    wait(-1);
    inUse++;
  });
  client.on("connectionCheckedIn", () => void inUse--);
  const state = (): PoolState => {
    wait(0);
    return { inUse, waitedMs, available: Math.max(0, open.size - inUse) };
  };
  states.set(client, state);
  return state;
}

function nameOf({
  address,
  connectionId,
}: {
  readonly address: string;
  readonly connectionId: number | "<monitor>";
}): string {
  return `${address} ${connectionId}`;
}

/** Returns the pool statistics of a client passed to `watchPool`. */
export function poolOf(client: MongoClient): PoolState {
  return states.get(client)?.() ?? { inUse: 0, available: 0, waitedMs: 0 };
}
