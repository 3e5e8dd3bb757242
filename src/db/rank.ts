// Rank: the number by which indexes order records newest first, derived from instant and id (contract §3).
import type { UUID } from "mongodb";

/** Ranks count milliseconds since 2020, in steps with room for a tie-breaker. Small numbers make small indexes. */
const epoch = Date.UTC(2020, 0, 1);
const steps = 256;

/** Below the rank of every date that a Timestamp can hold (year 1), and above that of every record without a date. */
const firstDated = -(2 ** 55);
const undatedBase = -(2 ** 56);

/** The spacing of doubles at the largest rank, in the year 9999: only multiples of 8 exist there. */
const coarse = 8;
const lastUndated = firstDated - coarse;

/**
 * Returns the rank of a record with this date. A byte of the id orders records of one millisecond. If doubles cannot
 * represent every whole number, the byte is rounded down: rounding up could reach the next millisecond.
 */
export function rankAt(date: Date, id: UUID): number {
  const first = (date.getTime() - epoch) * steps;
  const byte = id.id[15] ?? 0;
  return first + (Number.isSafeInteger(first) ? byte : byte - (byte % coarse));
}

/**
 * Returns the rank of a record without a date: after all dated records, in the order of creation, up to the year 6480.
 */
export function rankUndated(createdAt: Date, id: UUID): number {
  return Math.min(undatedBase + rankAt(createdAt, id), lastUndated);
}

/** Returns the ranks of dated records between two inclusive instants, in milliseconds since 1970. */
export function rankBetween(first: number | undefined, last: number | undefined): { $gte: number; $lt?: number } {
  return {
    $gte: first === undefined ? firstDated : (first - epoch) * steps,
    ...(last === undefined ? {} : { $lt: (last + 1 - epoch) * steps }),
  };
}

/** Returns the instant of a dated record by its rank, in milliseconds since 1970; undefined for an undated one. */
export function instantOf(rank: number): number | undefined {
  return rank < firstDated ? undefined : Math.floor(rank / steps) + epoch;
}
