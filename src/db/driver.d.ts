// The parts of the driver that `connection.ts` and `rejected-handshakes.ts` change, which its own types leave out.
declare module "mongodb/lib/cmap/connection.js" {
  import type { Socket } from "node:net";
  import type { ClientSession, Document } from "mongodb";

  /** Options of a command. */
  export interface CommandOptions {
    readonly session?: ClientSession;
    /** True if documents of the reply stay BSON. */
    readonly raw?: boolean;
    /** The name of the reply's list of documents. Only these stay BSON then, and an error reply is decoded. */
    readonly documentsReturnedIn?: string;
  }

  /** A connection of the pool or of a monitor. */
  export class Connection {
    readonly closed: boolean;
    readonly socket: Socket;
    /** Host and port of the server. */
    readonly address: string;
    /** True once the client has authenticated. */
    readonly established: boolean;
    constructor(...options: readonly unknown[]);
    /** Sends a command, and resolves with its reply. */
    command(
      ns: { readonly db: string },
      command: Document,
      options?: CommandOptions,
      responseType?: unknown,
    ): Promise<unknown>;
    /** Closes the connection, and lets the command that waits for a reply fail with the error. */
    cleanup(error: Error): void;
    /** Writes a command. Resolves when the socket has accepted it. */
    writeCommand(...command: readonly unknown[]): Promise<void>;
  }
}

declare module "mongodb/lib/cmap/connection_pool.js" {
  /** The connections to a server. */
  export class ConnectionPool {
    /** Read whenever the pool decides whether to open a connection. */
    options: Readonly<Record<string, unknown>>;
    /** The number of connections that are open or being opened. */
    readonly totalConnectionCount: number;
  }
}

declare module "mongodb/lib/sdam/server.js" {
  import type { MongoClient } from "mongodb";
  import type { Connection } from "mongodb/lib/cmap/connection.js";
  import type { ConnectionPool } from "mongodb/lib/cmap/connection_pool.js";

  /** A server of the topology. */
  export class Server {
    readonly pool: ConnectionPool;
    readonly topology: { readonly client: MongoClient | undefined };
    /** Decides whether an error means that the server is unusable, and its pool is to be closed. */
    handleError(error: unknown, connection?: Connection): void;
  }
}
