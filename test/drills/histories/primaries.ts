// Polls the members directly, bypassing the simulated network, to record when each claims to be primary and serves
// reads.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { now } from "./operation.ts";

/** A period in which a member, in every poll, claimed to be primary by the same election and served a read. */
export interface Claim {
  readonly member: string;
  readonly election: string;
  readonly from: number;
  readonly to: number;
}

/** Watches the members until stopped. */
export interface Primaries {
  readonly claims: readonly Claim[];
  /** A client connected directly to a member. */
  direct(member: string): MongoClient;
  /** Waits for a primary and returns the one with the latest election. */
  current(): Promise<string>;
  stop(): Promise<void>;
}

const everyMs = 50;
/** A poll that takes longer is dropped: the member may be stopped. */
const respondsWithinMs = 1_000;

/** Watches members by name. Each has a direct URI for an administrator. */
export function watchPrimaries(members: ReadonlyMap<string, string>): Primaries {
  const options = {
    serverSelectionTimeoutMS: 400,
    connectTimeoutMS: 1_000,
    heartbeatFrequencyMS: 500,
  };
  const clients = new Map([...members].map(([name, uri]) => [name, new MongoClient(uri, options)]));
  const claims: { member: string; election: string; from: number; to: number }[] = [];
  let stopped = false;

  async function poll(member: string, client: MongoClient): Promise<void> {
    let last: (typeof claims)[number] | undefined;
    while (!stopped) {
      const from = now();
      const election = await inTime(electionOf(client, () => stopped));
      const to = now();
      if (election === undefined) last = undefined;
      else if (last?.election === election) last.to = to;
      // The claim was true at some time in between.
      else claims.push((last = { member, election, from: to, to }));
      await sleep(Math.max(5, everyMs - (to - from)));
    }
  }
  const polling = [...clients].map(([member, client]) => poll(member, client));

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
      await Promise.all(polling);
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** The longest time since then in which two members were primary by different elections and both served reads. */
export function overlapMs(claims: readonly Claim[], since: number): number {
  const among = claims.filter(({ to }) => to > since);
  const overlaps = among.flatMap((one) =>
    among
      .filter((other) => other.member !== one.member)
      .map((other) => Math.min(one.to, other.to) - Math.max(one.from, other.from)),
  );
  return Math.max(0, ...overlaps);
}

/** The election by which a member is primary; undefined if it is not, or serves no reads. */
async function electionOf(client: MongoClient, stopped: () => boolean): Promise<string | undefined> {
  const { isWritablePrimary, electionId } = await client.db("admin").command({ hello: 1 });
  // A closed client would reconnect.
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
