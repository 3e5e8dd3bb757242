// Operator changes to the access of an account: its identities and its beta enrolment. Each change has an audit entry.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import type { AuditFact, AuditStore } from "../audit/store.ts";
import { transaction } from "../db/write.ts";
import type { OperatorActionContext } from "./operator-actions.ts";
import { actorOf } from "./operator-actions.ts";
import type { AccountChange, AccountDocument, AccountStore, IdentityDocument } from "./store.ts";

/** The caller of a change, and the deadline. */
export type AccessContext = Omit<OperatorActionContext, "reason">;

/** The account after the change, or unchanged if there was nothing to change; undefined if it does not exist. */
type Changed = Promise<AccountDocument | undefined>;

/**
 * Changes the access of an account. A change and its audit entry are one transaction. A call that changes nothing adds
 * no entry.
 */
export interface Access {
  enrol(id: UUID, enrolled: boolean, use: AccessContext): Changed;
  /** Fails with ALREADY_EXISTS if the identity is linked to another account. */
  link(id: UUID, identity: IdentityDocument, use: AccessContext): Changed;
}

/** The dependencies of `createAccess`. */
export interface AccessDependencies {
  readonly client: MongoClient;
  readonly accounts: AccountStore;
  readonly audit: AuditStore;
}

export function createAccess({ client, accounts, audit }: AccessDependencies): Access {
  function change(
    id: UUID,
    { caller, deadline }: AccessContext,
    fact: AuditFact,
    work: (session: ClientSession) => Promise<AccountChange | undefined>,
  ): Changed {
    return transaction(client, deadline, async (session) => {
      const done = await work(session);
      if (done?.changed === true) await audit.appendIn(session, id, actorOf(caller), fact);
      return done?.account;
    });
  }

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
  };
}
