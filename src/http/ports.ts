// Opens the port of a listener, or tells in one line which setting is in the way.
import { ConfigError } from "../config.ts";
import type { Listener } from "./listener.ts";

/** Listens and gives the port. Fails with a `ConfigError` that names the variable. */
export async function listen(
  listener: Listener,
  portName: string,
  port: number,
  hostName: string,
  host: string,
): Promise<number> {
  try {
    return await listener.listen(port, host);
  } catch (error) {
    const { code = String(error), syscall } = error as NodeJS.ErrnoException;
    const noHost = syscall === "getaddrinfo" || code === "EADDRNOTAVAIL";
    if (noHost) throw new ConfigError(hostName, `"${host}" is no address of this machine (${code})`);
    throw new ConfigError(portName, `${port} cannot be listened on (${code})`);
  }
}
