// A pool of keep-alive connections to one instance, used round-robin.
import type { Connection, Reply } from "./connection.ts";
import { openConnection } from "./connection.ts";

/** Keep-alive connections to one address. */
export interface Pool {
  /**
   * Sends on a free or new connection, or waits for one. Rejects as `openConnection` and `Connection.send` do, without
   * retries.
   */
  send(request: string): Promise<Reply>;
  /** Opens this many connections in advance. */
  warm(connections: number): Promise<void>;
  count(): number;
  close(): void;
}

/** Creates a pool. Connections are used in turn, so that none is idle for long. */
export function createPool(base: string, maxConnections = 1_000): Pool {
  const open = new Set<Connection>();
  const waiting: (() => void)[] = [];
  let free: Connection[] = [];
  let inUse = 0;

  async function take(): Promise<Connection> {
    if (inUse >= maxConnections) await new Promise<void>((resolve) => waiting.push(resolve));
    else inUse += 1;
    for (let connection = free.shift(); connection !== undefined; connection = free.shift()) {
      if (connection.usable) return connection;
      open.delete(connection);
    }
    return openConnection(base);
  }
  function release(): void {
    const next = waiting.shift();
    if (next === undefined) inUse -= 1;
    else next();
  }

  return {
    async warm(connections) {
      const fresh = await Promise.all(Array.from({ length: connections }, () => openConnection(base)));
      for (const connection of fresh) open.add(connection);
      free.push(...fresh);
    },
    count: () => open.size,
    async send(request) {
      let connection: Connection | undefined;
      try {
        connection = await take();
        open.add(connection);
        return await connection.send(request);
      } finally {
        if (connection?.usable === true) free.push(connection);
        else if (connection !== undefined) open.delete(connection);
        release();
      }
    },
    close() {
      free = [];
      for (const connection of open) connection.close();
    },
  };
}
