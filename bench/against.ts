// This code against an older commit: both services over one database and one Redis, loaded in turn, round by round.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fixture } from "../fixtures/service/fixture.ts";
import { withFixture } from "../fixtures/service/fixture.ts";
import type { OlderCode } from "../fixtures/service/older.ts";
import { withOlderCode } from "../fixtures/service/older.ts";
import type { Compared, Side } from "./against-table.ts";
import type { AccountPlan } from "./dataset/accounts.ts";
import { mainAccount, smallData } from "./dataset/accounts.ts";
import { emailOf, loadData } from "./dataset/load.ts";
import { addContacts } from "./dataset/written.ts";
import type { WireRequest } from "./load/load.ts";
import type { Effort } from "./measure.ts";
import { measureLoad, warmUp } from "./measure.ts";
import { ours, serviceIn } from "./peers/peers.ts";
import type { LoadClient, PeerCommand, RunningPeer } from "./processes.ts";
import { pinToOtherCore, startLoadClient, startPeer } from "./processes.ts";
import * as requests from "./requests.ts";

/** How it is compared. */
export interface AgainstOptions {
  readonly commit: string;
  /** Sizes of the replica set, one after the other. */
  readonly members: readonly (1 | 3)[];
  /** Lines by their names; undefined for all. */
  readonly only: readonly string[] | undefined;
  readonly effort: Effort;
  readonly say: (line: string) => void;
}

/** The same for every line, so that lines can be compared. */
const connections = 8;
/** Contacts that are changed in turn: enough that two requests seldom meet. */
const changedContacts = 500;

/** Measures all lines. Leaves no process and no folder behind. */
export async function compareWith({ commit, members, only, effort, say }: AgainstOptions): Promise<Compared[]> {
  return withOlderCode(commit, async (older) => {
    say(`the older code is ${older.commit}, its dependencies ${older.dependencies}`);
    const compared: Compared[] = [];
    for (const count of members) {
      await withFixture({ members: count, instances: 0 }, async (fixture) => {
        const lines = Object.entries(await linesOn(fixture, say)).filter(
          ([name]) => only === undefined || only.includes(name),
        );
        await withPair(fixture, older, async (pair, client) => {
          for (const [line, asked] of lines)
            compared.push({ members: count, line, ...(await measurePair({ fixture, pair, client, asked, effort })) });
          say(`${count} member${count === 1 ? "" : "s"}: measured ${lines.map(([name]) => name).join(", ")}`);
        });
      });
    }
    return compared;
  });
}

/** The requests of every line, by its name. */
async function linesOn(
  { client, mongod, services: { accounts, apiKeys } }: Fixture,
  say: (line: string) => void,
): Promise<Record<string, readonly WireRequest[]>> {
  await loadData(client, smallData, say);
  const account = smallData.accounts.find(({ name }) => name === mainAccount) as AccountPlan;
  const [reader] = await accounts.ofEmail(emailOf(mainAccount), undefined);
  const writer = await accounts.create(emailOf("writes"), true);
  if (reader === undefined) throw new Error("the data has no main account");
  const [{ secret: key }, { secret: writeKey }] = [
    await apiKeys.create(reader._id, "read_write"),
    await apiKeys.create(writer._id, "read_write"),
  ];
  const ids = await addContacts({ client, accountId: writer._id, count: changedContacts });
  // Not before every member has all of it: catching up would count as the first line's.
  await client
    .db()
    .collection("bench_settled")
    .insertOne({}, { writeConcern: { w: mongod.members.length } });
  return {
    get: requests.getContact(account, key),
    sessions: requests.listSessions(key),
    contacts: requests.searchContacts(key),
    create: requests.createContact(writeKey, false),
    "create-key": requests.createContact(writeKey, true),
    patch: requests.patchContact(ids, writeKey, "phone"),
    rename: requests.patchContact(ids, writeKey, "full_name"),
  };
}

/** Runs the work with both services and the load client. */
async function withPair(
  fixture: Fixture,
  older: OlderCode,
  work: (pair: Record<Side, RunningPeer>, client: LoadClient) => Promise<void>,
): Promise<void> {
  const endings: (() => unknown)[] = [];
  try {
    const scratch = mkdtempSync(join(tmpdir(), "records-against-"));
    endings.push(() => rmSync(scratch, { recursive: true, force: true }));
    pinToOtherCore([...fixture.mongod.members, fixture.redis].map(({ pid }) => pid));
    const parts = { mongodbUri: fixture.mongod.uri, redisUrl: fixture.redis.uri };
    const started = async (command: PeerCommand): Promise<RunningPeer> => {
      const peer = await startPeer(command, "");
      endings.push(() => peer.stop());
      return peer;
    };
    const old = await started(serviceIn(older.folder, parts, join(scratch, "old")));
    const own = await started(ours(parts, join(scratch, "new")));
    const client = startLoadClient();
    endings.push(() => client.stop());
    await work({ old, new: own }, client);
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

/** What is measured, and with what. */
interface PairLoad {
  readonly fixture: Fixture;
  readonly pair: Readonly<Record<Side, RunningPeer>>;
  readonly client: LoadClient;
  readonly asked: readonly WireRequest[];
  readonly effort: Effort;
}

async function measurePair({
  fixture,
  pair,
  client,
  asked,
  effort: { rounds, seconds },
}: PairLoad): Promise<Pick<Compared, "rounds" | "failed">> {
  let failed = 0;
  const load = async (side: Side) => {
    const pids = {
      service: [pair[side].pid],
      mongod: fixture.mongod.members.map(({ pid }) => pid),
      redis: [fixture.redis.pid],
    };
    const { loaded, cpuUs } = await measureLoad(
      client,
      { ports: [pair[side].port], connections, seconds, requests: asked },
      pids,
    );
    failed += loaded.failed;
    return {
      requests: loaded.requests,
      rate: loaded.requests / loaded.seconds,
      p50Ms: loaded.p50Ms,
      p99Ms: loaded.p99Ms,
      serviceMs: cpuUs.service / 1_000,
      mongodMs: cpuUs.mongod / 1_000,
      redisMs: cpuUs.redis / 1_000,
    };
  };
  for (const side of ["old", "new"] as const) await warmUp(async () => (await load(side)).requests);
  const measured: Compared["rounds"][number][] = [];
  for (let round = 0; round < rounds; round++) {
    // Who comes first changes, so that what a load leaves behind meets both.
    const firstNew = round % 2 === 0 ? await load("new") : undefined;
    const older = await load("old");
    measured.push({ old: older, new: firstNew ?? (await load("new")) });
  }
  return { rounds: measured, failed };
}
