// 429: throttles requests by the account of their credential or by the client's address (contract §6).
import { hash } from "node:crypto";
import { networkOf } from "../config/address.ts";
import type { Deadline } from "../call/deadline.ts";
import { withDeadline } from "../call/deadline.ts";
import { Failure } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { setBounded } from "../call/bounded-cache.ts";
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
   * is written and before a response with data is sent.
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
  /** Missing if the credential is recognized only once. */
  readonly attempt?: Attempt | undefined;
}

/** One of the attempts to identify a caller. A second one follows when the operator's switches have become fresh. */
export interface Attempt {
  /** Whether the request has taken its token before. */
  readonly throttled: boolean;
  /** Called for an unreadable credential. Returns whether it is recognized again: until then it takes no token. */
  readonly isRepeated: () => boolean;
}

/** The result of recognizing a credential. */
export type Recognition<Holder> =
  | { readonly kind: "valid"; readonly holder: Holder; readonly proven: boolean }
  | { readonly kind: "invalid"; readonly failure: Failure | undefined }
  | { readonly kind: "unreadable"; readonly cause: unknown };

/** Recognizes the credentials of one kind. */
export interface Recognizer<Holder> {
  /**
   * Throttles the request and finds the holder. `credential` is undefined if the request has none that could be valid.
   * Fails with RATE_LIMITED, or with UNAVAILABLE under overload.
   */
  recognize(credential: Credential<Holder> | undefined, arrival: Arrival<Holder>): Promise<Recognition<Holder>>;
  /** Looks up a recognized credential again, without taking a token. */
  lookUpAgain(credential: Credential<Holder>, deadline: Deadline): Promise<Recognition<Holder>>;
  /** Records that the credential of this name has just been proven without a look-up. */
  proven(name: string): void;
  /** Returns what memory knows of the credential of this name. */
  presume(name: string): Presumption;
}

/** What is presumed of a credential that may be valid: "unknown" if this instance has not yet known it as valid. */
export type Presumption = Presumed | "unknown";

/** The presumed caller of a request that is rejected before its credential is looked at. */
export interface Presumed {
  /** The bucket to debit; undefined selects the bucket of the address. */
  readonly bucket: string | undefined;
  /** Whether the credential may have ended: its last use has not been proven. */
  readonly isOverdue: boolean;
}

/**
 * Creates the recognizer for a kind of credential. `bucketOf` returns the name of a holder's bucket; undefined selects
 * the bucket of the address.
 */
export type CreateRecognizer = <Holder>(bucketOf: (holder: Holder) => string | undefined) => Recognizer<Holder>;

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
/** The time within which a use of a remembered credential is to be proven, in milliseconds. */
const proofDueMs = 1_000;

/** Creates the recognizer for a kind of credential. All look-ups go through a recognizer. */
export function createRecognizer<Holder>(
  dependencies: RecognitionDependencies,
  bucketOf: (holder: Holder) => string | undefined,
): Recognizer<Holder> {
  const { throttle, capacity } = dependencies;
  const memory = createMemory<Holder>();
  const { knownHolder, lookUp, remembered, recordUse } = memory;
  const throttleHolder = createThrottleHolder(throttle, bucketOf);
  const lookUpUnknown = createLookUp(dependencies, memory, throttleHolder);
  /** Throttles a request that has no slot, so that it counts as one in progress. */
  const throttleCounted: ThrottleHolder<Holder> = (found, arrival) =>
    capacity.identify(found.kind === "valid" ? "verified" : "unverified", () => throttleHolder(found, arrival));

  /** Looks up a known credential before the throttle. Undefined if its validity remains unknown. */
  async function check(
    credential: Credential<Holder>,
    arrival: Arrival<Holder>,
  ): Promise<Recognition<Holder> | undefined> {
    const { deadline } = arrival;
    const found = await capacity
      .run("verified", deadline, () => lookUp(credential, deadline))
      .catch((cause: unknown) => ({ kind: "unreadable", cause }) as const);
    if (found.kind === "unreadable") return undefined;
    await throttleCounted(found, arrival);
    return found;
  }

  return {
    lookUpAgain: lookUp,
    proven: memory.proven,
    presume(name) {
      const known = memory.known(name);
      if (known === undefined) return "unknown";
      // An ended credential must not take a token of its account.
      const isOverdue = memory.isOverdue(known);
      return { isOverdue, bucket: isOverdue ? undefined : bucketOf(known.holder) };
    },
    async recognize(credential, arrival) {
      const { deadline, optional } = arrival;
      if (credential === undefined) {
        await throttleCounted(nobody, arrival);
        return nobody;
      }
      const checked = recordUse(credential) ? await check(credential, arrival) : undefined;
      if (checked !== undefined) return checked;
      const holder = knownHolder(credential);
      if (holder !== undefined) {
        await throttleCounted({ kind: "valid", holder, proven: false }, arrival);
        return remembered(credential) ?? capacity.run("verified", deadline, () => lookUp(credential, deadline));
      }
      try {
        return await lookUpUnknown(credential, arrival);
      } catch (error) {
        if (!optional || !(error instanceof Failure) || error.reason !== Reason.UNAVAILABLE) throw error;
        const unreadable = { kind: "unreadable", cause: error } as const;
        await throttleCounted(unreadable, arrival);
        return unreadable;
      }
    },
  };
}

