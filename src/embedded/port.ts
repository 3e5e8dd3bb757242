// Ports of this machine: a free one, and whether somebody listens on one.
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";

/** A TCP port on 127.0.0.1 that was free a moment ago: whoever takes it must be ready to find it taken. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Whether something on 127.0.0.1 takes connections on the port. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
