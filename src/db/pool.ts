// Connection pool of a client, as the driver's own events (CMAP) report it.
import type { MongoClient } from "mongodb";

/** The connections of a client to all members of its set. */
export interface PoolState {
  /** Connections that a command uses. */
  readonly inUse: number;
  /** Connections that are open and idle. */
  readonly available: number;
  /** Commands that wait for a connection. */
  readonly waiting: number;
}

const states = new WeakMap<MongoClient, () => PoolState>();

/** Counts the connections of a client that is not connected yet. */
export function watchPool(client: MongoClient): void {
  let [inUse, waiting] = [0, 0];
  // By name: a connection that fails before it is ready is closed too.
  const open = new Set<string>();
  client.on("connectionReady", (event) => void open.add(nameOf(event)));
  client.on("connectionClosed", (event) => void open.delete(nameOf(event)));
  client.on("connectionCheckOutStarted", () => void waiting++);
  client.on("connectionCheckOutFailed", () => void waiting--);
  client.on("connectionCheckedOut", () => {
    waiting--;
    inUse++;
  });
  client.on("connectionCheckedIn", () => void inUse--);
  states.set(client, () => ({ inUse, waiting, available: Math.max(0, open.size - inUse) }));
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

/** The pool of a client that `watchPool` follows. */
export function poolOf(client: MongoClient): PoolState {
  return states.get(client)?.() ?? { inUse: 0, available: 0, waiting: 0 };
}
