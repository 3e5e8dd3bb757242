// Who can reach an account, as the operator sets it: its identities and its enrolment. Each change is in its audit log.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import type { AuditFact, AuditStore } from "../audit/store.ts";
import { transaction } from "../db/write.ts";
import type { LeverUse } from "./levers.ts";
import { actorOf } from "./levers.ts";
import type { AccountChange, AccountDocument, AccountStore, IdentityDocument } from "./store.ts";

/** The caller of a change, with its deadline. */
export type AccessUse = Omit<LeverUse, "reason">;

/** The account after the change, or as it was where it was so before; undefined when there is none. */
type Changed = Promise<AccountDocument | undefined>;

/** The changes. Each is stored with its entry, both or neither; what changes nothing has no entry. */
export interface Access {
  enrol(id: UUID, enrolled: boolean, use: AccessUse): Changed;
  /** Fails with ALREADY_EXISTS when another account has the identity. */
  link(id: UUID, identity: IdentityDocument, use: AccessUse): Changed;
}

/** Its dependencies. */
export interface AccessDependencies {
  readonly client: MongoClient;
  readonly accounts: AccountStore;
  readonly audit: AuditStore;
}

export function createAccess({ client, accounts, audit }: AccessDependencies): Access {
  function change(
    id: UUID,
    { caller, deadline }: AccessUse,
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
