// Watches the members past the network: which of them say that they are primary, from when to when, and whether they
// serve reads.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { now } from "./operation.ts";

/** A time in which a member said at every look that it is primary, by one election, and served a read. */
export interface Claim {
  readonly member: string;
  /** Of two elections the later one has the greater id. */
  readonly election: string;
  readonly from: number;
  readonly to: number;
}

/** The watch. */
export interface Primaries {
  readonly claims: readonly Claim[];
  /** Straight to a member. */
  direct(member: string): MongoClient;
  /** The member with the latest election that is primary now; waits for one. */
  current(): Promise<string>;
  stop(): Promise<void>;
}

const everyMs = 50;
/** A member that takes longer is not looked at: it may be stopped. */
const respondsWithinMs = 1_000;

/** Watches members by their names, with a URI for an administrator that leads to each alone. */
export function watchPrimaries(members: ReadonlyMap<string, string>): Primaries {
  const options = {
    serverSelectionTimeoutMS: 400,
    connectTimeoutMS: 1_000,
    heartbeatFrequencyMS: 500,
  };
  const clients = new Map([...members].map(([name, uri]) => [name, new MongoClient(uri, options)]));
  const claims: { member: string; election: string; from: number; to: number }[] = [];
  let stopped = false;

  async function look(member: string, client: MongoClient): Promise<void> {
    let last: (typeof claims)[number] | undefined;
    while (!stopped) {
      const from = now();
      const election = await inTime(electionOf(client, () => stopped));
      const to = now();
      if (election === undefined) last = undefined;
      else if (last?.election === election) last.to = to;
      // What it said was true at some time in between.
      else claims.push((last = { member, election, from: to, to }));
      await sleep(Math.max(5, everyMs - (to - from)));
    }
  }
  const looking = [...clients].map(([member, client]) => look(member, client));

  return {
    claims,
    direct: (member) => clients.get(member) as MongoClient,
    async current() {
      for (;;) {
        const recent = claims
          .filter(({ to }) => to > now() - 300)
          .sort((one, other) => (one.election < other.election ? -1 : 1));
        const last = recent.at(-1);
        if (last !== undefined) return last.member;
        await sleep(20);
      }
    },
    async stop() {
      stopped = true;
      await Promise.all(looking);
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** The longest time since then in which two members were primary by different elections, and both served reads. */
export function overlapMs(claims: readonly Claim[], since: number): number {
  const among = claims.filter(({ to }) => to > since);
  const overlaps = among.flatMap((one) =>
    among
      .filter((other) => other.member !== one.member)
      .map((other) => Math.min(one.to, other.to) - Math.max(one.from, other.from)),
  );
  return Math.max(0, ...overlaps);
}

/** The election by which a member is primary; undefined where it is not, or serves no read. */
async function electionOf(client: MongoClient, stopped: () => boolean): Promise<string | undefined> {
  const { isWritablePrimary, electionId } = await client.db("admin").command({ hello: 1 });
  // A client that is closed would connect again.
  if (isWritablePrimary !== true || stopped()) return undefined;
  await client
    .db("records")
    .collection("contacts")
    .findOne({}, { projection: { _id: 1 }, readConcern: { level: "local" }, readPreference: "primaryPreferred" });
  return String(electionId);
}

function inTime<T>(response: Promise<T>): Promise<T | undefined> {
  return Promise.race([response.catch(() => undefined), sleep(respondsWithinMs, undefined, { ref: false })]);
}
