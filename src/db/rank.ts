// Rank: the number by which the indexes hold records newest first, one for each instant and record (contract §3).
import type { UUID } from "mongodb";

/**
 * Milliseconds since 2020, in steps that leave room for a tie-breaker: the shorter the number, the smaller the index.
 */
const epoch = Date.UTC(2020, 0, 1);
const steps = 256;

/** Below the rank of every date that a Timestamp can hold (year 1), above that of every record without a date. */
const firstDated = -(2 ** 55);
const undatedBase = -(2 ** 56);

/** The spacing of doubles at the largest rank, in the year 9999: only every eighth whole number exists there. */
const coarse = 8;
const lastUndated = firstDated - coarse;

/**
 * The rank of a record with this date; records of one millisecond are ordered by a byte of their ids. Where doubles
 * cannot represent every whole number, the byte is rounded down: rounding up could reach the next millisecond.
 */
export function rankAt(date: Date, id: UUID): number {
  const first = (date.getTime() - epoch) * steps;
  const byte = id.id[15] ?? 0;
  return first + (Number.isSafeInteger(first) ? byte : byte - (byte % coarse));
}

/** The rank of a record without a date: after all that have one, by when it was created, up to the year 6480. */
export function rankUndated(createdAt: Date, id: UUID): number {
  return Math.min(undatedBase + rankAt(createdAt, id), lastUndated);
}

/** The ranks of dated records between two instants, in milliseconds since 1970, both included. */
export function rankBetween(first: number | undefined, last: number | undefined): { $gte: number; $lt?: number } {
  return {
    $gte: first === undefined ? firstDated : (first - epoch) * steps,
    ...(last === undefined ? {} : { $lt: (last + 1 - epoch) * steps }),
  };
}
