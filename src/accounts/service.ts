// records.admin.v1.AccountService: creates, reads, enrols, links and deletes accounts.
import type { Account, AccountService as Descriptor } from "../gen/records/admin/v1/accounts_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { timestamp } from "../db/message.ts";
import { uuid } from "../db/mongo.ts";
import { fail } from "../errors.ts";
import type { OperatorService } from "../rpc/routes.ts";
import type { Erasures } from "./erasure.ts";
import type { AccountDocument, AccountStore } from "./store.ts";

const pageLimit = 100;
/** Within the deadline of a request, with time left to look everywhere. */
const eraseMs = 3_500;

/** The service over its store. */
export function createAccountService(accounts: AccountStore, erasures: Erasures): OperatorService<typeof Descriptor> {
  return {
    async createAccount({ email, betaEnrolled }, operator) {
      return { $typeName: "records.admin.v1.CreateAccountResponse", account: accountMessage(await accounts.create(email, betaEnrolled, operator.deadline())) };
    },
    async getAccount({ accountId }) {
      return { $typeName: "records.admin.v1.GetAccountResponse", account: accountMessage((await accounts.get(uuid(accountId))) ?? noAccount()) };
    },
    async listAccounts({ limit = pageLimit, offset = 0, email }) {
      const found = email === undefined ? await accounts.list(limit + 1, offset) : await accounts.ofEmail(email);
      return {
        $typeName: "records.admin.v1.ListAccountsResponse",
        accounts: found.slice(0, limit).map(accountMessage),
        hasMore: found.length > limit,
      };
    },
    async setBetaEnrolment({ accountId, enrolled }, operator) {
      const account = (await accounts.enrol(uuid(accountId), enrolled, operator.deadline())) ?? noAccount();
      return { $typeName: "records.admin.v1.SetBetaEnrolmentResponse", account: accountMessage(account) };
    },
    async linkIdentity({ accountId, issuer, subject }, operator) {
      const account = (await accounts.link(uuid(accountId), { issuer, subject }, operator.deadline())) ?? noAccount();
      return { $typeName: "records.admin.v1.LinkIdentityResponse", account: accountMessage(account) };
    },
    async deleteAccount({ accountId }, operator) {
      const { erased, begunAt, places } = (await erasures.erase(uuid(accountId), performance.now() + eraseMs, operator.deadline())) ?? noAccount();
      return {
        $typeName: "records.admin.v1.DeleteAccountResponse",
        erased,
        begunAt: timestamp(begunAt),
        places: places.map(({ place, left }) => ({ $typeName: "records.admin.v1.ErasedPlace", place, left: BigInt(left) })),
      };
    },
  };
}

function noAccount(): never {
  return fail(Reason.NOT_FOUND, { message: "There is no such account." });
}

function accountMessage({ _id, email, beta_enrolled, created_at, identities = [] }: AccountDocument): Account {
  return {
    $typeName: "records.admin.v1.Account",
    id: _id.toHexString(),
    email,
    betaEnrolled: beta_enrolled,
    createdAt: timestamp(created_at),
    identities: identities.map(({ issuer, subject }) => ({ $typeName: "records.admin.v1.Identity", issuer, subject })),
  };
}
