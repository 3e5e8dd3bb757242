// Works around a driver bug: a command whose connection closes before the command is sent waits for ever, and keeps its
// place in the pool.
import { Connection } from "mongodb/lib/cmap/connection.js";

/** The driver has one class of connections for all clients. */
let isRepaired = false;

/**
 * Lets commands of closed connections fail with the error that closed the connection. `Connection.writeCommand` waits
 * for the socket's `drain` after a write that was buffered, and a destroyed socket emits none. A command without a
 * reply, which the service does not send, succeeds.
 */
export function repairClosedConnections(): void {
  if (isRepaired) return;
  isRepaired = true;
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function (error) {
    const isOpen = !this.closed;
    cleanup.call(this, error);
    if (!isOpen) return;
    // A command that is about to be written, or that waits, looks at the error of its connection next.
    this.socket.write = () => true;
    this.socket.emit("drain");
  };
}
