// A network on one machine whose links are cut, held and delayed one by one: a proxy before every server, which knows
// who connects.
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import type { Connection, LinkState } from "./link.ts";
import { openConnection } from "./link.ts";
import { ownersOf, requireProc } from "./owner.ts";

/** The links between named processes. Linux only. */
export interface Network {
  /** Puts a proxy before the server at `HOST:PORT` and returns the address under which everybody has to know it. */
  join(name: string, target: string): Promise<string>;
  /** Sets every link from one of `from` to one of `to`; a link from a process to itself stays open. */
  set(from: readonly string[], to: readonly string[], state: LinkState): void;
  /** Opens every link. */
  heal(): void;
  close(): Promise<void>;
}

/** To look up who connects takes milliseconds, for one as for many: those of a moment are looked up together. */
const admittedWithinMs = 10;

/** Starts a network. `processes` names the processes whose connections are told apart, by pid, as they are now. */
export function startNetwork(processes: () => ReadonlyMap<number, string>): Network {
  requireProc();
  const states = new Map<string, LinkState>();
  const open = new Set<Connection>();
  const proxies: ReturnType<typeof createServer>[] = [];
  let arrived: { readonly near: Socket; readonly to: string; readonly target: string }[] = [];

  /** Connections whose process is not known yet, because it is starting, are looked up again when links change. */
  function identify(connections: readonly Connection[]): void {
    const known = processes();
    const owners = ownersOf(connections, known.keys());
    for (const [at, connection] of connections.entries()) connection.from = known.get(owners[at] ?? -1);
  }
  function apply(connection: Connection): void {
    connection.set(states.get(`${connection.from ?? ""} ${connection.to}`) ?? "open");
  }
  function applyAll(): void {
    identify([...open].filter(({ from }) => from === undefined));
    for (const connection of open) apply(connection);
  }
  /** Opens what arrived in the last moment. */
  function admit(): void {
    const connections = arrived
      .filter(({ near }) => !near.destroyed)
      .map(({ near, to, target }) =>
        openConnection(near, target, { to, sourcePort: near.remotePort ?? 0, targetPort: near.localPort ?? 0 }),
      );
    arrived = [];
    identify(connections);
    for (const connection of connections) {
      open.add(connection);
      void connection.closed.then(() => open.delete(connection));
      apply(connection);
    }
  }

  return {
    async join(name, target) {
      const proxy = createServer({ pauseOnConnect: true }, (near) => {
        near.on("error", () => undefined);
        arrived.push({ near, to: name, target });
        if (arrived.length === 1) setTimeout(admit, admittedWithinMs);
      });
      await new Promise<void>((resolve, reject) => proxy.once("error", reject).listen(0, "127.0.0.1", resolve));
      proxies.push(proxy);
      return `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    },
    set(from, to, state) {
      for (const one of from) for (const other of to) if (one !== other) states.set(`${one} ${other}`, state);
      applyAll();
    },
    heal() {
      states.clear();
      applyAll();
    },
    async close() {
      const closed = proxies.map((proxy) => new Promise((resolve) => proxy.close(resolve)));
      for (const connection of open) connection.set("rejected");
      await Promise.all(closed);
    },
  };
}