/** Takes a token from the bucket of a valid credential's holder, or else of the address; one for each request. */
type ThrottleHolder<Holder> = (found: Recognition<Holder>, arrival: Arrival<Holder>) => Promise<void>;

function createThrottleHolder<Holder>(
  throttle: Throttle,
  bucketOf: (holder: Holder) => string | undefined,
): ThrottleHolder<Holder> {
  return async (found, { address, deadline, onHolder, attempt }) => {
    if (found.kind === "valid") onHolder(found.holder);
    if (attempt?.throttled === true || (found.kind === "unreadable" && attempt?.isRepeated() === true)) return;
    const bucket = found.kind === "valid" ? bucketOf(found.holder) : undefined;
    await throttle(bucket ?? addressBucket(address), deadline.tally);
  };
}

/**
 * Returns the look-up of a credential that is not known. It takes a look-up token first, and gives it back unless the
 * credential is invalid.
 */
function createLookUp<Holder>(
  { lookUps, capacity, onRejectedLookUp }: RecognitionDependencies,
  { lookUp, remembered }: Memory<Holder>,
  throttleHolder: ThrottleHolder<Holder>,
) {
  return async (credential: Credential<Holder>, arrival: Arrival<Holder>): Promise<Recognition<Holder>> => {
    const { address, deadline } = arrival;
    const giveBack = await takeLookUp({ lookUps, onRejectedLookUp }, address);
    let failed = false;
    try {
      return await capacity.run("unverified", deadline, async () => {
        // Another request may have found it valid while this one waited for a slot.
        const found = remembered(credential) ?? (await lookUp(credential, deadline));
        failed = found.kind === "invalid";
        await throttleHolder(found, arrival);
        return found;
      });
    } finally {
      if (!failed) giveBack();
    }
  };
}

/**
 * Takes one of the failed look-ups that a client's network may have. Returns a function that gives it back. Fails with
 * RATE_LIMITED if there is none left.
 */
export async function takeLookUp(
  { lookUps, onRejectedLookUp }: Pick<RecognitionDependencies, "lookUps" | "onRejectedLookUp">,
  address: string,
): Promise<() => void> {
  const network = networkOf(address);
  const waitMs = await lookUps.take(network);
  if (waitMs > 0) {
    onRejectedLookUp();
    rejectFor(waitMs);
  }
  return () => lookUps.giveBack(network);
}

const nobody = { kind: "invalid", failure: undefined } as const;

/** A holder whose credential was valid at its last look-up. */
interface Known<Holder> {
  readonly holder: Holder;
  /** When the last look-up or other proof succeeded, in milliseconds of `performance.now()`. */
  provenAt: number;
  /** The first use since then, or the last check. */
  usedAt: number;
}

type Memory<Holder> = ReturnType<typeof createMemory<Holder>>;

/** Looks up credentials, and remembers the holders of those that were valid at their last look-up. */
function createMemory<Holder>() {
  const memory = new Map<string, Known<Holder>>();
  const knownHolder = ({ name }: Credential<Holder>): Holder | undefined => memory.get(name)?.holder;

  async function lookUp(credential: Credential<Holder>, deadline: Deadline): Promise<Recognition<Holder>> {
    try {
      const holder = await withDeadline(deadline, credential.lookUp(deadline));
      if (holder !== undefined) {
        setBounded(memory, credential.name, { holder, provenAt: performance.now(), usedAt: -Infinity });
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

  function remembered(credential: Credential<Holder>): Recognition<Holder> | undefined {
    const known = memory.get(credential.name);
    if (known === undefined || !credential.isProvenLater(known.holder)) return undefined;
    return { kind: "valid", holder: known.holder, proven: false };
  }

  const isOverdue = ({ usedAt, provenAt }: Known<Holder>): boolean =>
    usedAt > provenAt && performance.now() - usedAt >= proofDueMs;

  /**
   * Records a use of the credential. Returns true if an earlier use has not been proven in time, once for each period.
   * A request for health, for an unknown path, or whose client disconnects proves nothing. Such a request must not take
   * a token of the account once its credential has ended.
   */
  function recordUse({ name }: Credential<Holder>): boolean {
    const known = memory.get(name);
    if (known === undefined) return false;
    const isUnproven = known.usedAt > known.provenAt;
    if (isUnproven && !isOverdue(known)) return false;
    known.usedAt = performance.now();
    return isUnproven;
  }

  function proven(name: string): void {
    const known = memory.get(name);
    if (known !== undefined) known.provenAt = performance.now();
  }

  return { known: (name: string) => memory.get(name), isOverdue, knownHolder, lookUp, remembered, proven, recordUse };
}
