// The connection to Redis, which holds only disposable data: no request waits longer than 50 ms for it.
import type { Cluster, Redis } from "ioredis";
import type { Tally } from "../call/tally.ts";
import { timed } from "../call/tally.ts";
import type { OnChange } from "./redis-availability.ts";
import { createAvailability, inTime } from "./redis-availability.ts";
import { nameOf, openRedis, onlyMaster } from "./redis-client.ts";

/**
 * A connection that is used only while Redis responds. Every command has one key, because a cluster rejects commands
 * whose keys are in several slots. In a cluster, each master is tracked separately.
 */
export interface RedisLink {
  /** For a library that defines its own script, with one key. */
  readonly client: ScriptedClient;
  /** Resolves when Redis first responds, or after a second, so that a start does not wait longer. */
  readonly firstReady: Promise<void>;
  /**
   * Returns false from the first failed command until Redis accepts a write in time again. Callers continue without it
   * meanwhile. In a cluster, all masters must be available.
   */
  ready(): boolean;
  /**
   * Runs commands on a key, and adds their time to the tally. Returns undefined if the key's master is unavailable,
   * fails, or takes longer than 50 ms. Never throws.
   */
  attempt<T>(key: string, command: (key: KeyCommands) => Promise<T>, tally?: Tally): Promise<T | undefined>;
  /**
   * Iterates over the keys that match a pattern, in batches, one master after the other, while `mayContinue` returns
   * true. Yields undefined and ends if it returns false or a master is unavailable.
   */
  keys(pattern: string, mayContinue: () => Promise<boolean>): AsyncGenerator<string[] | undefined>;
  close(): void;
}

/** The commands for one key. */
export interface KeyCommands {
  set(value: string, ttlMs: number): Promise<unknown>;
  /** Sets the key only if it exists. */
  replace(value: string, ttlMs: number): Promise<unknown>;
  delete(): Promise<unknown>;
  /** Runs a script whose only key is this one. */
  run(script: string, ...values: readonly (string | number)[]): Promise<unknown>;
}

/** The part of a client that a library needs to run a script. */
export interface ScriptedClient {
  readonly status: string;
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: 1 }): void;
}

/** Options that only some connections need. */
export interface LinkOptions {
  /** Called with the client before it sends anything. */
  readonly watch?: (client: Redis | Cluster) => void;
  readonly commandTimeoutMs?: number | undefined;
}

const firstReadyMs = 1_000;
/** The number of keys for each step of an iteration. */
const scanned = 1_000;

/** Connects in the background. */
export function connectRedis(
  url: string,
  onChange: OnChange,
  { watch = () => undefined, commandTimeoutMs = 50 }: LinkOptions = {},
): RedisLink {
  const masters = openRedis(url);
  const { client } = masters;
  watch(client);
  const used = createAvailability(masters, onChange, commandTimeoutMs);
  client.on("error", (error: Error) => used.markUnavailable(onlyMaster, error));
  client.on("close", () => used.markUnavailable(onlyMaster));
  client.on("-node", (node: Redis) => masters.all().has(nameOf(node)) && used.markUnavailable(nameOf(node)));
  const firstReady = new Promise<void>((resolve) => {
    setTimeout(resolve, firstReadyMs).unref();
    client.on("ready", () => void used.clientConnected().then(resolve));
  });

  async function attemptAt<T>(
    master: string | undefined,
    command: () => Promise<T>,
    tally?: Tally,
  ): Promise<T | undefined> {
    if (!used.isAvailable(master)) return undefined;
    try {
      return await timed(tally, "redisMs", "redis", () => inTime(command(), commandTimeoutMs));
    } catch (error) {
      // If the key's master is unknown, no master has failed.
      if (master !== undefined) used.markUnavailable(master, error);
      return undefined;
    }
  }
  return {
    client: client as ScriptedClient,
    firstReady,
    ready: used.allAvailable,
    attempt: (key, command, tally) => attemptAt(masters.masterOf(key), () => command(commandsOn(client, key)), tally),
    async *keys(pattern, mayContinue) {
      for (const [master, server] of masters.all()) {
        let cursor = "0";
        do {
          const at = cursor;
          const found =
            server !== undefined && (await mayContinue())
              ? await attemptAt(master, () => server.scan(at, "MATCH", pattern, "COUNT", scanned))
              : undefined;
          if (found === undefined) return void (yield undefined);
          cursor = found[0];
          yield found[1];
        } while (cursor !== "0");
      }
    },
    close() {
      used.close();
      masters.close();
    },
  };
}

function commandsOn(client: Redis | Cluster, key: string): KeyCommands {
  return {
    set: (value, ttlMs) => client.set(key, value, "PX", ttlMs),
    replace: (value, ttlMs) => client.set(key, value, "PX", ttlMs, "XX"),
    delete: () => client.del(key),
    run: (script, ...values) => client.eval(script, 1, key, ...values),
  };
}
