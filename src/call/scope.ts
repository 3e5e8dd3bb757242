// Scopes of a store: the account, the credential that must still be valid, and the right to write.
import type { Message } from "@bufbuild/protobuf";
import type { Binary, Document, UUID } from "mongodb";
import type { Deadline } from "../deadline.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail, failureOf, reasonName } from "../errors.ts";

/** The right to read one account's records. Every method of a record store takes one first. */
export interface Scope {
  readonly kind: "records";
  readonly accountId: UUID;
  /** The credential to prove in the same command as the data, until that was done; undefined where none is needed. */
  readonly unproven: Unproven | undefined;
  /** When the caller stops waiting: nothing is read or written for it afterwards. */
  readonly deadline: Deadline;
}

/**
 * A credential that was valid once, and whose end only MongoDB can rule out. `db/read.ts` does so within the command
 * that reads the data, which spares a command of its own; the chain lets no response out before it is proven.
 */
export interface Unproven {
  readonly proof: Proof;
  proven: boolean;
  /** Proves it by a look-up of its own. Fails where it is not valid, or cannot be known to be. */
  prove(): Promise<void>;
}

/** How a command that reads or inserts records proves a credential. */
export interface Proof {
  /** Stages that append rows to a pipeline. */
  readonly stages: readonly Document[];
  /** Whether a row is one of those, and none of the data. */
  isRow(row: Document): boolean;
  /**
   * Takes these rows, the last first. Fails unless they show that the credential is valid, or leaves the decision to
   * what the chain does after the read.
   */
  require(rows: readonly Document[]): void;
  /** How an insert proves it; undefined for credentials that never write. */
  readonly insert: InsertProof | undefined;
}

/** How a credential is proven by the command that inserts a record: it begins where the credential is stored. */
export interface InsertProof {
  readonly collection: string;
  /** Stages that leave one row, whether the credential is stored or not. */
  readonly stages: readonly Document[];
  /** An expression over that row: true where the credential is valid. */
  readonly isValid: Document;
}

declare const granted: unique symbol;

/** The right to write one account's records. Only `authorize` grants it, and a store rejects any other object. */
export interface WriteScope extends Scope {
  readonly [granted]: true;
  /** The idempotency key to store with the write, if the request has one. */
  readonly claim: Claim | undefined;
}

/** An idempotency key on its way into the database, together with the write that it names (contract §5.4). */
export interface Claim {
  /** The document to insert in the transaction of the write; `message` is the response to the request. */
  document(response: { readonly message: Message; readonly records: readonly UUID[] }): ClaimDocument;
}

/** A completed write, kept for 24 hours by the database's clock. */
export interface ClaimDocument {
  readonly _id: { readonly account_id: UUID; readonly key: string };
  /** SHA-256 of the operation and its typed request. */
  readonly fingerprint: Binary;
  /** The response as a protobuf message, for Connect and gRPC. */
  readonly message: Binary;
  /** The response's REST body, to be sent again byte for byte. */
  readonly body: string;
  /** The records that the response shows; missing in claims of the previous release. */
  readonly records?: readonly UUID[];
  /** The fingerprint, where a record of the response was deleted; the response itself is then removed. */
  readonly erased?: Binary;
}

/** Who does something to an account's credentials, as its audit log shows. */
export interface Actor {
  /** The email of the user who is signed in, or the subject where the identity provider gives no email. */
  readonly person: string | undefined;
  readonly requestId: string;
  readonly address: string;
}

/** The right of a signed-in user to the credentials of their account; it gives no right to a record. */
export interface Owner {
  readonly kind: "credentials";
  readonly accountId: UUID;
  readonly actor: Actor;
  /** When the caller stops waiting: nothing is changed for it afterwards. */
  readonly deadline: Deadline;
}

/** A right to write, and whether something was written under it. */
interface Granted {
  /** Fails where the right has ended since it was granted. */
  readonly judge: () => void;
  begun: boolean;
}

const grants = new WeakMap<Scope, Granted>();

/** A scope that may read. */
export function readScope(accountId: UUID, deadline: Deadline, unproven?: Unproven): Scope {
  return { kind: "records", accountId, deadline, unproven };
}

const neverToWrite = new WeakSet<Scope>();

/** A scope that may read, and can never be granted more: an assistant's. */
export function readOnlyScope(accountId: UUID, deadline: Deadline, unproven?: Unproven): Scope {
  const scope = readScope(accountId, deadline, unproven);
  neverToWrite.add(scope);
  return scope;
}

/**
 * Grants the right to write. For `authorize` and its like in `src/guards` alone. Fails with ACCESS_DENIED for a scope
 * that never may. `judge` fails where the right has ended since: a batch, or a write that is tried again, can outlast
 * the moment at which an operator pauses writes.
 */
export function grantWrites(scope: Scope, claim?: Claim, judge: () => void = () => undefined): WriteScope {
  if (neverToWrite.has(scope)) fail(Reason.ACCESS_DENIED);
  const { kind, accountId, unproven, deadline } = scope;
  const write = { kind, accountId, unproven, claim, deadline } as WriteScope;
  grants.set(write, { judge, begun: false });
  return write;
}

/**
 * Every write calls it. Fails with ACCESS_DENIED unless the scope was granted the right to write, whatever its type
 * says, and as the guards do where they would reject the request by now. A switch's own reason says that nothing was
 * done: where a write was begun before, it is UNAVAILABLE in its place.
 */
export function requireGrant(scope: WriteScope): void {
  const { judge, begun } = grants.get(scope) ?? fail(Reason.ACCESS_DENIED);
  try {
    judge();
  } catch (error) {
    const { kind, reason, message } = failureOf(error);
    if (!begun || kind.http !== 503) throw error;
    fail(Reason.UNAVAILABLE, { message: `${message} A part of the request may be done.`, because: reasonName(reason) });
  }
}

/** Notes that something is written under the grant, and may be done whatever becomes of the request. */
export function noteWrite(scope: WriteScope): void {
  const granted = grants.get(scope);
  if (granted !== undefined) granted.begun = true;
}
