// The instances of both versions, as a load balancer sees them: serving, leaving or killed.
import { setTimeout as sleep } from "node:timers/promises";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { startChild } from "../../fixtures/service/child.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { Pool } from "../load/pool.ts";
import { createPool } from "../load/pool.ts";

/** The previous release, or this code. */
export type Version = "old" | "new";

/** The other version. */
export const otherThan = (version: Version): Version => (version === "old" ? "new" : "old");

/** An instance, and the connections to it. */
export interface Member {
  readonly version: Version;
  readonly instance: ChildInstance;
  readonly public: Pool;
  readonly internal: Pool;
  /** A `leaving` instance gets no new requests and completes those it has. A `killed` one no longer responds. */
  state: "serving" | "leaving" | "killed";
}

export interface Fleet {
  /** The next serving instance of this version, or of the other if there is none. */
  pick(version: Version): Member;
  serving(): readonly Member[];
  start(version: Version): Promise<void>;
  /** Starts an instance of one version, then stops one of the other with SIGTERM and returns its exit code. */
  replace(by: Version): Promise<number | null>;
  /** Kills an instance and starts another of the same version. */
  killOne(version: Version): Promise<void>;
  close(): void;
}

export interface FleetOptions {
  readonly fixture: Fixture;
  /** The arguments of node for an instance of the old version. */
  readonly oldProgram: readonly string[];
  readonly environment: Readonly<Record<Version, Readonly<Record<string, string>>>>;
  /** Gets every log line of the old instances. Those of new ones go to the fixture. */
  readonly onLogLine: (line: string) => void;
}

/** The time between leaving the load balancer and SIGTERM, in which requests still arrive. */
const drainMs = 100;

/** An empty fleet. The fixture ends its instances. */
export function createFleet({ fixture, oldProgram, environment, onLogLine }: FleetOptions): Fleet {
  const members: Member[] = [];
  let turn = 0;
  const serving = (): Member[] => members.filter(({ state }) => state === "serving");

  async function start(version: Version): Promise<void> {
    const settings = { ...environment[version] };
    const own = (): Promise<ChildInstance> => fixture.start(settings);
    // Runs with only the readWrite role, as the old release's guide said. Its Import uses $indexStats, which that role
    // forbids, so no story imports a stream. Extra rights for an older release would go here.
    const older = (): Promise<ChildInstance> =>
      startChild(fixture.mongod.uri, fixture.redis.uri, settings, onLogLine, oldProgram);
    const instance = await (version === "new" ? own() : older());
    fixture.instances.push(instance);
    const internal = createPool(`http://127.0.0.1:${instance.internalPort}`);
    members.push({ version, instance, public: createPool(instance.base), internal, state: "serving" });
  }
  function oneOf(version: Version): Member {
    const member = serving().find((one) => one.version === version);
    if (member === undefined) throw new Error(`no instance of the ${version} version is serving`);
    return member;
  }

  return {
    serving,
    start,
    pick(version) {
      const all = serving();
      const wanted = all.filter((member) => member.version === version);
      const among = wanted.length > 0 ? wanted : all;
      const member = among[turn++ % among.length];
      if (member === undefined) throw new Error("no instance is serving");
      return member;
    },
    async replace(by) {
      await start(by);
      const member = oneOf(otherThan(by));
      member.state = "leaving";
      await sleep(drainMs);
      return member.instance.stop();
    },
    async killOne(version) {
      const member = oneOf(version);
      member.state = "killed";
      await member.instance.kill();
      await start(version);
    },
    close() {
      for (const member of members) for (const pool of [member.public, member.internal]) pool.close();
    },
  };
}
