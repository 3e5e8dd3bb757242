// Operator actions on an account: enrols it, links its identities, suspends and resumes it, revokes its key and ends
// its sessions. Each has an audit entry.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import type { ApiKeyDocument, ApiKeyStore } from "../api-keys/store.ts";
import type { AuditEvent, AuditFact, AuditStore } from "../audit/store.ts";
import { transaction } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { fail, rejectInput } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { OperatorCaller } from "../guards/internal.ts";
import type { Actor } from "../call/scope.ts";
import type { AccountChange, AccountDocument, AccountStore, IdentityDocument } from "./store.ts";
import { identitiesOf } from "./store.ts";

const noKey =
  "There is no such API key. Check its id or its first 8 characters. Revoked keys are deleted after 30 days.";

/** The operator, the reason and the deadline of an action. */
export interface OperatorActionContext {
  readonly caller: OperatorCaller;
  readonly reason: string;
  readonly deadline: Deadline;
}

/** The same for an action that needs no reason. */
export type OperatorChangeContext = Omit<OperatorActionContext, "reason">;

/**
 * The actions. Each is in force on every instance before it resolves. Those that return an account return it changed,
 * or unchanged if there was nothing to change, or undefined if there is none.
 */
export interface OperatorActions {
  enrol(id: UUID, enrolled: boolean, use: OperatorChangeContext): Promise<AccountDocument | undefined>;
  /** Fails with ALREADY_EXISTS if the identity is linked to another account. */
  link(id: UUID, identity: IdentityDocument, use: OperatorChangeContext): Promise<AccountDocument | undefined>;
  /** Suspends or resumes an account. */
  setSuspended(id: UUID, suspended: boolean, use: OperatorActionContext): Promise<AccountDocument | undefined>;
  /**
   * Revokes a key by its id or its first characters. Fails with NOT_FOUND, or with INVALID_REQUEST if several active
   * keys match.
   */
  revokeKey(name: string, use: OperatorActionContext): Promise<ApiKeyDocument>;
  /**
   * Ends the dashboard sessions and access tokens of the account's owners. Returns the numbers of owners and of ended
   * sessions, or undefined if there is no such account.
   */
  endSessions(
    id: UUID,
    use: OperatorActionContext,
  ): Promise<{ readonly owners: number; readonly sessions: number } | undefined>;
}

/** The dependencies of `createOperatorActions`. */
export interface OperatorActionDependencies {
  readonly client: MongoClient;
  readonly accounts: AccountStore;
  readonly keys: ApiKeyStore;
  readonly audit: AuditStore;
  /** Ends all dashboard sessions and access tokens of a user. Returns the number of stored sessions. */
  readonly endUserSessions: (identity: IdentityDocument, deadline: Deadline) => Promise<number>;
}

export function createOperatorActions(dependencies: OperatorActionDependencies): OperatorActions {
  const { client, accounts, keys, audit, endUserSessions } = dependencies;
  const entry = (event: AuditEvent, { reason }: OperatorActionContext) => ({
    event,
    detail: `By the operator: ${reason}`,
  });
  /** Changes an account and adds the entry in one transaction. A call that changes nothing adds no entry. */
  const change = (
    id: UUID,
    { caller, deadline }: OperatorChangeContext,
    fact: AuditFact,
    work: (session: ClientSession) => Promise<AccountChange | undefined>,
  ): Promise<AccountDocument | undefined> =>
    transaction(client, deadline, async (session) => {
      const done = await work(session);
      if (done?.changed === true) await audit.appendIn(session, id, actorOf(caller), fact);
      return done?.account;
    });

  return {
    enrol(id, enrolled, use) {
      const detail = enrolled ? "Enrolled in the beta." : "Withdrawn from the beta.";
      return change(id, use, { event: "enrolment_changed", detail }, (session) =>
        accounts.enrol(id, enrolled, { session }),
      );
    },
    link(id, identity, use) {
      const detail = `Issuer: ${identity.issuer}. Subject: ${identity.subject}`;
      return change(id, use, { event: "identity_linked", detail }, (session) =>
        accounts.link(id, identity, { session }),
      );
    },
    setSuspended(id, suspended, use) {
      const suspension = suspended ? { at: new Date(), reason: use.reason, token: use.caller.token } : undefined;
      return transaction(client, use.deadline, async (session) => {
        // The lock conflicts with the creation of a key, so that no new key escapes the suspension.
        const account = await accounts.lock(id, session);
        if (account === undefined) return undefined;
        // Necessary even if the account is suspended: an instance of an earlier release may have issued a key since.
        await keys.setSuspended(id, suspended, { session });
        if ((account.suspension !== undefined) === suspended) return account;
        await audit.appendIn(
          session,
          id,
          actorOf(use.caller),
          entry(suspended ? "account_suspended" : "account_resumed", use),
        );
        return accounts.suspend(id, suspension, { session });
      });
    },
    async revokeKey(name, use) {
      const found = await keys.named(name, use.deadline);
      requireClear(found);
      const key = found.at(-1) ?? fail(Reason.NOT_FOUND, { message: noKey });
      if (key.active !== true) return key;
      return transaction(client, use.deadline, async (session) => {
        const revoked = await keys.revokeKey(key._id, { session });
        // The owner has revoked the key meanwhile.
        if (revoked === undefined)
          return (
            (await keys.named(key.key_id.toHexString(), use.deadline))[0] ?? fail(Reason.NOT_FOUND, { message: noKey })
          );
        await audit.appendIn(session, key.account_id, actorOf(use.caller), {
          ...entry("key_revoked", use),
          keyPrefix: key.prefix,
        });
        return revoked;
      });
    },
    async endSessions(id, use) {
      const account = await accounts.get(id, use.deadline);
      if (account === undefined) return undefined;
      const identities = identitiesOf(account);
      // The entry comes first: a call that times out may already have ended some sessions.
      await audit.append(id, actorOf(use.caller), entry("sessions_ended", use), use.deadline);
      let sessions = 0;
      for (const identity of identities) sessions += await endUserSessions(identity, use.deadline);
      return { owners: identities.length, sessions };
    },
  };
}

/**
 * Returns the operator as the account's owner sees them. The token's digest identifies the service token and grants
 * nothing.
 */
function actorOf({ token, requestId, address }: OperatorCaller): Actor {
  return { person: `operator (token ${token})`, requestId, address };
}

/** Rejects a prefix of several keys if one is active: the operator may mean another one, which is revoked already. */
function requireClear(found: readonly Pick<ApiKeyDocument, "active">[]): void {
  const active = found.filter((key) => key.active === true).length;
  if (active === 0 || found.length === 1) return;
  const message = `must match one key: ${found.length} keys begin with it, ${active} of them active`;
  rejectInput([{ field: "key", rule: "unique", message }]);
}
