// The setup of the drill: three members and three instances on an unreliable network, a provider, and an account with a
// key.
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { directUri } from "../../fixtures/databases/database.ts";
import { startThreeMongods } from "../../fixtures/databases/own-mongod.ts";
import type { OwnMongod } from "../../fixtures/databases/own-mongod.ts";
import type { Account, Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Network } from "../fixture/network.ts";
import { startNetwork } from "../fixture/network.ts";
import type { Credentials } from "../fixture/user.ts";
import { createUser } from "../fixture/user.ts";
import type { Plain } from "./plain.ts";
import { startPlain } from "./plain.ts";
import type { Primaries } from "./primaries.ts";
import { watchPrimaries } from "./primaries.ts";

/** What to break and what to call. */
export interface Site {
  readonly fixture: Fixture;
  readonly network: Network;
  readonly primaries: Primaries;
  readonly plain: Plain;
  readonly account: Account;
  /** Network names: m0, m1, m2. */
  readonly members: readonly string[];
  /** Network names: i0, i1, i2. */
  readonly instances: readonly string[];
  instance(name: string): ChildInstance;
  /** The current process of a member or an instance. */
  pid(name: string): number;
  /** Sets how long members wait for the primary's heartbeat before they hold an election. */
  setElectionTimeout(ms: number): Promise<void>;
  user(name: string): Promise<User>;
}

/** A user with an account and every kind of credential. */
export interface User extends Credentials {
  readonly name: string;
}

const members = ["m0", "m1", "m2"];

/** Runs the work on a site and cleans up. `onLogLine` gets every line of the instances' logs. */
export async function onPartitionableSite<T>(
  environment: Readonly<Record<string, string>>,
  onLogLine: (line: string) => void,
  work: (site: Site) => Promise<T>,
): Promise<T> {
  let mongod: OwnMongod | undefined;
  let fixture: Fixture | undefined;
  const names = (): Map<number, string> =>
    new Map<number, string>([
      [process.pid, "drill"],
      ...(mongod?.members ?? []).map(({ pid }, at): [number, string] => [pid, `m${at}`]),
      ...(fixture?.instances ?? []).map(({ pid }, at): [number, string] => [pid, `i${at}`]),
    ]);
  const network = startNetwork(names);
  const provider = await startFakeProvider();
  try {
    const mongods = async (): Promise<OwnMongod> =>
      (mongod = await startThreeMongods((hosts) => Promise.all(hosts.map((host, at) => network.join(`m${at}`, host)))));
    const settings = {
      ...provider.settings(),
      LOG_LEVEL: "error",
      MAX_IN_FLIGHT: "256",
      ...environment,
    };
    return await withFixture(
      { members: 3, mongods, instances: 3, environment: settings, onLogLine },
      async (started) => {
        fixture = started;
        const primaries = watchPrimaries(
          new Map(
            started.mongod.members.map(({ uri }, at) => [
              `m${at}`,
              directUri(started.mongod.administratorUri, new URL(uri).host),
            ]),
          ),
        );
        const plain = startPlain(started.mongod.administratorUri);
        try {
          return await work(siteOf(started, network, primaries, plain, provider, await started.account()));
        } finally {
          await plain.stop();
          await primaries.stop();
        }
      },
    );
  } finally {
    await network.close();
    await provider.stop();
  }
}

function siteOf(
  fixture: Fixture,
  network: Network,
  primaries: Primaries,
  plain: Plain,
  provider: FakeProvider,
  account: Account,
): Site {
  const { client, mongod } = fixture;
  const at = (name: string): number => Number(name.slice(1));
  const instance = (name: string): ChildInstance => fixture.instances[at(name)] as ChildInstance;
  return {
    fixture,
    network,
    primaries,
    plain,
    account,
    instance,
    members,
    instances: ["i0", "i1", "i2"],
    pid: (name) => (name.startsWith("m") ? mongod.members[at(name)]?.pid : instance(name).pid) as number,
    async setElectionTimeout(ms) {
      const { config } = await client.db("admin").command({ replSetGetConfig: 1 });
      const changed = {
        ...config.settings,
        electionTimeoutMillis: ms,
        heartbeatIntervalMillis: Math.min(2_000, ms / 4),
      };
      await client
        .db("admin")
        .command({ replSetReconfig: { ...config, version: config.version + 1, settings: changed } });
    },
    user: async (name) => ({ name, ...(await createUser(fixture, provider, name)) }),
  };
}
