// Limits of one instance: buckets for requests, documents and failed look-ups, and slots for concurrent work.
import type { RedisLink } from "../db/redis.ts";
import { networkOf } from "../config/address.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import type { Inbound, Shed } from "../call/dispatch.ts";
import type { BucketSize } from "./bucket.ts";
import type { BoundedCapacity, Queueing } from "./capacity.ts";
import { createCapacity } from "./capacity.ts";
import type { CreateRecognizer } from "./credentials.ts";
import { createRecognizer, lookUpSize } from "./credentials.ts";
import { createKnownBuckets } from "./known-buckets.ts";
import { sharedBucket } from "./shared-bucket.ts";
import type { RememberedBuckets, SheddingDependencies } from "./shedding.ts";
import { createShedding } from "./shedding.ts";
import type { Throttle } from "./throttle.ts";
import { addressBucket, createThrottle } from "./throttle.ts";
import type { ReceiveUnidentified } from "./unidentified-body.ts";
import { createReceiveUnidentified } from "./unidentified-body.ts";

/** The limits that an instance applies to requests. */
export interface Limits {
  readonly throttle: Throttle;
  readonly capacity: BoundedCapacity;
  /** Throttles a request for a document. Fails with RATE_LIMITED. */
  throttleDocument(inbound: Pick<Inbound, "address" | "tally">): Promise<void>;
  /**
   * Sends a large body once few enough are being sent, in total and to the client's network. Fails with UNAVAILABLE if
   * too many wait, and with CANCELLED if the client disconnects while it waits.
   */
  sendLarge(send: () => Promise<void>, inbound: Pick<Inbound, "address" | "limits">): Promise<void>;
  /** Creates the load shedding, by the presumed callers of requests. */
  shedding(rules: Pick<SheddingDependencies, "presume" | "onRemembered">): Shed;
  readonly recognizers: CreateRecognizer;
  readonly receiveUnidentified: ReceiveUnidentified;
  /** Returns the number of callers' buckets in this instance's memory. */
  fallbackBuckets(): number;
}

/** Counters of the limits' decisions. */
export interface LimitCounters {
  readonly throttleFallbacks: { inc(): void };
  readonly throttledFromMemory: { inc(): void };
  readonly rejectedLookUps: { inc(): void };
  readonly overloaded: { inc(): void };
}

/** The burst is large because a page loads several documents at once: itself and its files. */
const documentSize = { rate: 20, burst: 100 };
/** The maximum number of large bodies sent at once: about 30 MB if all are uncompressed. */
const maxLargeBodies = 8;
/** The maximum for one network, so that others get slots however slowly its clients read. */
const maxPerNetwork = 2;
/** A page requests its files at once, and a client may read slowly. */
const largeQueueing: Queueing = {
  maxWorking: { verified: maxLargeBodies, unverified: 0 },
  maxWaiting: { verified: 256, unverified: 0 },
  maxWaitMs: { verified: 3_000, unverified: 0 },
};

/**
 * Creates the limits. `redis` is undefined if there is none. `maxInFlight` is the maximum number of concurrent
 * requests.
 */
export function createLimits(
  redis: RedisLink | undefined,
  size: BucketSize,
  maxInFlight: number,
  counters: LimitCounters,
): Limits {
  const onFallback = (): void => counters.throttleFallbacks.inc();
  const onRemembered = (): void => counters.throttledFromMemory.inc();
  const onOverload = (): void => counters.overloaded.inc();
  const known = createKnownBuckets(size);
  const capacity = createCapacity(maxInFlight, onOverload);
  const shared = redis && sharedBucket(redis, size, known, { onRemembered });
  let emptyUntil = -Infinity;
  const throttle = createThrottle(shared, known, size.rate, onFallback, (waitMs) => {
    emptyUntil = Math.max(emptyUntil, performance.now() + waitMs);
  });
  const buckets: RememberedBuckets = {
    someEmpty: () => performance.now() < emptyUntil,
    wait: (shared ?? known).wait,
    debit: known.debit,
  };
  const knownDocuments = createKnownBuckets(documentSize);
  const documents = createThrottle(
    redis && sharedBucket(redis, documentSize, knownDocuments, { prefix: "documents", onRemembered }),
    knownDocuments,
    documentSize.rate,
    onFallback,
  );
  const recognition = {
    throttle,
    lookUps: createKnownBuckets(lookUpSize),
    capacity,
    onRejectedLookUp: () => counters.rejectedLookUps.inc(),
  };
  return {
    throttle,
    capacity,
    throttleDocument: ({ address, tally }) => documents(addressBucket(address), tally),
    shedding: ({ presume, onRemembered: onRejected }) =>
      createShedding({
        capacity,
        buckets,
        waitForLookUp: (address) => recognition.lookUps.wait(networkOf(address), 1),
        presume,
        onOverload,
        onRemembered(request, bucket) {
          onRemembered();
          onRejected(request, bucket);
        },
      }),
    sendLarge: createSendLarge(onOverload),
    recognizers: (bucketOf) => createRecognizer(recognition, bucketOf),
    receiveUnidentified: createReceiveUnidentified(recognition),
    fallbackBuckets: known.count,
  };
}

/** Creates the limit on sending large bodies. `networks` has those to which one is being sent, or waits to be sent. */
export function createSendLarge(
  onOverload: () => void,
  networks = new Map<string, BoundedCapacity>(),
): Limits["sendLarge"] {
  const all = createCapacity(maxLargeBodies, onOverload, largeQueueing);
  return async (send, { address, limits }) => {
    const name = networkOf(address);
    const network = networks.get(name) ?? createCapacity(maxPerNetwork, onOverload, largeQueueing);
    networks.set(name, network);
    const deadline = deadlineIn(deadlineMs, limits);
    try {
      await network.run("verified", deadline, () => all.run("verified", deadline, send));
    } finally {
      const { working, waiting } = network.state();
      if (working.verified + waiting === 0) networks.delete(name);
    }
  };
}
