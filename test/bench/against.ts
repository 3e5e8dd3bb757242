// Compares this code with an older commit: both services share MongoDB and Redis and are loaded in turn, round by
// round.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fixture } from "../fixtures/service/fixture.ts";
import { withFixture } from "../fixtures/service/fixture.ts";
import type { OlderCode } from "../fixtures/service/older.ts";
import { withOlderCode } from "../fixtures/service/older.ts";
import type { Compared } from "./against-table.ts";
import { isSlower } from "./against-table.ts";
import type { AccountPlan } from "./dataset/accounts.ts";
import { mainAccount, smallData } from "./dataset/accounts.ts";
import { emailOf, loadData } from "./dataset/load.ts";
import { addContacts } from "./dataset/written.ts";
import type { WireRequest } from "./load/load.ts";
import type { Effort, PairLoad } from "./measure.ts";
import { measureRun, measureRuns } from "./measure.ts";
import { ours, serviceIn } from "./peers/peers.ts";
import type { LoadClient, PeerCommand, RunningPeer } from "./processes.ts";
import { pinToOtherCore, startLoadClient, startPeer } from "./processes.ts";
import * as requests from "./requests.ts";
import type { Run, Sides } from "./results.ts";

export interface AgainstOptions {
  readonly commit: string;
  /** Sizes of the replica set to measure, in order. */
  readonly members: readonly (1 | 3)[];
  /** Names of lines; undefined for all. */
  readonly only: readonly string[] | undefined;
  readonly effort: Effort;
  /** The Node that runs both services. */
  readonly node: string;
  /** Lines that take more than this many times the CPU time are measured again; undefined for none. */
  readonly limit: number | undefined;
  readonly say: (line: string) => void;
}

/** The same for every line, so that lines are comparable. */
const connections = 8;
/** Contacts to change in turn: enough that two requests rarely conflict. */
const changedContacts = 500;

/** Measures all lines. Leaves no process and no folder behind. */
export async function compareWith(options: AgainstOptions): Promise<Compared[]> {
  const { commit, members, only, say } = options;
  return withOlderCode(commit, async (older) => {
    say(`the older code is ${older.commit}; dependencies: ${older.dependencies}`);
    const compared: Compared[] = [];
    for (const count of members) {
      await withFixture({ members: count, instances: 0 }, async (fixture) => {
        const lines = Object.entries(await linesOn(fixture, say)).filter(
          ([name]) => only === undefined || only.includes(name),
        );
        await withPair(fixture, older, options.node, async (pair, client) => {
          for (const [line, requests] of lines) {
            const runs = await runsOf(pairLoad(fixture, pair, client, requests, options), options);
            compared.push({ members: count, line, runs });
            say(`${count} member${count === 1 ? "" : "s"}: measured ${line}`);
          }
        });
      });
    }
    return compared;
  });
}

async function runsOf(pair: PairLoad, { effort, limit, say }: AgainstOptions): Promise<Run[]> {
  const runs = await measureRuns(() => measureRun(pair), effort, say);
  if (limit === undefined || !isSlower({ runs }, limit)) return runs;
  say(`more than ${limit} times the CPU time: measuring again`);
  return [...runs, await measureRun(pair)];
}

function pairLoad(
  { mongod, redis }: Fixture,
  { own, other }: Sides<RunningPeer>,
  client: LoadClient,
  requests: readonly WireRequest[],
  { effort, say }: AgainstOptions,
): PairLoad {
  return {
    sides: { own: { peer: own, requests }, other: { peer: other, requests } },
    databases: { mongod: mongod.members.map(({ pid }) => pid), redis: [redis.pid] },
    client,
    connections,
    effort,
    say,
  };
}

/** The requests of every line, by name. */
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
  // Waits for replication, so that its cost does not count for the first line.
  await client
    .db()
    .collection("bench_settled")
    .insertOne({}, { writeConcern: { w: mongod.members.length } });
  return {
    get: requests.getContact(account, key),
    sessions: requests.listSessions(key),
    contacts: requests.searchContacts(key),
    notes: requests.searchNotes(key),
    create: requests.createContact(writeKey, false),
    "create-key": requests.createContact(writeKey, true),
    append: requests.appendNote(ids, writeKey),
    patch: requests.patchContact(ids, writeKey, "phone"),
    rename: requests.patchContact(ids, writeKey, "full_name"),
  };
}

/** Runs the work with both services and the load client. */
async function withPair(
  fixture: Fixture,
  older: OlderCode,
  node: string,
  work: (pair: Sides<RunningPeer>, client: LoadClient) => Promise<void>,
): Promise<void> {
  const cleanups: (() => unknown)[] = [];
  try {
    const scratch = mkdtempSync(join(tmpdir(), "records-against-"));
    cleanups.push(() => rmSync(scratch, { recursive: true, force: true }));
    pinToOtherCore([...fixture.mongod.members, fixture.redis].map(({ pid }) => pid));
    const parts = { mongodbUri: fixture.mongod.uri, redisUrl: fixture.redis.uri, node };
    const started = async (command: PeerCommand): Promise<RunningPeer> => {
      const peer = await startPeer(command, "");
      cleanups.push(() => peer.stop());
      return peer;
    };
    const other = await started(serviceIn(older.folder, parts, join(scratch, "old")));
    const own = await started(ours(parts, join(scratch, "new")));
    const client = startLoadClient();
    cleanups.push(() => client.stop());
    await work({ own, other }, client);
  } finally {
    for (const end of cleanups.reverse()) await end();
  }
}
