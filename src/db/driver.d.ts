// The parts of the driver that `closed-connections.ts` repairs, which its own types leave out.
declare module "mongodb/lib/cmap/connection.js" {
  import type { Socket } from "node:net";

  /** A connection of the pool or of a monitor. */
  export class Connection {
    readonly closed: boolean;
    readonly socket: Socket;
    /** Closes the connection, and lets the command that waits for a reply fail with the error. */
    cleanup(error: Error): void;
    /** Writes a command. Resolves when the socket has accepted it. */
    writeCommand(...command: readonly unknown[]): Promise<void>;
  }
}
