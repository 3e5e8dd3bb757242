// TCP ports of this machine: finds a free one, and checks whether a server listens on one.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * Returns a free TCP port on 127.0.0.1 that no outgoing connection can take: it is below the ephemeral ports of
 * Linux (32768 and up), macOS and Windows (49152 and up). So a server can also restart on it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(10_000, 32_768);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      await new Promise((closed) => server.close(closed));
      return port;
    } catch (error) {
      if (attempt === 100) throw error;
    }
  }
}

/** Returns whether a server on 127.0.0.1 accepts connections on the port. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
