// Proves that the primary of a client is one, several times a second, so that the reads of the client are current.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoServerError } from "mongodb";
import type { Document, MongoClient, ObjectId, ServerDescription, TopologyDescription } from "mongodb";
import { collections } from "./collections.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, isPast, requireTime } from "../deadline.ts";
import { timed } from "../tally.ts";
import type { Lease, LeaseStatus, Term } from "./lease.ts";
import { createLease, leaseMs } from "./lease.ts";

/** Gets what a proof has read, and when its request was sent. */
export type ProofListener = (switches: Document[] | undefined, sentAt: number) => void;

/** The primary that a client reads from and writes to. */
export interface Primary extends Pick<Lease, "require" | "confirm" | "status"> {
  /**
   * Resolves when a write that is stored may be acknowledged: while the lease is held, no other instance reads from a
   * primary without it. Fails with UNAVAILABLE at the deadline.
   */
  safe(deadline: Deadline): Promise<void>;
  /** What the clock of the database will say at this instant of ours, as far as the last proof shows; never later. */
  databaseTime(at: number): Date;
  /** Requests a proof now, and resolves when it is there or has failed. */
  prove(): Promise<void>;
  /** Resolves when the lease is held. Rejects after `waitMs`, saying why it is not. */
  held(waitMs: number): Promise<void>;
  /**
   * Gets the operator's switches with every proof, the newest state last; undefined where a proof failed. They are read
   * by the proof itself, so that they are as current as the lease. `sentAt` is in milliseconds of `performance.now()`.
   */
  onProof(listener: ProofListener): void;
  /** Whether the client is connected to a mongos, behind which it does not see any primary. */
  sharded(): boolean;
  /** Calls the listener when the lease is lost, and when it is there again. */
  onLease(listener: (status: LeaseStatus) => void): void;
}

/** Between the starts of two proofs. Several can be under way, so that a slow network does not break the lease. */
const everyMs = 250;
/** How many proofs can be under way, each on a connection of the prober's. */
export const mostAtOnce = 6;
/** What stands for the primary of a sharded cluster. */
const router = "mongos";
/** Between two looks at the lease by who waits for it. */
const pollMs = 20;

const watched = new WeakMap<MongoClient, Primary>();

/** The primary of a client that `watchPrimary` follows. */
export function primaryOf(client: MongoClient): Primary {
  const primary = watched.get(client);
  if (primary === undefined) throw new Error("this client has no lease: open it with connectMongo");
  return primary;
}

/** What the clock of the database says now, as far as the last proof shows: instances need not agree on the time. */
export function databaseNow(client: MongoClient): Date {
  return primaryOf(client).databaseTime(performance.now());
}

/**
 * Follows the primary of a client that is not connected yet, until the client is closed. The proofs go through
 * `prober`,
 * a client of their own, which is closed with it: they do not wait for connections behind requests.
 */
export function watchPrimary(client: MongoClient, prober: MongoClient): void {
  const lease = createLease();
  const { primary, stop } = createPrimary(lease, (term) => proofOf(prober, term));
  client.on("topologyDescriptionChanged", ({ newDescription }) => {
    const leader = leaderOf(newDescription);
    lease.observe(leader);
    // What has come back is proven at once.
    if (leader !== undefined) void primary.prove();
  });
  client.once("topologyClosed", () => {
    stop();
    void prober.close();
  });
  watched.set(client, primary);
}

