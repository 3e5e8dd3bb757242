// Measures how long a request keeps an instance's main thread busy: the longest block and the CPU time.
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { mainThreadMs } from "./vitals.ts";

/** The cost of some requests on the main thread, in milliseconds. */
export interface Taken {
  /** CPU time of the main thread. */
  readonly cpuMs: number;
  /**
   * The longest time in which no other request could be served. Capped at the CPU time, because on a busy machine the
   * clock also counts time in which the instance did not run.
   */
  readonly blockMs: number;
}

/** Measures the cost of some work. */
export interface Gauge {
  during(work: () => Promise<unknown>): Promise<Taken>;
  close(): void;
}

const module = join(import.meta.dirname, "gauge.cjs");

/** The environment of an instance that reports over this socket. */
export function gauged(
  path: string,
  nodeOptions: string,
): { readonly DRILL_GAUGE: string; readonly NODE_OPTIONS: string } {
  return { DRILL_GAUGE: path, NODE_OPTIONS: `${nodeOptions} --require ${module}` };
}

export async function openGauge(path: string, pid: number): Promise<Gauge> {
  const socket = connect(path);
  await once(socket, "connect");
  const ended = new Promise<never>((_resolve, reject) =>
    socket.once("close", () => reject(new Error("the instance has ended"))),
  );
  ended.catch(() => undefined);
  socket.on("error", () => undefined);
  const longest = async (): Promise<number> => {
    const reading = new Promise<Buffer>((resolve) => socket.once("data", resolve));
    socket.write("?");
    return Number((await Promise.race([reading, ended])).toString());
  };
  return {
    async during(work) {
      await longest();
      const before = mainThreadMs(pid);
      await work();
      // The reply waits for the event loop, as every request does.
      const stretch = await longest();
      const cpuMs = mainThreadMs(pid) - before;
      return { cpuMs, blockMs: Math.min(stretch, cpuMs) };
    },
    close: () => socket.destroy(),
  };
}
