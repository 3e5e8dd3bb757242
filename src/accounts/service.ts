// Implements records.admin.v1.AccountService: creates, reads, enrols, links, suspends and deletes accounts, and revokes
// their credentials.
import type { Account, AccountService as Descriptor, ErasedPlace } from "../gen/records/admin/v1/accounts_pb.ts";
import { AccountSchema } from "../gen/records/admin/v1/accounts_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { timestamp } from "../db/message.ts";
import { uuid } from "../db/mongo.ts";
import { fail } from "../call/errors.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { Erasure, Erasures } from "./erasure.ts";
import type { Operator } from "../guards/internal.ts";
import { readableMessage } from "../guards/representable.ts";
import { sanitizeForEcho } from "../text/text.ts";
import type { OperatorActionContext, OperatorActions, OperatorChangeContext } from "./operator-actions.ts";
import type { AccountDocument, AccountStore } from "./store.ts";

const pageLimit = 100;
/** The maximum length of an id that is not a UUID. */
const maxIdLength = 64;
/** The time for which a request waits for the erasure of an account. A small account is erased within it. */
const eraseMs = 2_000;

/** Called with the id of an account whose stored document cannot be read. */
export type OnUnreadable = (id: string) => void;

/** Creates the service. */
export function createAccountService(
  accounts: AccountStore,
  erasures: Erasures,
  actions: OperatorActions,
  onUnreadable: OnUnreadable,
): OperatorService<typeof Descriptor> {
  const show = createShow(onUnreadable);
  return {
    async createAccount({ email, betaEnrolled, ...rest }, operator) {
      requireAllRead(rest);
      return {
        $typeName: "records.admin.v1.CreateAccountResponse",
        account: show(await accounts.create(email, betaEnrolled, operator.deadline())),
      };
    },
    async getAccount({ accountId, ...rest }, operator) {
      requireAllRead(rest);
      return {
        $typeName: "records.admin.v1.GetAccountResponse",
        account: show((await accounts.get(uuid(accountId), operator.deadline())) ?? noAccount()),
      };
    },
    async listAccounts({ limit = pageLimit, offset = 0, email, ...rest }, operator) {
      requireAllRead(rest);
      const found =
        email === undefined
          ? await accounts.list(limit + 1, offset, operator.deadline())
          : await accounts.ofEmail(email, operator.deadline());
      return {
        $typeName: "records.admin.v1.ListAccountsResponse",
        accounts: found.slice(0, limit).map(show),
        hasMore: found.length > limit,
      };
    },
    async setBetaEnrolment({ accountId, enrolled, ...rest }, operator) {
      requireAllRead(rest);
      const account = (await actions.enrol(uuid(accountId), enrolled, changeBy(operator))) ?? noAccount();
      return { $typeName: "records.admin.v1.SetBetaEnrolmentResponse", account: show(account) };
    },
    async linkIdentity({ accountId, issuer, subject, ...rest }, operator) {
      requireAllRead(rest);
      const account = (await actions.link(uuid(accountId), { issuer, subject }, changeBy(operator))) ?? noAccount();
      return { $typeName: "records.admin.v1.LinkIdentityResponse", account: show(account) };
    },
    async suspendAccount({ accountId, reason, ...rest }, operator) {
      requireAllRead(rest);
      const account = (await actions.setSuspended(uuid(accountId), true, actionBy(operator, reason))) ?? noAccount();
      return { $typeName: "records.admin.v1.SuspendAccountResponse", account: show(account) };
    },
    async resumeAccount({ accountId, reason, ...rest }, operator) {
      requireAllRead(rest);
      const account = (await actions.setSuspended(uuid(accountId), false, actionBy(operator, reason))) ?? noAccount();
      return { $typeName: "records.admin.v1.ResumeAccountResponse", account: show(account) };
    },
    async revokeApiKey({ key, reason, ...rest }, operator) {
      requireAllRead(rest);
      const { key_id, prefix, account_id, revoked_at } = await actions.revokeKey(key, actionBy(operator, reason));
      return {
        $typeName: "records.admin.v1.RevokeApiKeyResponse",
        keyId: key_id.toHexString(),
        prefix,
        accountId: account_id.toHexString(),
        ...(revoked_at && { revokedAt: timestamp(revoked_at) }),
      };
    },
    async endSessions({ accountId, reason, ...rest }, operator) {
      requireAllRead(rest);
      const ended = (await actions.endSessions(uuid(accountId), actionBy(operator, reason))) ?? noAccount();
      return { $typeName: "records.admin.v1.EndSessionsResponse", ...ended };
    },
    async deleteAccount({ accountId, reason, ...rest }, operator) {
      requireAllRead(rest);
      const by = { ...operator.caller, reason };
      const { places, ...erasure } =
        (await erasures.erase(uuid(accountId), performance.now() + eraseMs, by, operator.deadline())) ?? noAccount();
      return {
        $typeName: "records.admin.v1.DeleteAccountResponse",
        ...erasure,
        begunAt: timestamp(erasure.begunAt),
        places: places.map(placeMessage),
      };
    },
  };
}

function actionBy(operator: Operator, reason: string): OperatorActionContext {
  return { ...changeBy(operator), reason };
}

function changeBy({ caller, deadline }: Operator): OperatorChangeContext {
  return { caller, deadline: deadline() };
}

function noAccount(): never {
  return fail(Reason.NOT_FOUND, {
    message: "There is no such account. Check the id: records account list shows all accounts.",
  });
}

function placeMessage({ place, left, deleted }: Erasure["places"][number]): ErasedPlace {
  return { $typeName: "records.admin.v1.ErasedPlace", place, left: BigInt(left), deleted: BigInt(deleted) };
}

/** Creates the function that shows accounts. Of an account that cannot be read, it shows the id. */
function createShow(onUnreadable: OnUnreadable): (document: AccountDocument) => Account {
  return (document) => {
    const message = readableMessage(AccountSchema, () => accountMessage(document));
    if (message !== undefined) return message;
    const id = sanitizeForEcho(String(document._id), maxIdLength);
    onUnreadable(id);
    return {
      $typeName: "records.admin.v1.Account",
      id,
      email: "",
      betaEnrolled: false,
      identities: [],
      unreadable: true,
    };
  };
}

/** Returns the message of a stored account. */
export function accountMessage({
  _id,
  email,
  beta_enrolled,
  created_at,
  identities = [],
  suspension,
}: AccountDocument): Account {
  return {
    $typeName: "records.admin.v1.Account",
    id: _id.toHexString(),
    email,
    betaEnrolled: beta_enrolled,
    createdAt: timestamp(created_at),
    unreadable: false,
    identities: identities.map(({ issuer, subject }) => ({ $typeName: "records.admin.v1.Identity", issuer, subject })),
    ...(suspension && {
      suspension: {
        $typeName: "records.admin.v1.Suspension",
        suspendedAt: timestamp(suspension.at),
        reason: suspension.reason,
        token: suspension.token,
      },
    }),
  };
}
