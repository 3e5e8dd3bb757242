// Works around a driver bug: a command whose connection closes before the command is sent waits for ever, and keeps its
// place in the pool.
import { Connection } from "mongodb/lib/cmap/connection.js";

/** The connections that are repaired: the driver has one class for all clients. */
const repaired = new WeakSet<object>();

/**
 * Lets commands of closed connections fail with the error that closed the connection. `Connection.writeCommand` waits
 * for the socket's `drain` after a write that was buffered, and a destroyed socket emits none. A command without a
 * reply, which the service does not send, succeeds.
 */
export function repairClosedConnections(): void {
  const connection = Connection.prototype;
  if (repaired.has(connection)) return;
  repaired.add(connection);
  const { cleanup } = connection;
  connection.cleanup = function (error) {
    const isOpen = !this.closed;
    cleanup.call(this, error);
    if (!isOpen) return;
    // A command that is about to be written, or that waits, looks at the error of its connection next.
    this.socket.write = () => true;
    this.socket.emit("drain");
  };
}
