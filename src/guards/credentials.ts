// 429 for every kind of credential: charges a request to the account behind it, or to the address (contract §6).
import type { UUID } from "mongodb";
import { networkOf } from "../address.ts";
import type { Deadline } from "../deadline.ts";
import { within } from "../deadline.ts";
import { Failure } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { keep } from "../remembered.ts";
import type { LocalBucket } from "./bucket.ts";
import type { Capacity } from "./capacity.ts";
import type { Throttle } from "./throttle.ts";
import { accountBucket, addressBucket, refuseFor } from "./throttle.ts";

/** A credential as a request bears it, in its right form. */
export interface Credential<Holder> {
  /** Tells it from all others of its kind; what is kept in memory lets nobody sign in. */
  readonly name: string;
  /** Whether what was found before is relied on, because the validity is proven before the response leaves. */
  readonly provenLater: boolean;
  /**
   * Who holds it. Undefined, or a failure that is a 401, where it is not valid; any other failure means that it cannot
   * be told.
   */
  lookUp(): Promise<Holder | undefined>;
}

/** What a request says of itself before its credential is looked at. */
export interface Arrival<Holder> {
  readonly address: string;
  readonly deadline: Deadline;
  /** Whether the request is served whatever becomes of its credential and however much there is to do. */
  readonly optional: boolean;
  /** Hears who it is before anything is charged. */
  readonly onHolder: (holder: Holder) => void;
}

/** What came of it. */
export type Found<Holder> =
  | { readonly kind: "valid"; readonly holder: Holder; readonly proven: boolean }
  | { readonly kind: "invalid"; readonly failure: Failure | undefined }
  | { readonly kind: "unreadable"; readonly cause: unknown };

/** Recognizes the credentials of one kind. */
export interface Recognizer<Holder> {
  /**
   * Charges the request and tells who sends it; `credential` is undefined where it has none that could be valid. Fails
   * with RATE_LIMITED, or with UNAVAILABLE where there is too much to do.
   */
  recognize(credential: Credential<Holder> | undefined, arrival: Arrival<Holder>): Promise<Found<Holder>>;
  /** Looks up once more what was recognized, without a charge. */
  lookUpAgain(credential: Credential<Holder>, deadline: Deadline): Promise<Found<Holder>>;
}

/** Makes the recognizer of a kind of credential; `accountOf` tells the account that is charged. */
export type Recognizers = <Holder>(accountOf: (holder: Holder) => UUID | undefined) => Recognizer<Holder>;

/** What every recognizer shares. */
export interface RecognitionParts {
  readonly throttle: Throttle;
  /** The look-ups that may fail for an address. */
  readonly lookUps: LocalBucket;
  readonly capacity: Capacity;
  /** Hears of every look-up that was refused. */
  readonly onRefusedLookUp: () => void;
}

/** How many look-ups may fail for an address: a fresh instance meets all keys of an office at once. */
export const lookUpSize = { rate: 20, burst: 256 } as const;

/** Makes the recognizer of a kind of credential: there is no other way to look one up. */
export function createRecognizer<Holder>(
  { throttle, lookUps, capacity, onRefusedLookUp }: RecognitionParts,
  accountOf: (holder: Holder) => UUID | undefined,
): Recognizer<Holder> {
  const memory = new Map<string, Holder>();
  const nobody: Found<Holder> = { kind: "invalid", failure: undefined };

  async function lookUp(credential: Credential<Holder>, deadline: Deadline): Promise<Found<Holder>> {
    try {
      const holder = await within(deadline, credential.lookUp());
      if (holder !== undefined) {
        keep(memory, credential.name, holder);
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

  function remembered({ name, provenLater }: Credential<Holder>): Found<Holder> | undefined {
    const holder = provenLater ? memory.get(name) : undefined;
    return holder && { kind: "valid", holder, proven: false };
  }

  async function charge(holder: Holder, { address, onHolder }: Arrival<Holder>): Promise<void> {
    onHolder(holder);
    const accountId = accountOf(holder);
    await throttle(accountId === undefined ? addressBucket(address) : accountBucket(accountId));
  }

  /** The look-up is paid for before it is made; it costs nothing where the credential is valid, or cannot be told. */
  async function meet(credential: Credential<Holder>, arrival: Arrival<Holder>): Promise<Found<Holder>> {
    const { address, deadline } = arrival;
    const network = networkOf(address);
    const waitMs = lookUps.takeNow(network);
    if (waitMs > 0) {
      onRefusedLookUp();
      refuseFor(waitMs);
    }
    let failed = false;
    try {
      return await capacity.run("stranger", deadline, async () => {
        // Another request may have found it valid while this one waited for a place.
        const found = remembered(credential) ?? (await lookUp(credential, deadline));
        failed = found.kind === "invalid";
        if (found.kind === "valid") await charge(found.holder, arrival);
        else await throttle(addressBucket(address));
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
        const work = (): Promise<void> => throttle(addressBucket(address));
        await (optional ? work() : capacity.run("stranger", deadline, work));
        return nobody;
      }
      const holder = memory.get(credential.name);
      if (holder !== undefined) {
        await charge(holder, arrival);
        return remembered(credential) ?? capacity.run("known", deadline, () => lookUp(credential, deadline));
      }
      try {
        return await meet(credential, arrival);
      } catch (error) {
        if (!optional || !(error instanceof Failure) || error.reason !== Reason.UNAVAILABLE) throw error;
        await throttle(addressBucket(address));
        return { kind: "unreadable", cause: error };
      }
    },
  };
}
