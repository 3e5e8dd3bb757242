// 401: finds out whose API key a request has (contract §2.2, §7.1).
import type { Binary } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import { fail } from "../errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Caller, KeyFacts, KeyCaller } from "./call.ts";
import type { Tally } from "../tally.ts";
import { observeCaller } from "./call.ts";
import type { Proof, Unproven } from "../call/scope.ts";
import type { Credential, Recognizers } from "./credentials.ts";
import { accountBucket } from "./throttle.ts";

/** The look-up of keys, and their form, handed in by the composition root. */
export interface Keys {
  /** Whether the text has the form of a key with a right checksum. */
  isSecret(text: string): boolean;
  hash(secret: string): Binary;
  /** How a read proves that the key with this hash is active. */
  proof(hash: Binary): Proof;
  /** The active key with this hash. Rejects when the store cannot be read. */
  find(hash: Binary, deadline: Deadline): Promise<KeyFacts | undefined>;
}

/** How a request is identified. */
export interface Identifying {
  /** Whether to read the key store for a key that is known; otherwise its facts come from memory, unproven. */
  fresh(key: KeyFacts): boolean;
  readonly deadline: Deadline;
  /** Whether the request is served without a valid key as well. */
  readonly optional: boolean;
}

/** Identifies who sends a request, and checks a response that was found for a key from memory. */
export interface Authentication {
  /** Throttles the request and identifies the caller by `Authorization`. Fails with RATE_LIMITED or UNAVAILABLE. */
  identify(inbound: Inbound, how: Identifying): Promise<Caller>;
  /**
   * Fails with 401 or 503 unless the caller has a key, and with ACCOUNT_SUSPENDED where it was just found to be
   * suspended.
   */
  require(caller: Caller): KeyCaller;
}

/**
 * The facts of a key never change, so an instance may remember them; that the key is still active, and its account not
 * suspended, is never remembered: it is read from MongoDB for every request, with the data where possible.
 */
export function createAuthentication(keys: Keys, recognizers: Recognizers): Authentication {
  const recognizer = recognizers((key: KeyFacts) => accountBucket(key.accountId));
  const credentialOf = (hash: Binary, fresh: Identifying["fresh"]): Credential<KeyFacts> => ({
    name: hash.toString("base64"),
    isProvenLater: (key) => !fresh(key),
    lookUp: (deadline) => keys.find(hash, deadline),
  });

  /** Looks a known key up. Fails with INVALID_KEY or ACCOUNT_SUSPENDED, else with UNAVAILABLE. */
  async function prove({ hash }: KeyFacts, tally: Tally | undefined): Promise<void> {
    const deadline = deadlineIn(deadlineMs, {}, tally);
    const found = await recognizer.lookUpAgain(
      credentialOf(hash, () => true),
      deadline,
    );
    if (found.kind === "unreadable") fail(Reason.UNAVAILABLE, { cause: found.cause });
    if (found.kind === "invalid") fail(Reason.INVALID_KEY);
    if (found.holder.suspended === true) fail(Reason.ACCOUNT_SUSPENDED);
  }

  return {
    async identify(inbound, { fresh, deadline, optional }) {
      const authorization = inbound.header("authorization");
      const secret = bearer(authorization);
      const hash = secret === undefined || !keys.isSecret(secret) ? undefined : keys.hash(secret);
      const onHolder = (key: KeyFacts): void => observeCaller(inbound, { kind: "key", key });
      const found = await recognizer.recognize(hash && credentialOf(hash, fresh), {
        address: inbound.address,
        deadline,
        optional,
        onHolder,
      });
      if (found.kind === "unreadable") return found;
      if (found.kind === "invalid" || hash === undefined) return { kind: "nobody", sent: authorization !== undefined };
      return {
        kind: "key",
        key: found.holder,
        suspended: found.proven && found.holder.suspended === true,
        unproven: unprovenUntil(keys.proof(hash), () => prove(found.holder, inbound.tally)),
      };
    },
    require(caller) {
      if (caller.kind === "key") {
        if (caller.suspended) fail(Reason.ACCOUNT_SUSPENDED);
        return caller;
      }
      if (caller.kind === "unreadable") return fail(Reason.UNAVAILABLE, { cause: caller.cause });
      return fail(caller.kind === "nobody" && caller.sent ? Reason.INVALID_KEY : Reason.MISSING_KEY);
    },
  };
}

function unprovenUntil(proof: Proof, lookUp: () => Promise<void>): Unproven {
  let attempt: Promise<void> | undefined;
  const unproven: Unproven = {
    proof,
    proven: false,
    async prove() {
      // Called again before the response, where the write was rejected for its key.
      attempt ??= lookUp();
      await attempt;
      unproven.proven = true;
    },
  };
  return unproven;
}

/** The token of `Authorization: Bearer <token>` (RFC 6750 §2.1; the scheme in any case, RFC 9110 §11.1). */
export function bearer(authorization: string | undefined): string | undefined {
  return /^bearer +([^\s]+)$/i.exec(authorization ?? "")?.[1];
}
