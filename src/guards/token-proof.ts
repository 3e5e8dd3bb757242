// Proves that a previously valid token is still valid: by a read's command and a verification, or by a look-up.
import { setImmediate } from "node:timers/promises";
import type { Document, UUID } from "mongodb";
import type { Deadline } from "../call/deadline.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../call/errors.ts";
import type { Proof, UnprovenCredential } from "../call/scope.ts";

/** Proves the token of one request. */
export interface TokenProver {
  /**
   * Returns the proof that the next read must carry; undefined if none is needed or possible. The read never fails
   * because of it: `proveAfterRead` does.
   */
  unproven(): UnprovenCredential | undefined;
  /** Proves the token. Verifies it while `read` is in progress, whose command proves the rest. */
  prove(read?: Promise<unknown>): Promise<void>;
  /** Proves the token again if its proof began too long before the read finished. */
  proveAfterRead(): Promise<void>;
  /** Discards all earlier proofs. */
  discard(): void;
}

/** Dependencies of the proof. */
export interface ProverDependencies {
  /** The holder of the token at its last look-up. */
  readonly holder: { readonly accountId: UUID; readonly proof: Proof | undefined };
  /** Returns whether the token still verifies, as far as that can be checked without MongoDB. Never rejects. */
  verifies(): Promise<boolean>;
  /** Returns the deadline for work that starts now. */
  deadline(): Deadline;
  /** Looks up the token once a slot is free. Fails if the token is not valid, or if its validity is unknown. */
  lookUp(deadline: Deadline): Promise<{ readonly accountId: UUID }>;
  /** Looks up the token in the slot that the read already has. Fails as `lookUp` does. */
  lookUpInPlace(deadline: Deadline): Promise<{ readonly accountId: UUID }>;
  /**
   * Called when a read and the verification have proven the token. Fails if the interface is off, or may have been
   * switched off since the switches were read.
   */
  onProvenByRead(): void;
}

/** The maximum age of a proof. An older one is repeated before the read, or before its response. */
const slowMs = 500;

export function createProver(dependencies: ProverDependencies): TokenProver {
  const { holder } = dependencies;
  // Initially nothing is proven: a look-up before the body does not cover a read after it.
  let [lookedUpAt, readAt] = [-Infinity, -Infinity];
  const { isProven, verifies, discard } = createValidity(() => dependencies.verifies());

  /** Discards all earlier proofs: they may date from before the token ended. */
  function refuted(error: unknown): never {
    discard();
    throw error;
  }

  async function proveBy(lookUp: ProverDependencies["lookUp"], read?: Promise<unknown>): Promise<void> {
    if (isProven(lookedUpAt)) return;
    // Set before the read, so that a look-up after it has only the remaining time.
    const deadline = dependencies.deadline();
    // Sends the read's command before the verification occupies the processor.
    const verified = read === undefined ? verifies() : setImmediate().then(verifies);
    await read?.catch(() => undefined);
    if (isProven(lookedUpAt)) return;
    if (isProven(readAt) && (await verified)) return dependencies.onProvenByRead();
    const begunAt = performance.now();
    const { accountId } = await lookUp(deadline).catch(refuted);
    // The read may have used the account that the user had before.
    if (!accountId.equals(holder.accountId)) fail(Reason.UNAVAILABLE, { because: "other account" });
    lookedUpAt = begunAt;
  }

  /** Records the proof by a read that began at `begunAt` or later. If its rows prove nothing, a look-up decides. */
  function acceptRows(proof: Proof, rows: readonly Document[], begunAt: number): void {
    try {
      proof.require(rows);
      readAt = Math.max(readAt, begunAt);
    } catch {
      // The remembered facts may be older than the token's sign-in.
      discard();
    }
  }

  const proveAfterRead = (): Promise<void> => proveBy((deadline) => dependencies.lookUpInPlace(deadline));

  return {
    unproven() {
      const { proof } = holder;
      if (proof === undefined || isProven(lookedUpAt)) return undefined;
      const begunAt = performance.now();
      return {
        // Later commands of the request need not repeat the proof. A verification of the token has to follow.
        get proven() {
          return isProven(readAt);
        },
        setProven: () => undefined,
        proof: { ...proof, require: (rows) => acceptRows(proof, rows, begunAt) },
        prove: proveAfterRead,
      };
    },
    prove: (read) => proveBy((deadline) => dependencies.lookUp(deadline), read),
    proveAfterRead,
    discard,
  };
}

/** Tracks which proofs count: those that began recently, and later than the last discard. */
function createValidity(verify: () => Promise<boolean>) {
  let discardedAt = -Infinity;
  let verification = { at: -Infinity, result: Promise.resolve(false) };
  const isProven = (at: number): boolean => at > discardedAt && performance.now() - at < slowMs;
  return {
    isProven,
    /** Verifies the token, unless the last verification still counts. */
    verifies(): Promise<boolean> {
      if (!isProven(verification.at)) verification = { at: performance.now(), result: verify() };
      return verification.result;
    },
    discard(): void {
      discardedAt = performance.now();
    },
  };
}
