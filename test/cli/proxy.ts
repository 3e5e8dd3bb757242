// A proxy that cuts every connection through it on demand, as a failing network does.
import type { Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** A proxy before a service. */
export interface CuttingProxy {
  readonly url: string;
  /** Ends every connection that is open; the next one goes through. */
  cut(): void;
  /** Drops what the service sends over the open connections. */
  hold(): void;
  /** Drops what the client sends over the open connections. */
  lose(): void;
  /** The number of pieces that were dropped. */
  lost(): number;
  connections(): number;
  close(): Promise<void>;
}

/** Starts a proxy to the service at `target`, on a free port. */
export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const responding = new Set<Socket>();
  const requesting = new Set<Socket>();
  let connections = 0;
  let lost = 0;
  const server = createServer((near) => {
    connections++;
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => open.delete(socket));
    }
    for (const [sending, socket] of [[responding, far] as const, [requesting, near] as const]) {
      sending.add(socket);
      socket.once("close", () => sending.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    hold() {
      for (const socket of responding) socket.unpipe().pause();
    },
    lose() {
      for (const socket of requesting)
        socket
          .unpipe()
          .on("data", () => lost++)
          .resume();
    },
    lost: () => lost,
    connections: () => connections,
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A proxy that stops in the middle of what the service sends. */
export interface HaltingProxy {
  readonly url: string;
  resume(): void;
  /** Waits until it has stopped a connection, and ends it. The next ones go through. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy that forwards this many bytes of the service at `target`, and no more until it is resumed. */
export async function haltingProxy(target: string, bytes: number): Promise<HaltingProxy> {
  const { hostname, port } = new URL(target);
  const halted = new Set<Socket>();
  let left = bytes;
  let onHalt = (): void => undefined;
  const hasHalted = new Promise<void>((resolve) => (onHalt = resolve));
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [socket, other] of [[near, far] as const, [far, near] as const])
      socket.on("error", () => undefined).once("close", () => other.destroy());
    near.pipe(far);
    far.on("data", (chunk) => {
      near.write(chunk);
      left -= chunk.length;
      if (left > 0) return;
      halted.add(far.pause());
      onHalt();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    resume() {
      left = Infinity;
      for (const socket of halted) socket.resume();
    },
    async cut() {
      await hasHalted;
      left = Infinity;
      for (const socket of halted) socket.resetAndDestroy();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
