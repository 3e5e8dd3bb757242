// The proof of a token that was valid before: by the command of a read and the verification beside it, or by a look-up.
import { setImmediate } from "node:timers/promises";
import type { Document, UUID } from "mongodb";
import type { Deadline } from "../deadline.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import type { Proof, Unproven } from "../call/scope.ts";

/** The token of one request. */
export interface TokenProver {
  /**
   * What the next read has to prove of the token; undefined where it was proven lately. The read never fails for it:
   * `proveAfterRead` does.
   */
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
  /** Whether the token verifies as before, as far as MongoDB is not needed. Never rejects. */
  verifies(): Promise<boolean>;
  /** When the caller stops waiting for what begins now. */
  deadline(): Deadline;
  /** Looks the token up as soon as there is a place for it. Fails where it is not valid, or cannot be known to be. */
  lookUp(deadline: Deadline): Promise<{ readonly accountId: UUID }>;
  /** The same within the place that a read has. */
  lookUpInPlace(deadline: Deadline): Promise<{ readonly accountId: UUID }>;
  /** Fails where the interface is off, or where it may have been switched off. */
  requireSwitches(): void;
}

/** A proof that began earlier is made again: before the read, or before its response. */
const slowMs = 500;

export function createProver(parts: ProofParts): TokenProver {
  const { holder, requireSwitches } = parts;
  const verifies = shared(() => parts.verifies());
  // A look-up before the body proves nothing of what is read after it.
  let [lookedUpAt, readAt, refutedAt] = [-Infinity, -Infinity, -Infinity];
  const isProven = (at: number): boolean => at > refutedAt && isLately(at);

  /** What proved the token until now does so no more: it may have done so before the token ended. */
  function refuted(error: unknown): never {
    refutedAt = performance.now();
    throw error;
  }

  async function proveBy(lookUp: ProofParts["lookUp"], read?: Promise<unknown>): Promise<void> {
    if (isProven(lookedUpAt)) return;
    // The look-up after a read has what the read left of the time.
    const deadline = parts.deadline();
    // The command of the read is on its way before the processor turns to the verification.
    const verified = read === undefined ? verifies() : setImmediate().then(verifies);
    await read?.catch(() => undefined);
    if (isProven(lookedUpAt)) return;
    if (isProven(readAt) && (await verified)) return requireSwitches();
    const begunAt = performance.now();
    const { accountId } = await lookUp(deadline).catch(refuted);
    // The read may have begun in the account that the user had before.
    if (!accountId.equals(holder.accountId)) fail(Reason.UNAVAILABLE, { because: "other account" });
    lookedUpAt = begunAt;
  }

  /** Gets what a read proved that began at `begunAt` or later. Where it is no proof, a look-up decides. */
  function judge(proof: Proof, rows: readonly Document[], begunAt: number): void {
    try {
      proof.require(rows);
      readAt = Math.max(readAt, begunAt);
    } catch {
      // What is remembered of the token may be older than its sign-in.
      refutedAt = performance.now();
    }
  }

  const proveAfterRead = (): Promise<void> => proveBy((deadline) => parts.lookUpInPlace(deadline));

  return {
    unproven() {
      const { proof } = holder;
      if (proof === undefined || isProven(lookedUpAt)) return undefined;
      const begunAt = performance.now();
      return {
        proven: false,
        proof: { ...proof, require: (rows) => judge(proof, rows, begunAt) },
        prove: proveAfterRead,
      };
    },
    prove: (read) => proveBy((deadline) => parts.lookUp(deadline), read),
    proveAfterRead,
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
