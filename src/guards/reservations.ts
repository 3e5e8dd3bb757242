// The fast path of idempotency in Redis: who is writing under a key right now, and the answers of those who have written.
import type { UUID } from "mongodb";
import type { RedisLink } from "../db/redis.ts";

/** A claim as it is stored, in the terms of MongoDB and of the answers kept in Redis. */
export interface StoredClaim {
  readonly fingerprint: Buffer;
  readonly message: Buffer;
  readonly body: string;
  /** For how long it still holds, by the database's clock; unset for one that was just stored. */
  readonly leftMs?: number;
}

/** What Redis knows of a key. `release` ends a reservation, with the answer to keep for those who repeat the request. */
export type Reservation =
  | { readonly kind: "answered"; readonly claim: StoredClaim }
  | { readonly kind: "in flight" }
  | { readonly kind: "reserved" | "unknown"; readonly release: (claim?: StoredClaim) => void };

/** Keeps two requests with one key from meeting in the database. Decides nothing: MongoDB has the truth. */
export interface Reservations {
  /** Reserves a name for this holder; "unknown" when Redis is away. Never rejects. */
  reserve(name: string, holder: string): Promise<Reservation>;
}

/** A reservation outlives its holder by this much at most: a repeated request then goes to the database itself. */
const leaseMs = 1_000;
const renewEveryMs = 300;
/** Far below the 24 hours that MongoDB remembers; an answer that holds no longer than a part of it is kept for that part. */
const answerMs = 3_600_000;

const reserveScript = "local held = redis.call('GET', KEYS[1]) if held then return held end redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return false";
const renewScript = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
const releaseScript = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/** What an idempotency key of an account is called among the reservations: the id first, by which an erasure finds it. */
export function reservationName(accountId: UUID, key: string): string {
  return `${accountId.toHexString()}:${key}`;
}

function keptUnder(name: string): string {
  return `idempotency:${name}`;
}

/** `redis` is undefined where there is none: every reservation is then "unknown". */
export function createReservations(redis: RedisLink | undefined): Reservations {
  if (redis === undefined) return { reserve: () => Promise.resolve({ kind: "unknown", release: () => undefined }) };

  function keep(key: string, claim: StoredClaim): void {
    const keptMs = Math.min(answerMs, Math.floor(claim.leftMs ?? answerMs));
    if (keptMs > 0) void redis?.attempt((client) => client.set(key, encode(claim), "PX", keptMs));
  }

  return {
    async reserve(name, holder) {
      const key = keptUnder(name);
      const held = await redis.attempt((client) => client.eval(reserveScript, 1, key, pending(holder), leaseMs));
      if (held === undefined) return { kind: "unknown", release: (claim) => claim !== undefined && keep(key, claim) };
      if (typeof held === "string") {
        const claim = decode(held);
        return claim === undefined ? { kind: "in flight" } : { kind: "answered", claim };
      }
      const renewal = setInterval(() => void redis.attempt((client) => client.eval(renewScript, 1, key, pending(holder), leaseMs)), renewEveryMs);
      return {
        kind: "reserved",
        release(claim) {
          clearInterval(renewal);
          if (claim !== undefined) keep(key, claim);
          else void redis.attempt((client) => client.eval(releaseScript, 1, key, pending(holder)));
        },
      };
    },
  };
}

function pending(holder: string): string {
  return `pending ${holder}`;
}

function encode({ fingerprint, message, body }: StoredClaim): string {
  return JSON.stringify([fingerprint.toString("base64"), message.toString("base64"), body]);
}

function decode(text: string): StoredClaim | undefined {
  if (text.startsWith("pending ")) return undefined;
  const [fingerprint, message, body] = JSON.parse(text) as [string, string, string];
  return { fingerprint: Buffer.from(fingerprint, "base64"), message: Buffer.from(message, "base64"), body };
}
