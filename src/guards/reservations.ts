// Fast path of idempotency in Redis: reservations of writes in progress, and the responses of completed ones.
import { hash } from "node:crypto";
import type { UUID } from "mongodb";
import type { RedisLink } from "../db/redis.ts";
import type { Tally } from "../call/tally.ts";

/** A stored claim, from MongoDB or from Redis. */
export interface StoredClaim {
  readonly fingerprint: Buffer;
  readonly message: Buffer;
  readonly body: string;
  /** How long it remains valid, in milliseconds by the database's clock; unset if it was just stored. */
  readonly leftMs?: number;
  /** True if a record in the response was deleted, and the response with it. */
  readonly erased?: boolean;
}

/**
 * The state of a key in Redis. `release` ends a reservation, and stores the response, if given, for repeated requests.
 */
export type Reservation =
  | { readonly kind: "completed"; readonly claim: StoredClaim }
  | { readonly kind: "in flight" }
  | { readonly kind: "reserved" | "unknown"; readonly release: (claim?: StoredClaim) => void };

/** Prevents two requests with one key from colliding in the database. Only an optimization: MongoDB decides. */
export interface Reservations {
  /**
   * Reserves a name for this holder. Returns "unknown" if Redis is unavailable or its value is unreadable. Never
   * rejects.
   */
  reserve(name: string, holder: string, tally?: Tally): Promise<Reservation>;
}

/**
 * The maximum time for which a reservation outlives its holder. Then a repeated request goes to the database itself.
 */
const leaseMs = 1_000;
const renewEveryMs = 300;
/**
 * How long Redis keeps a response: far less than the 24 hours of MongoDB. A response that expires sooner is kept only
 * until then.
 */
export const responseMs = 3_600_000;

/** Reads the value. A value of another type, which GET rejects, counts as absent. */
const get = "local held = redis.pcall('GET', KEYS[1]) if type(held) == 'table' then held = false end ";
const reserveScript = `${get} if held then return held end redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return false`;
const renewScript = `${get} if held == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;
const releaseScript = `${get} if held == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
const keepScript = `${get} if held == ARGV[2] then return 0 end redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3]) return 1`;

/**
 * Replaces an erased response for as long as an instance could store it again. A request that finds the mark reads
 * MongoDB. An instance of the previous release treats it as another request's response.
 */
export const erasedMark = JSON.stringify(["", "", ""]);

/** Returns the name of an account's idempotency key. The account id comes first, so that an erasure finds the name. */
export function reservationName(accountId: UUID, key: string): string {
  return `${accountId.toHexString()}:${key}`;
}

/** Returns the Redis key for a name. */
export function redisKeyOf(name: string): string {
  return `idempotency:${name}`;
}

/** Creates the reservations. `redis` is undefined if there is none. Every reservation is then "unknown". */
export function createReservations(redis: RedisLink | undefined): Reservations {
  if (redis === undefined) return { reserve: () => Promise.resolve({ kind: "unknown", release: () => undefined }) };

  /** Returns false if the claim may not be kept. */
  const keep = (key: string, claim: StoredClaim | undefined): boolean => {
    if (claim === undefined || claim.erased === true) return false;
    const keptMs = Math.min(responseMs, Math.floor(claim.leftMs ?? responseMs));
    if (keptMs <= 0) return false;
    void redis.attempt(key, ({ run }) => run(keepScript, encode(claim), erasedMark, keptMs));
    return true;
  };

  return {
    async reserve(name, holder, tally) {
      const key = redisKeyOf(name);
      const held = await redis.attempt(key, ({ run }) => run(reserveScript, pending(holder), leaseMs), tally);
      const unknown = { kind: "unknown", release: (claim?: StoredClaim) => void keep(key, claim) } as const;
      if (held === undefined) return unknown;
      if (typeof held === "string") {
        if (held.startsWith(pending(""))) return { kind: "in flight" };
        const claim = decode(held);
        return claim === undefined ? unknown : { kind: "completed", claim };
      }
      const renewal = setInterval(
        () => void redis.attempt(key, ({ run }) => run(renewScript, pending(holder), leaseMs)),
        renewEveryMs,
      );
      return {
        kind: "reserved",
        release(claim) {
          clearInterval(renewal);
          if (!keep(key, claim)) void redis.attempt(key, ({ run }) => run(releaseScript, pending(holder)));
        },
      };
    },
  };
}

function pending(holder: string): string {
  return `pending ${holder}`;
}

/** Adds a checksum, so that `decode` recognizes foreign values. */
function encode({ fingerprint, message, body }: StoredClaim): string {
  const parts = [fingerprint.toString("base64"), message.toString("base64"), body];
  return JSON.stringify([...parts, checksumOf(parts)]);
}

/** Returns undefined for a value that `encode` did not write. */
function decode(text: string): StoredClaim | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Undefined is no array.
  }
  if (!Array.isArray(value)) return undefined;
  const [fingerprint, message, body, checksum] = value as unknown[];
  if (typeof fingerprint !== "string" || typeof message !== "string" || typeof body !== "string") return undefined;
  if (checksum !== checksumOf([fingerprint, message, body])) return undefined;
  return { fingerprint: Buffer.from(fingerprint, "base64"), message: Buffer.from(message, "base64"), body };
}

function checksumOf(parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "base64");
}
