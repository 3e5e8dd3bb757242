// The connection to Redis, which holds only what may vanish: nobody waits for it longer than 50 ms.
import type { Cluster, Redis } from "ioredis";
import type { Tally } from "../tally.ts";
import { timed } from "../tally.ts";
import type { OnChange } from "./redis-availability.ts";
import { createAvailability, inTime } from "./redis-availability.ts";
import { nameOf, openRedis, whole } from "./redis-client.ts";

/**
 * A connection that is used while it responds and left alone while it does not. Every command has one key, because a
 * cluster takes no command whose keys are in several slots. Of a cluster, each master is used and left by itself.
 */
export interface RedisLink {
  /** For a library that defines a script of its own, with one key. */
  readonly client: ScriptedClient;
  /** Settles when Redis responds for the first time, or after a second: nobody waits longer for it to start. */
  readonly firstReady: Promise<void>;
  /**
   * False from the first command that failed until Redis takes a write in time again: callers then continue without it.
   * Of a cluster, every master does.
   */
  ready(): boolean;
  /**
   * Runs commands on a key, whose time counts in the tally; undefined when the master that holds the key is away,
   * fails, or takes longer than 50 ms. Never throws.
   */
  attempt<T>(key: string, command: (key: KeyCommands) => Promise<T>, tally?: Tally): Promise<T | undefined>;
  /**
   * The keys that match a pattern, by batches from one master after the other, while `goesOn` returns true. Undefined,
   * and no more, where it returns false or a master is away.
   */
  keys(pattern: string, goesOn: () => Promise<boolean>): AsyncGenerator<string[] | undefined>;
  close(): void;
}

/** What can be done with one key. */
export interface KeyCommands {
  set(value: string, ttlMs: number): Promise<unknown>;
  /** Sets a key that is there, and creates none. */
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

/** What only some connections need. */
export interface LinkOptions {
  /** Gets the client before it sends anything. */
  readonly watch?: (client: Redis | Cluster) => void;
  readonly commandTimeoutMs?: number;
}

const firstReadyMs = 1_000;
/** Keys for each step of an iteration. */
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
  client.on("error", (error: Error) => used.leave(whole, error));
  client.on("close", () => used.leave(whole));
  client.on("-node", (node: Redis) => masters.all().has(nameOf(node)) && used.leave(nameOf(node)));
  const firstReady = new Promise<void>((resolve) => {
    setTimeout(resolve, firstReadyMs).unref();
    client.on("ready", () => void used.greet().then(resolve));
  });

  async function attemptAt<T>(
    master: string | undefined,
    command: () => Promise<T>,
    tally?: Tally,
  ): Promise<T | undefined> {
    if (!used.has(master)) return undefined;
    try {
      return await timed(tally, "redisMs", "redis", () => inTime(command(), commandTimeoutMs));
    } catch (error) {
      // Where nobody is known to hold the key, no master has failed.
      if (master !== undefined) used.leave(master, error);
      return undefined;
    }
  }
  return {
    client: client as ScriptedClient,
    firstReady,
    ready: used.hasAll,
    attempt: (key, command, tally) => attemptAt(masters.masterOf(key), () => command(commandsOn(client, key)), tally),
    async *keys(pattern, goesOn) {
      for (const [master, server] of masters.all()) {
        let cursor = "0";
        do {
          const at = cursor;
          const found =
            server !== undefined && (await goesOn())
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