/** Keeps the lease by requesting one proof after the other, until it is stopped. */
export function createPrimary(
  lease: Lease,
  requestProof: (term: Term | undefined) => Promise<Proof>,
): { readonly primary: Primary; stop(): void } {
  let proofListener: ProofListener = () => undefined;
  let leaseListener: (status: LeaseStatus) => void = () => undefined;
  let wasHeld = true;
  let [sent, replied, underWay] = [0, 0, 0];
  // Until the first proof, nothing is known that could come too late.
  let clock = { localTime: Date.now(), readAt: performance.now() };

  async function prove(): Promise<void> {
    const term = lease.term();
    const number = ++sent;
    const sentAt = performance.now();
    underWay += 1;
    const proof = await requestProof(term).catch((error: unknown) => {
      if (error instanceof MongoServerError) lease.replied(term);
      return undefined;
    });
    underWay -= 1;
    if (proof !== undefined) lease.proven(term, sentAt, proof.electionId);
    // A reply that a later one overtook says how things were before.
    if (number < replied) return;
    replied = number;
    clock = proof ?? clock;
    proofListener(proof?.switches, sentAt);
  }

  const timer = setInterval(() => {
    if (underWay < mostAtOnce) void prove();
    const status = lease.status();
    if (status.held !== wasHeld) leaseListener(status);
    wasHeld = status.held;
  }, everyMs).unref();

  const primary: Primary = {
    ...lease,
    prove,
    databaseTime: (at) => new Date(clock.localTime + Math.floor(at - clock.readAt)),
    async safe(deadline) {
      if (lease.status().held) return;
      await timed(deadline.tally, "dbMs", "the primary's lease", async () => {
        while (!lease.status().held) {
          requireTime(deadline);
          await sleep(pollMs);
        }
      });
    },
    sharded: () => lease.term()?.leader.address === router,
    held: (waitMs) => proveUntilHeld(lease, prove, deadlineIn(waitMs)),
    onProof(listener) {
      proofListener = listener;
    },
    onLease(listener) {
      leaseListener = listener;
    },
  };
  return { primary, stop: () => clearInterval(timer) };
}

async function proveUntilHeld(lease: Lease, prove: () => Promise<void>, deadline: Deadline): Promise<void> {
  for (;;) {
    await prove();
    const { held, reason } = lease.status();
    if (held) return;
    if (isPast(deadline)) throw new Error(`MONGODB_URI: ${reason ?? "the primary is unknown"}`);
    await sleep(pollMs);
  }
}

/** What a member has replied: the switches, by a read that proves it the primary, and by which election it leads. */
export interface Proof {
  readonly switches: Document[];
  readonly electionId: string;
  /** Its clock, in milliseconds since 1970, and when that was received, in milliseconds of `performance.now()`. */
  readonly localTime: number;
  readonly readAt: number;
}

/**
 * By a linearizable read, to which a member replies only after a majority has confirmed that it still leads. Where
 * nobody else can lead, the read needs no such confirmation. Elections of a member only ever follow each other, so that
 * the election it names afterwards is the one by which it replied.
 */
async function proofOf(prober: MongoClient, term: Term | undefined): Promise<Proof> {
  if (term === undefined) throw new Error("no primary is known");
  const { alone, electionId } = term.leader;
  const command = {
    find: collections.switches,
    readConcern: { level: alone ? "majority" : "linearizable" },
    maxTimeMS: leaseMs,
    comment: "watch",
  };
  const signal = AbortSignal.timeout(leaseMs);
  const { cursor } = await prober.db().command(command, { signal });
  const { firstBatch: switches } = cursor as { firstBatch: Document[] };
  const hello = await prober.db("admin").command({ hello: 1, comment: "watch" }, { signal });
  const clock = { localTime: (hello["localTime"] as Date).getTime(), readAt: performance.now() };
  return {
    switches,
    ...clock,
    electionId: alone ? electionId : ((hello["electionId"] as ObjectId | undefined)?.toHexString() ?? ""),
  };
}

/** Undefined while the driver sees no primary. */
function leaderOf({ type, servers }: TopologyDescription) {
  if (type === "Sharded") return { address: router, electionId: "", alone: true };
  for (const server of servers.values()) if (server.type === "RSPrimary") return memberOf(server);
  return undefined;
}

function memberOf({ address, electionId, hosts, passives, arbiters }: ServerDescription) {
  return {
    address,
    electionId: electionId?.toHexString() ?? "",
    alone: hosts.length + passives.length + arbiters.length === 1,
  };
}
