// A TCP proxy that takes its time with every response.
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

/** Puts the proxy before a server; responses come `delayMs` later than they would. */
export async function slowProxy(
  url: string,
  delayMs: number,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(Number(target.port), target.hostname);
    from.pipe(to);
    to.on("data", (chunk) => setTimeout(() => from.write(chunk), delayMs));
    for (const socket of [from, to])
      sockets.add(socket.on("error", () => undefined).on("close", () => (from.destroy(), to.destroy())));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: url.replace(target.host, `127.0.0.1:${(server.address() as AddressInfo).port}`),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
