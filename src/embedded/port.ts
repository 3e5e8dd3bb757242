// TCP ports of this machine: finds a free one, and checks whether a server listens on one.
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";

/** Returns a free TCP port on 127.0.0.1. Another process may take the port before the caller does. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Returns whether a server on 127.0.0.1 accepts connections on the port. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
