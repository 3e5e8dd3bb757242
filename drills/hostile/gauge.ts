// Asks an instance for how long a request kept its main thread: the longest stretch, and the processor's time in all.
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { mainThreadMs } from "./vitals.ts";

/** What some requests took of the main thread, in milliseconds. */
export interface Taken {
  /** The time on the processor. */
  readonly cpuMs: number;
  /**
   * The longest stretch in which nobody else could be served: never more than the time on the processor, as a machine
   * that has no time for the instance holds up its clock as well.
   */
  readonly blockMs: number;
}

/** Measures what is done in the meantime. */
export interface Gauge {
  during(work: () => Promise<unknown>): Promise<Taken>;
  close(): void;
}

const module = join(import.meta.dirname, "gauge.cjs");

/** The settings of an instance that can be asked over this socket. */
export function gauged(
  path: string,
  nodeOptions: string,
): { readonly DRILL_GAUGE: string; readonly NODE_OPTIONS: string } {
  return { DRILL_GAUGE: path, NODE_OPTIONS: `${nodeOptions} --require ${module}`.trim() };
}

/** Connects to the instance. */
export async function openGauge(path: string, pid: number): Promise<Gauge> {
  const socket = connect(path);
  await once(socket, "connect");
  const ended = new Promise<never>((_resolve, reject) =>
    socket.once("close", () => reject(new Error("the instance has ended"))),
  );
  ended.catch(() => undefined);
  socket.on("error", () => undefined);
  const longest = async (): Promise<number> => {
    const told = new Promise<Buffer>((resolve) => socket.once("data", resolve));
    socket.write("?");
    return Number((await Promise.race([told, ended])).toString());
  };
  return {
    async during(work) {
      await longest();
      const before = mainThreadMs(pid);
      await work();
      // The answer waits, as everybody's does, until the instance has time for it.
      const stretch = await longest();
      const cpuMs = mainThreadMs(pid) - before;
      return { cpuMs, blockMs: Math.min(stretch, cpuMs) };
    },
    close: () => socket.destroy(),
  };
}
