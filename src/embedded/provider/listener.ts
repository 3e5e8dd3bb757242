// The provider's own port, which stays the same from start to start as long as it is free.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Folder } from "./folder.ts";

/** The grace period for requests under way when the provider stops. */
const STOP_PATIENCE_MS = 500;

/** Listens on 127.0.0.1, on the port of the last start if that is free. Fails if no port is free. */
export async function listenOnKeptPort(folder: Folder) {
  let serve: RequestListener = (_request, response) => void response.writeHead(503).end();
  const limits = {
    headersTimeout: 5_000,
    requestTimeout: 15_000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 2_000,
  };
  const server = createServer(limits, (request, response) => serve(request, response));
  const kept = await folder.read("port");
  const onKept = typeof kept === "number" && (await listen(server, kept));
  if (!onKept && !(await listen(server, 0)))
    throw new Error("There is no free port on 127.0.0.1 for the development provider.");
  const { port } = server.address() as AddressInfo;
  if (!onKept) await folder.write("port", port);
  return {
    port,
    /** Sets the request listener. Until then, every response is 503. */
    serveWith(listener: RequestListener): void {
      serve = listener;
    },
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await Promise.race([closed, sleep(STOP_PATIENCE_MS)]);
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns whether the server listens now. False if the port is taken or not permitted. */
async function listen(server: Server, port: number): Promise<boolean> {
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  }
}
