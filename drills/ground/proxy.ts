// A proxy between an instance and a part of it, which can freeze, slow down, cut and refuse as a network does.
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What the proxy does to what passes through it. */
export type Weather =
  /** Everything passes. */
  | "fair"
  /** Connections are taken and nothing passes, in neither direction, until it is fair again. */
  | "frozen"
  /** Connections that are open break, and new ones are refused. */
  | "gone"
  /** Every piece waits so many milliseconds in each direction. */
  | { readonly delayMs: number };

/** A proxy to one part. */
export interface Proxy {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  set(weather: Weather): Promise<void>;
  /** Breaks every open connection with a reset; new ones pass. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts a proxy to `HOST:PORT`, on a free port that stays its own while it is gone. */
export async function startProxy(target: string): Promise<Proxy> {
  const [host = "", port = ""] = target.split(":");
  const open = new Set<Socket>();
  let weather: Weather = "fair";
  let thawed: (() => void)[] = [];
  const fair = (): Promise<void> =>
    weather === "frozen" ? new Promise((resolve) => thawed.push(resolve)) : Promise.resolve();

  const server = createServer((near) => {
    const far = connect(Number(port), host);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => open.delete(socket));
    }
    pass(near, far);
    pass(far, near);
  });

  function pass(from: Socket, to: Socket): void {
    // One after the other, so that a delay keeps the order.
    let before: Promise<unknown> = Promise.resolve();
    from.on("data", (chunk: Buffer) => {
      const due = typeof weather === "object" ? performance.now() + weather.delayMs : 0;
      before = before.then(async () => {
        if (due > performance.now()) await sleep(due - performance.now());
        await fair();
        to.write(chunk);
      });
    });
    from.once("close", () => void before.then(fair).then(() => to.destroy()));
  }

  const listen = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(at, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  const unlisten = (): Promise<void> =>
    new Promise((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));

  await listen(0);
  const own = (server.address() as AddressInfo).port;
  return {
    host: `127.0.0.1:${own}`,
    async set(next) {
      weather = next;
      const waiting = thawed;
      if (next !== "frozen") {
        thawed = [];
        for (const resolve of waiting) resolve();
      }
      if (next === "gone") {
        const closed = unlisten();
        cut();
        await closed;
      } else if (!server.listening) await listen(own);
    },
    cut,
    async close() {
      weather = "fair";
      for (const resolve of thawed.splice(0)) resolve();
      const closed = unlisten();
      cut();
      await closed;
    },
  };
}
