// 429: throttles requests by the account of their credential or by the client's address (contract §6).
import { hash } from "node:crypto";
import { networkOf } from "../address.ts";
import type { Deadline } from "../deadline.ts";
import { within } from "../deadline.ts";
import { Failure } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { setBounded } from "../bounded-cache.ts";
import type { Capacity } from "./capacity.ts";
import type { KnownBuckets } from "./known-buckets.ts";
import type { Throttle } from "./throttle.ts";
import { addressBucket, rejectFor } from "./throttle.ts";

/** A well-formed credential of a request. */
export interface Credential<Holder> {
  /** Unique among the credentials of its kind. Kept in memory, so it must be useless for signing in. */
  readonly name: string;
  /**
   * Returns whether an earlier result may be used for this holder. If so, the credential must be proven before anything
   * is written and before the response is sent.
   */
  isProvenLater(holder: Holder): boolean;
  /**
   * Finds the holder. Undefined or a failure with 401 means that the credential is not valid. Any other failure means
   * that its validity is unknown.
   */
  lookUp(deadline: Deadline): Promise<Holder | undefined>;
}

/** Returns the name of a credential that is sent as it is: its SHA-256 digest in base64. */
export function digestName(secret: string): string {
  return hash("sha256", secret, "base64");
}

/** The facts of a request that are known before its credential is looked up. */
export interface Arrival<Holder> {
  readonly address: string;
  readonly deadline: Deadline;
  /** Whether the request is served even without a valid credential, and under overload. */
  readonly optional: boolean;
  /** Called with the holder before the request is throttled. */
  readonly onHolder: (holder: Holder) => void;
}

/** The result of recognizing a credential. */
export type Found<Holder> =
  | { readonly kind: "valid"; readonly holder: Holder; readonly proven: boolean }
  | { readonly kind: "invalid"; readonly failure: Failure | undefined }
  | { readonly kind: "unreadable"; readonly cause: unknown };

/** Recognizes the credentials of one kind. */
export interface Recognizer<Holder> {
  /**
   * Throttles the request and finds the holder. `credential` is undefined if the request has none that could be valid.
   * Fails with RATE_LIMITED, or with UNAVAILABLE under overload.
   */
  recognize(credential: Credential<Holder> | undefined, arrival: Arrival<Holder>): Promise<Found<Holder>>;
  /** Looks up a recognized credential again, without taking a token. */
  lookUpAgain(credential: Credential<Holder>, deadline: Deadline): Promise<Found<Holder>>;
}

/**
 * Creates the recognizer for a kind of credential. `bucketOf` returns the name of a holder's bucket; undefined selects
 * the bucket of the address.
 */
export type Recognizers = <Holder>(bucketOf: (holder: Holder) => string | undefined) => Recognizer<Holder>;

/** Dependencies that all recognizers share. */
export interface RecognitionDependencies {
  readonly throttle: Throttle;
  /** The buckets of failed look-ups, by client network. */
  readonly lookUps: Pick<KnownBuckets, "take" | "giveBack">;
  readonly capacity: Capacity;
  /** Called for every look-up that these buckets reject. */
  readonly onRejectedLookUp: () => void;
}

/**
 * The limit of failed look-ups for a client network. The burst is large, because a new instance sees all keys of an
 * office at once.
 */
export const lookUpSize = { rate: 20, burst: 256 } as const;

/** Creates the recognizer for a kind of credential. All look-ups go through a recognizer. */
export function createRecognizer<Holder>(
  { throttle, lookUps, capacity, onRejectedLookUp }: RecognitionDependencies,
  bucketOf: (holder: Holder) => string | undefined,
): Recognizer<Holder> {
  const { knownHolder, lookUp, remembered } = createMemory<Holder>();

  async function throttleHolder(holder: Holder, { address, deadline, onHolder }: Arrival<Holder>): Promise<void> {
    onHolder(holder);
    await throttle(bucketOf(holder) ?? addressBucket(address), deadline.tally);
  }

  /** Takes a look-up token before the look-up, and gives it back unless the credential is invalid. */
  async function lookUpUnknown(credential: Credential<Holder>, arrival: Arrival<Holder>): Promise<Found<Holder>> {
    const { address, deadline } = arrival;
    const network = networkOf(address);
    const waitMs = await lookUps.take(network);
    if (waitMs > 0) {
      onRejectedLookUp();
      rejectFor(waitMs);
    }
    let failed = false;
    try {
      return await capacity.run("unverified", deadline, async () => {
        // Another request may have found it valid while this one waited for a slot.
        const found = remembered(credential) ?? (await lookUp(credential, deadline));
        failed = found.kind === "invalid";
        if (found.kind === "valid") await throttleHolder(found.holder, arrival);
        else await throttle(addressBucket(address), deadline.tally);
        return found;
      });
    } finally {
      if (!failed) lookUps.giveBack(network);
    }
  }

  return {
    lookUpAgain: lookUp,
    async recognize(credential, arrival) {
      const { address, deadline, optional } = arrival;
      if (credential === undefined) {
        const work = (): Promise<void> => throttle(addressBucket(address), deadline.tally);
        await (optional ? work() : capacity.run("unverified", deadline, work));
        return nobody;
      }
      const holder = knownHolder(credential);
      if (holder !== undefined) {
        await throttleHolder(holder, arrival);
        return remembered(credential) ?? capacity.run("verified", deadline, () => lookUp(credential, deadline));
      }
      try {
        return await lookUpUnknown(credential, arrival);
      } catch (error) {
        if (!optional || !(error instanceof Failure) || error.reason !== Reason.UNAVAILABLE) throw error;
        await throttle(addressBucket(address), deadline.tally);
        return { kind: "unreadable", cause: error };
      }
    },
  };
}

const nobody = { kind: "invalid", failure: undefined } as const;

/** Looks up credentials, and remembers the holders of those that were valid at their last look-up. */
function createMemory<Holder>() {
  const memory = new Map<string, Holder>();
  const knownHolder = ({ name }: Credential<Holder>): Holder | undefined => memory.get(name);

  async function lookUp(credential: Credential<Holder>, deadline: Deadline): Promise<Found<Holder>> {
    try {
      const holder = await within(deadline, credential.lookUp(deadline));
      if (holder !== undefined) {
        setBounded(memory, credential.name, holder);
        return { kind: "valid", holder, proven: true };
      }
      memory.delete(credential.name);
      return nobody;
    } catch (error) {
      if (!(error instanceof Failure) || error.kind.http !== 401) return { kind: "unreadable", cause: error };
      memory.delete(credential.name);
      return { kind: "invalid", failure: error };
    }
  }

  function remembered(credential: Credential<Holder>): Found<Holder> | undefined {
    const holder = knownHolder(credential);
    const isUsable = holder !== undefined && credential.isProvenLater(holder);
    return isUsable ? { kind: "valid", holder, proven: false } : undefined;
  }

  return { knownHolder, lookUp, remembered };
}
