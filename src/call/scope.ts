// Scopes of a store: the account, the credential that must still be valid, and the right to write.
import type { Message } from "@bufbuild/protobuf";
import type { Binary, Document, UUID } from "mongodb";
import type { Deadline } from "./deadline.ts";
import { withDeadline } from "./deadline.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail, failureOf, reasonName } from "./errors.ts";

/** The right to read one account's records. Every method of a record store has it as its first parameter. */
export interface Scope {
  readonly kind: "records";
  readonly accountId: UUID;
  /** The credential to prove in the same command as the data, unless already proven; undefined if none is needed. */
  readonly unproven: UnprovenCredential | undefined;
  /** When the caller stops waiting. Nothing is read or written for it afterwards. */
  readonly deadline: Deadline;
}

/**
 * A credential that was valid once. Only MongoDB can rule out that it has ended since. `db/read.ts` does so within the
 * command that reads the data, which saves a separate command. The chain sends no response before the proof.
 */
export interface UnprovenCredential {
  readonly proof: Proof;
  readonly proven: boolean;
  /** Records that a command has proven the credential. */
  setProven(): void;
  /** Proves the credential by a look-up of its own. Fails if it is not valid, or if that cannot be determined. */
  prove(): Promise<void>;
}

/** How a command that reads or inserts records proves a credential. */
export interface Proof {
  /** Stages that append the rows of the proof to a pipeline. */
  readonly stages: readonly Document[];
  /** Whether a row belongs to the proof, and not to the data. */
  isRow(row: Document): boolean;
  /** Checks the rows of the proof, in reverse order. Fails unless they show that the credential is valid. */
  require(rows: readonly Document[]): void;
  readonly insert: InsertProof;
}

/** How the command that inserts a record proves a credential. Its pipeline starts in the credential's collection. */
export interface InsertProof {
  readonly collection: string;
  /** Stages that return one row, whether or not the credential is stored. */
  readonly stages: readonly Document[];
  /** An expression over that row, which is true if the credential is valid. */
  readonly isValid: Document;
}

declare const granted: unique symbol;

/**
 * The right to write one account's records. Only the guards grant it (`grantWrites`), and a store rejects any other
 * object.
 */
export interface WriteScope extends Scope {
  readonly [granted]: true;
  /** The idempotency key to store with the write, if the request has one. */
  readonly claim: Claim | undefined;
}

/** An idempotency key that is stored together with the write that it identifies (contract §5.4). */
export interface Claim {
  /** Returns the document to insert in the transaction of the write. `message` is the response to the request. */
  document(response: { readonly message: Message; readonly records: readonly UUID[] }): ClaimDocument;
}

/** A completed write, kept for 24 hours by the database's clock. */
export interface ClaimDocument {
  readonly _id: { readonly account_id: UUID; readonly key: string };
  /** SHA-256 of the operation and its typed request. */
  readonly fingerprint: Binary;
  /** The response as a protobuf message, for Connect and gRPC. */
  readonly message: Binary;
  /** The response's REST body, which a replay repeats byte for byte. */
  readonly body: string;
  /** The records in the response; missing in claims of the previous release. */
  readonly records?: readonly UUID[];
  /** The fingerprint, set once a record of the response was deleted. The response itself is then removed. */
  readonly erased?: Binary;
}

/** The user who acts on an account's credentials, as its audit log shows them. */
export interface Actor {
  /** The email of the signed-in user, or the subject if the identity provider sends no email. */
  readonly person: string | undefined;
  readonly requestId: string;
  readonly address: string;
}

/** The right of a signed-in user to the credentials of their account. It gives no right to records. */
export interface Owner {
  readonly kind: "credentials";
  readonly accountId: UUID;
  readonly actor: Actor;
  /** When the caller stops waiting. Nothing is changed for it afterwards. */
  readonly deadline: Deadline;
}

/** A right to write, and whether a write has begun under it. */
interface Granted {
  /** Fails if the right has ended since it was granted. */
  readonly recheck: () => void;
  readonly ready: () => Promise<void> | undefined;
  begun: boolean;
}

const grants = new WeakMap<Scope, Granted>();

/** Returns a scope that may read. */
export function readScope(accountId: UUID, deadline: Deadline, unproven?: UnprovenCredential): Scope {
  return { kind: "records", accountId, deadline, unproven };
}

const neverToWrite = new WeakSet<Scope>();

/** Returns a scope that may read and can never gain the right to write, such as an assistant's. */
export function readOnlyScope(accountId: UUID, deadline: Deadline): Scope {
  const scope = readScope(accountId, deadline);
  neverToWrite.add(scope);
  return scope;
}

/**
 * Grants the right to write. Only guards in `src/guards` may call it. Fails with ACCESS_DENIED for a scope that never
 * may write. `recheck` fails if the right has ended since. A batch or a retried write can outlast the instant at which
 * an operator pauses writes. `ready` returns what `recheck` should wait for, if anything.
 */
export function grantWrites(
  scope: Scope,
  claim?: Claim,
  recheck: () => void = () => undefined,
  ready: () => Promise<void> | undefined = () => undefined,
): WriteScope {
  if (neverToWrite.has(scope)) fail(Reason.ACCESS_DENIED);
  const { kind, accountId, unproven, deadline } = scope;
  const write = { kind, accountId, unproven, claim, deadline } as WriteScope;
  grants.set(write, { recheck, ready, begun: false });
  return write;
}

/**
 * Checks the right to write. Every write calls it. Fails with ACCESS_DENIED unless the scope was granted that right,
 * even if its type is WriteScope. Fails as the guards do if they would reject the request now. Their 503 says that
 * nothing was done, so it becomes UNAVAILABLE if a write has already begun.
 */
export function requireGrant(scope: WriteScope): void {
  const { recheck, begun } = grants.get(scope) ?? fail(Reason.ACCESS_DENIED);
  try {
    recheck();
  } catch (error) {
    const { kind, reason, message } = failureOf(error);
    if (!begun || kind.http !== 503) throw error;
    fail(Reason.UNAVAILABLE, { message: `${message} A part of the request may be done.`, because: reasonName(reason) });
  }
}

/** Checks the right to write as `requireGrant` does, once it can be known: its state may be a moment too old. */
export async function confirmGrant(scope: WriteScope): Promise<void> {
  const pending = grants.get(scope)?.ready();
  if (pending !== undefined) await withDeadline(scope.deadline, pending);
  requireGrant(scope);
}

/** Records that a write begins under the grant. It may be committed even if the request fails. */
export function noteWrite(scope: WriteScope): void {
  const granted = grants.get(scope);
  if (granted !== undefined) granted.begun = true;
}
