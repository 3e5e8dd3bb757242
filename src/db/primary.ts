// Confirms several times a second that a client's primary still leads, so that the client's reads are current.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoServerError } from "mongodb";
import type { Document, MongoClient, ObjectId, ServerDescription, TopologyDescription } from "mongodb";
import { collections } from "./collections.ts";
import { connectionsOf } from "./connection-check.ts";
import { unauthorized } from "./error-codes.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, isPast, requireNotPast } from "../call/deadline.ts";
import { timed } from "../call/tally.ts";
import type { Lease, LeaseStatus, Term } from "./lease.ts";
import { createLease, leaseMs } from "./lease.ts";

/** Receives the result of a proof, and when its request was sent. */
export type ProofListener = (switches: Document[] | undefined, sentAt: number) => void;

/** The primary that a client reads from and writes to. */
export interface Primary extends Pick<Lease, "require" | "confirm" | "status"> {
  /**
   * Resolves once a stored write may be acknowledged: while the lease is held, no other instance reads from a primary
   * without the write. Fails with UNAVAILABLE at the deadline.
   */
  waitUntilDurable(deadline: Deadline): Promise<void>;
  /**
   * Estimates the database's clock at a local instant from the last proof. The estimate is never later than the clock.
   */
  databaseTime(at: number): Date;
  /** Requests a proof, and resolves when it has succeeded or failed. */
  prove(): Promise<void>;
  /** Resolves when the lease is held. Rejects after `waitMs` with the reason why it is not. */
  waitUntilHeld(waitMs: number): Promise<void>;
  /**
   * Sets the listener that receives the operator's switches from every proof, never an older state after a newer one;
   * undefined if a proof failed. The proof itself reads them, so they are as current as the lease. `sentAt` is in
   * milliseconds of `performance.now()`.
   */
  onProof(listener: ProofListener): void;
  /** Whether the client is connected to a mongos, which hides the primaries. */
  sharded(): boolean;
  /** Sets the listener that is called when the lease is lost or regained, and soon if it is not held now. */
  onLease(listener: (status: LeaseStatus) => void): void;
}

/** The interval between proofs. Several can be under way, so that a slow network does not break the lease. */
const everyMs = 250;
/** The maximum number of proofs under way, each on a connection of the prober. */
export const maxConcurrent = 6;
/** Takes the place of the primary's address in a sharded cluster. */
const router = "mongos";
/** The polling interval of callers that wait for the lease. */
const pollMs = 20;

const watched = new WeakMap<MongoClient, Primary>();

/** Returns the primary of a client passed to `watchPrimary`. */
export function primaryOf(client: MongoClient): Primary {
  const primary = watched.get(client);
  if (primary === undefined) throw new Error("this client has no lease: open it with connectMongo");
  return primary;
}

/** Estimates the database's current time from the last proof, because the clocks of instances can differ. */
export function databaseNow(client: MongoClient): Date {
  return primaryOf(client).databaseTime(performance.now());
}

/**
 * Follows the primary of a client until the client is closed. Call it before the client connects. Proofs use `prober`,
 * a separate client that is closed with the first, so that they never wait for a connection behind requests.
 */
export function watchPrimary(client: MongoClient, prober: MongoClient): void {
  const lease = createLease(undefined, () => connectionsOf(client).failure()?.code ?? "no lease");
  const { primary, stop } = createPrimary(lease, (term) => proofOf(prober, term));
  client.on("topologyDescriptionChanged", ({ newDescription }) => {
    const leader = leaderOf(newDescription);
    lease.observe(leader);
    // Proves a returning primary at once.
    if (leader !== undefined) void primary.prove();
  });
  client.once("topologyClosed", () => {
    stop();
    void prober.close();
  });
  watched.set(client, primary);
}

/** Keeps the lease by requesting proofs until stopped. */
export function createPrimary(
  lease: Lease,
  requestProof: (term: Term | undefined) => Promise<Proof>,
): { readonly primary: Primary; stop(): void } {
  let proofListener: ProofListener = () => undefined;
  let leaseListener: (status: LeaseStatus) => void = () => undefined;
  let wasHeld = true;
  let [sent, replied, underWay] = [0, 0, 0];
  // This machine's clock, until the first proof. Nothing is written before that.
  let clock = { localTime: Date.now(), readAt: performance.now() };

  async function prove(): Promise<void> {
    const term = lease.term();
    const number = ++sent;
    const sentAt = performance.now();
    underWay += 1;
    const proof = await requestProof(term).catch((error: unknown) => {
      if (error instanceof MongoServerError)
        lease.rejected(term, error.codeName ?? String(error.code), error.code === unauthorized);
      return undefined;
    });
    underWay -= 1;
    if (proof !== undefined) lease.proven(term, sentAt, proof.electionId);
    // A reply that a later one overtook is stale.
    if (number < replied) return;
    replied = number;
    clock = proof ?? clock;
    proofListener(proof?.switches, sentAt);
  }

  const timer = setInterval(() => {
    if (underWay < maxConcurrent) void prove();
    const status = lease.status();
    if (status.held !== wasHeld) leaseListener(status);
    wasHeld = status.held;
  }, everyMs).unref();

  const primary: Primary = {
    ...lease,
    prove,
    databaseTime: (at) => new Date(clock.localTime + Math.floor(at - clock.readAt)),
    async waitUntilDurable(deadline) {
      if (lease.status().held) return;
      await timed(deadline.tally, "dbMs", "the primary's lease", async () => {
        while (!lease.status().held) {
          requireNotPast(deadline);
          await sleep(pollMs);
        }
      });
    },
    sharded: () => lease.term()?.leader.address === router,
    waitUntilHeld: (waitMs) => proveUntilHeld(lease, prove, deadlineIn(waitMs)),
    onProof(listener) {
      proofListener = listener;
    },
    onLease(listener) {
      leaseListener = listener;
      wasHeld = true;
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

/** The reply of a primary to a proof: the switches, and the election by which the primary leads. */
export interface Proof {
  readonly switches: Document[];
  readonly electionId: string;
  /**
   * The primary's clock, in milliseconds since 1970, and when it was received, in milliseconds of `performance.now()`.
   */
  readonly localTime: number;
  readonly readAt: number;
}

/**
 * Requests a linearizable read, to which a member replies only after a majority has confirmed that it still leads. If
 * no other member can lead, the read needs no confirmation. A member's elections only advance, so the election it
 * reports afterwards is the one by which it replied.
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

/** Returns the primary that the driver sees; undefined if it sees none. */
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
