// Opens the ports of an instance, or reports in one line the setting that prevents it.
import { once } from "node:events";
import type { Server } from "node:net";
import { createServer } from "node:net";
import { ConfigError } from "../config/config-error.ts";
import type { Listener } from "./listener.ts";

/** A port and its host, with the environment variables that set them. */
export interface ListenedPort {
  readonly name: string;
  readonly port: number;
  readonly hostName: string;
  readonly host: string;
}

/** Listens, and returns the port. Fails with a `ConfigError` that names the variable. */
export async function listen(listener: Listener, at: ListenedPort): Promise<number> {
  return naming(at, () => listener.listen(at.port, at.host));
}

/** Fails as `listen` does if a port is in use, or if two of the ports are the same. Leaves none of the ports open. */
export async function requireFree(ports: readonly ListenedPort[]): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const at of ports) {
      const server = createServer((socket) => socket.destroy());
      servers.push(server);
      await naming(at, () => once(server.listen(at.port, at.host), "listening"));
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  }
}

async function naming<Result>(
  { name, port, hostName, host }: ListenedPort,
  open: () => Promise<Result>,
): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    const { code = String(error), syscall } = error as NodeJS.ErrnoException;
    const noHost = syscall === "getaddrinfo" || code === "EADDRNOTAVAIL";
    if (noHost) throw new ConfigError(hostName, `"${host}" is not an address of this machine (${code})`);
    const inUse = `port ${port} is already in use. Stop the program that uses it, or choose another port.`;
    throw new ConfigError(name, code === "EADDRINUSE" ? inUse : `port ${port} cannot be opened (${code})`);
  }
}
