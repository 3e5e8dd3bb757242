// Load shedding: 429 and 503 from memory alone, before anything else is done for a request (contract §6).
import type { Arrived, Shed } from "../call/dispatch.ts";
import { setBounded } from "../call/bounded-cache.ts";
import type { Failure } from "../call/errors.ts";
import type { BoundedCapacity } from "./capacity.ts";
import { overload } from "./capacity.ts";
import type { Presumed, Presumption } from "./credentials.ts";
import { addressBucket, rateLimited } from "./throttle.ts";

/** The buckets of callers, as far as this instance knows them. */
export interface RememberedBuckets {
  /** Returns whether any bucket may be known to be empty. */
  someEmpty(): boolean;
  /**
   * Returns the milliseconds until a bucket can have this many tokens, after `before` others have taken one each; 0 if it
   * may have them now.
   */
  wait(bucket: string, tokens: number, before: number): number;
  /** Takes a token from a bucket. */
  debit(bucket: string): void;
}

/** Dependencies of the load shedding. */
export interface SheddingDependencies {
  readonly capacity: Pick<BoundedCapacity, "isFull" | "expect" | "expected">;
  readonly buckets: RememberedBuckets;
  /** Returns the milliseconds for which no credential of a client may be looked up; 0 if one may be. */
  readonly waitForLookUp: (address: string) => number;
  /** Returns what is presumed of the request's credential; undefined if it has none, or one that cannot be valid. */
  readonly presume: (request: Arrived) => Presumption | undefined;
  /** Called for every request rejected with UNAVAILABLE. */
  readonly onOverload: () => void;
  /** Called for every request rejected with RATE_LIMITED; with its bucket, if its credential is known. */
  readonly onRemembered: (request: Arrived, bucket: string | undefined) => void;
}

/** The maximum number of failures that are kept, by their waits in seconds. */
const maxLimited = 100;

/**
 * Creates the load shedding. A request that begins at once costs it no more than two comparisons unless there is
 * something to reject.
 */
export function createShedding({
  capacity,
  buckets,
  waitForLookUp,
  presume,
  onOverload,
  onRemembered,
}: SheddingDependencies): Shed {
  const overloaded = overload();
  const empty = new Map<string, Failure>();
  /** Rejections are frequent, and an error with its stack costs as much as a response. */
  const limited = (waitMs: number): Failure => {
    const seconds = String(Math.ceil(waitMs / 1000));
    const failure = empty.get(seconds) ?? rateLimited(waitMs);
    setBounded(empty, seconds, failure, maxLimited);
    return failure;
  };

  /** Returns the milliseconds until a bucket can have a token beside those of the requests that wait for their turn. */
  const waitBehind = (bucket: string): number => buckets.wait(bucket, 1, capacity.expected("verified", bucket));

  return (request) => {
    const { onTurn } = request;
    const isBusy = capacity.isFull("verified") || capacity.isFull("unverified");
    if (!isBusy && onTurn === undefined && !buckets.someEmpty()) return undefined;
    const { bucket: taken } = request.target();
    const isDebited = taken === "caller";
    if (taken === undefined || (!isBusy && !isDebited)) return undefined;
    const said = presume(request);
    const presumed = isKnown(said) ? said : undefined;
    const bucket = isDebited ? (presumed?.bucket ?? addressBucket(request.address())) : undefined;
    // A credential that is not known may be valid, and have a bucket of its own: only the limit of look-ups applies.
    const isUnknown = said === "unknown" || presumed?.isOverdue === true;
    const wait = bucket === undefined ? 0 : isUnknown ? waitForLookUp(request.address()) : waitBehind(bucket);
    if (wait > 0) {
      onRemembered(request, presumed?.bucket);
      return limited(wait); // 429
    }
    const credential = presumed === undefined ? "unverified" : "verified";
    if (!capacity.isFull(credential)) {
      if (onTurn === undefined || bucket === undefined) return undefined;
      // Without a limit, any number of requests could arrive before the first begins.
      const leave = capacity.expect(credential, bucket);
      if (leave !== undefined) return void onTurn(leave);
    }
    if (bucket !== undefined) buckets.debit(bucket);
    onOverload();
    return overloaded; // 503
  };
}

function isKnown(said: Presumption | undefined): said is Presumed {
  return said !== undefined && said !== "unknown";
}
