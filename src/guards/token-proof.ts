// The proof of a token that was valid before: by the command of a read and the verification beside it, or by a look-up.
import type { Document, UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import type { Proof, Unproven } from "./scope.ts";

/** The token of one request. */
export interface TokenProver {
  /** What the next read has to prove of the token; undefined where it was proven lately. */
  unproven(): Unproven | undefined;
  /** Proves the token. It is verified while `read` is under way, whose command proves the rest. */
  prove(read?: Promise<unknown>): Promise<void>;
  /** Proves the token again where its proof began long before the read was done. */
  proveAfterRead(): Promise<void>;
}

/** What the proof is made of. */
export interface ProofParts {
  /** Whose the token was when it was last looked up. */
  readonly holder: { readonly accountId: UUID; readonly proof: Proof | undefined };
  /** Whether that was for this request. */
  readonly isNew: boolean;
  /** Whether the token verifies as before, as far as MongoDB is not needed. Never rejects. */
  verifies(): Promise<boolean>;
  /** Looks the token up as soon as there is a place for it. Fails where it is not valid, or cannot be known to be. */
  lookUp(): Promise<{ readonly accountId: UUID }>;
  /** The same within the place that a read has. */
  lookUpInPlace(): Promise<{ readonly accountId: UUID }>;
  /** Fails where the interface is off, or where it may have been switched off. */
  requireSwitches(): void;
}

/** A proof that began earlier is made again: before the read, or before its response. */
const slowMs = 500;

export function createProver(parts: ProofParts): TokenProver {
  const { holder, isNew, requireSwitches } = parts;
  const verifies = shared(() => parts.verifies());
  let [lookedUpAt, readAt] = [isNew ? performance.now() : -Infinity, -Infinity];

  async function proveBy(lookUp: ProofParts["lookUp"], read?: Promise<unknown>): Promise<void> {
    if (isLately(lookedUpAt)) return;
    const verified = verifies();
    await read?.catch(() => undefined);
    if (isLately(lookedUpAt)) return;
    if (isLately(readAt) && (await verified)) return requireSwitches();
    const begunAt = performance.now();
    const { accountId } = await lookUp();
    // The read may have begun in the account that the user had before.
    if (!accountId.equals(holder.accountId)) fail(Reason.UNAVAILABLE, { because: "other account" });
    lookedUpAt = begunAt;
  }
  return {
    unproven: () =>
      isLately(lookedUpAt) ? undefined : unprovenBy(holder.proof, (begunAt) => (readAt = Math.max(readAt, begunAt))),
    prove: (read) => proveBy(() => parts.lookUp(), read),
    proveAfterRead: () => proveBy(() => parts.lookUpInPlace()),
  };
}

function isLately(at: number): boolean {
  return performance.now() - at < slowMs;
}

/** Work that is done again only where it began long ago. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    if (last === undefined || !isLately(last.at)) last = { at: performance.now(), result: work() };
    return last.result;
  };
}

/** What a read has to prove; `onProven` hears when a read that did so had begun, at the latest. */
function unprovenBy(proof: Proof | undefined, onProven: (begunAt: number) => void): Unproven | undefined {
  if (proof === undefined) return undefined;
  const begunAt = performance.now();
  const require = (proofs: readonly Document[]): void => {
    proof.require(proofs);
    onProven(begunAt);
  };
  return { proven: false, proof: { stages: proof.stages, require } };
}
