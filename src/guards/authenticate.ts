// 401: identifies the caller of a request by its API key (contract §2.2, §7.1).
import type { Binary, UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Caller, KeyFacts, KeyCaller } from "./call.ts";
import type { Tally } from "../call/tally.ts";
import { observeCaller } from "./call.ts";
import type { Proof, UnprovenCredential } from "../call/scope.ts";
import type { Attempt, Credential, CreateRecognizer, Presumption } from "./credentials.ts";
import { accountBucket } from "./throttle.ts";

/** The form of API keys, and their look-up. The composition root provides it. */
export interface Keys {
  /** Returns whether the text has the form of a key and a correct checksum. */
  isSecret(text: string): boolean;
  hash(secret: string): Binary;
  /** Returns how a read or an insert proves that the key with this hash is the active one of the account. */
  proof(hash: Binary, accountId: UUID): Proof;
  /** Returns the active key with this hash; undefined if there is none. Rejects if the store cannot be read. */
  find(hash: Binary, deadline: Deadline): Promise<KeyFacts | undefined>;
}

/** Options of `identify`. */
export interface Identifying {
  /** Returns whether the facts of a known key come from memory, unproven. Otherwise it is looked up. */
  readonly isProvenLater: (key: KeyFacts) => boolean;
  readonly deadline: Deadline;
  /** Whether the request is served even without a valid key. */
  readonly optional: boolean;
  /** Missing if the caller is identified only once. */
  readonly attempt?: Attempt | undefined;
}

/** Identifies callers by their API keys. */
export interface Authentication {
  /** Throttles the request and identifies the caller by `Authorization`. Fails with RATE_LIMITED or UNAVAILABLE. */
  identify(inbound: Inbound, how: Identifying): Promise<Caller>;
  /** Returns what memory knows of an API key; undefined if the text cannot be one. */
  presume(secret: string): Presumption | undefined;
  /**
   * Returns a caller that has a key. Fails with 401 or 503 for any other. Fails with ACCOUNT_SUSPENDED if the look-up
   * for this request found the account suspended.
   */
  require(caller: Caller): KeyCaller;
}

/**
 * Creates the authentication by API key. An instance remembers the facts of a key, which never change while it exists.
 * It never remembers that a key is active, whose it is, or that its account is not suspended. It reads that from MongoDB
 * for every request, with the data if possible.
 */
export function createAuthentication(keys: Keys, recognizers: CreateRecognizer): Authentication {
  const recognizer = recognizers((key: KeyFacts) => accountBucket(key.accountId));
  const credentialOf = (hash: Binary, isProvenLater: Identifying["isProvenLater"]): Credential<KeyFacts> => ({
    name: nameOf(hash),
    isProvenLater,
    lookUp: (deadline) => keys.find(hash, deadline),
  });

  /**
   * Looks up a known key. Fails with INVALID_KEY or ACCOUNT_SUSPENDED, or with UNAVAILABLE if the look-up fails or finds
   * another account, which requests have a second later.
   */
  async function prove({ hash, accountId }: KeyFacts, tally: Tally | undefined): Promise<void> {
    const deadline = deadlineIn(deadlineMs, {}, tally);
    const found = await recognizer.lookUpAgain(
      credentialOf(hash, () => false),
      deadline,
    );
    if (found.kind === "unreadable") fail(Reason.UNAVAILABLE, { cause: found.cause });
    if (found.kind === "invalid") fail(Reason.INVALID_KEY);
    if (!accountId.equals(found.holder.accountId)) fail(Reason.UNAVAILABLE, { because: "other account" });
    if (found.holder.suspended === true) fail(Reason.ACCOUNT_SUSPENDED);
  }

  return {
    presume: (secret) => (keys.isSecret(secret) ? recognizer.presume(nameOf(keys.hash(secret))) : undefined),
    async identify(inbound, { isProvenLater, deadline, optional, attempt }) {
      const authorization = inbound.header("authorization");
      const secret = bearer(authorization);
      const hash = secret === undefined || !keys.isSecret(secret) ? undefined : keys.hash(secret);
      const onHolder = (key: KeyFacts): void => observeCaller(inbound, { kind: "key", key });
      const credential = hash && credentialOf(hash, isProvenLater);
      const found = await recognizer.recognize(credential, {
        address: inbound.address,
        deadline,
        optional,
        onHolder,
        attempt,
      });
      if (found.kind === "unreadable") return found;
      if (found.kind === "invalid" || credential === undefined) return { kind: "nobody", sent: sentIn(authorization) };
      return {
        kind: "key",
        key: found.holder,
        suspended: found.proven && found.holder.suspended === true,
        unproven: createUnproven(
          keys.proof(found.holder.hash, found.holder.accountId),
          () => prove(found.holder, inbound.tally),
          () => recognizer.proven(credential.name),
        ),
      };
    },
    require(caller) {
      if (caller.kind === "key") {
        if (caller.suspended) fail(Reason.ACCOUNT_SUSPENDED);
        return caller;
      }
      if (caller.kind === "unreadable") return fail(Reason.UNAVAILABLE, { cause: caller.cause });
      const sent = caller.kind === "nobody" ? caller.sent : "nothing";
      if (sent === "no bearer token") return fail(Reason.INVALID_KEY, { message: noBearer });
      return fail(sent === "nothing" ? Reason.MISSING_KEY : Reason.INVALID_KEY);
    },
  };
}

function sentIn(authorization: string | undefined): Extract<Caller, { kind: "nobody" }>["sent"] {
  if (authorization === undefined) return "nothing";
  return bearer(authorization) === undefined ? "no bearer token" : "an invalid key";
}

const noBearer = "The Authorization header has no bearer token. Send the key as `Authorization: Bearer <API_KEY>`.";

function nameOf(hash: Binary): string {
  return hash.toString("base64");
}

function createUnproven(proof: Proof, lookUp: () => Promise<void>, onProven: () => void): UnprovenCredential {
  let attempt: Promise<void> | undefined;
  let proven = false;
  return {
    proof,
    get proven() {
      return proven;
    },
    setProven() {
      proven = true;
      onProven();
    },
    async prove() {
      // Called again before the response if the write was rejected because of its key.
      attempt ??= lookUp();
      await attempt;
      proven = true;
    },
  };
}

/**
 * Returns the token of `Authorization: Bearer <token>` (RFC 6750 §2.1); undefined for any other form. The scheme is
 * case-insensitive (RFC 9110 §11.1).
 */
export function bearer(authorization: string | undefined): string | undefined {
  return /^bearer +([^\s]+)$/i.exec(authorization ?? "")?.[1];
}
