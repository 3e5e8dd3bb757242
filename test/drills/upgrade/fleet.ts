// The instances of both versions as a load balancer sees them: which serve, which are leaving, and which were killed.
import { setTimeout as sleep } from "node:timers/promises";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { startChild } from "../../fixtures/service/child.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { Pool } from "../load/pool.ts";
import { createPool } from "../load/pool.ts";

/** The release before, or this code. */
export type Version = "old" | "new";

/** The other one. */
export const otherThan = (version: Version): Version => (version === "old" ? "new" : "old");

/** An instance and the connections to it. */
export interface Member {
  readonly version: Version;
  readonly instance: ChildInstance;
  readonly public: Pool;
  readonly internal: Pool;
  /** `leaving` gets no new requests and completes those it has; `killed` sends nothing. */
  state: "serving" | "leaving" | "killed";
}

/** All instances. */
export interface Fleet {
  /** The next instance of this version that serves; of the other one where there is none. */
  pick(version: Version): Member;
  /** Those that serve now. */
  serving(): readonly Member[];
  start(version: Version): Promise<void>;
  /** Starts an instance of one version, then stops one of the other by SIGTERM; its exit code. */
  replace(by: Version): Promise<number | null>;
  /** SIGKILL to an instance; another of its version takes its place. */
  killOne(version: Version): Promise<void>;
  close(): void;
}

/** How instances are started. */
export interface FleetOptions {
  readonly fixture: Fixture;
  /** What node runs for an instance of the older version. */
  readonly oldProgram: readonly string[];
  readonly environment: Readonly<Record<Version, Readonly<Record<string, string>>>>;
  /** Gets every line of the log of an old instance; those of new ones go to the fixture. */
  readonly onLogLine: (line: string) => void;
}

/** Between leaving the load balancer's list and SIGTERM: requests that were about to be sent arrive. */
const drainMs = 100;

/** A fleet without instances. The fixture ends all of them. */
export function createFleet({ fixture, oldProgram, environment, onLogLine }: FleetOptions): Fleet {
  const members: Member[] = [];
  let turn = 0;
  const serving = (): Member[] => members.filter(({ state }) => state === "serving");

  async function start(version: Version): Promise<void> {
    const settings = { ...environment[version] };
    const own = (): Promise<ChildInstance> => fixture.start(settings);
    // The same user, with readWrite alone, as its own guide said. Its Import and its look after the search index use
    // $indexStats, which that role forbids: no story imports a stream. Only here could an older release get more
    // rights.
    const older = (): Promise<ChildInstance> =>
      startChild(fixture.mongod.uri, fixture.redis.uri, settings, onLogLine, oldProgram);
    const instance = await (version === "new" ? own() : older());
    fixture.instances.push(instance);
    const internal = createPool(`http://127.0.0.1:${instance.internalPort}`);
    members.push({ version, instance, public: createPool(instance.base), internal, state: "serving" });
  }
  function oneOf(version: Version): Member {
    const member = serving().find((one) => one.version === version);
    if (member === undefined) throw new Error(`no instance of the ${version} version serves`);
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
      if (member === undefined) throw new Error("no instance serves");
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
