// Finds the account that a user specifies by its id or its email.
import { Code, ConnectError } from "@connectrpc/connect";
import type { Account } from "../gen/records/admin/v1/accounts_pb.ts";
import { AccountService } from "../gen/records/admin/v1/accounts_pb.ts";
import { uuidForm } from "../text/uuid.ts";
import { CommandError, exitCodes, rejectUsage } from "./exit.ts";
import type { Link } from "./link.ts";

/**
 * Returns the account with this id, or this email in upper or lower case. Fails with a message for the user if there is
 * none.
 */
export async function findAccount(link: Link, name: string): Promise<Account> {
  const found = await lookUp(link, name);
  if (found !== undefined) return found;
  throw new CommandError(
    exitCodes.failed,
    "not_found",
    `There is no account "${name}". To see all accounts, run records account list.`,
  );
}

/**
 * Returns the account as `findAccount` does, or undefined if there is none. Fails with a usage error if the name is
 * neither an id nor an email.
 */
export async function lookUp(link: Link, name: string): Promise<Account | undefined> {
  const accounts = link.client(AccountService);
  if (uuidForm.test(name)) {
    return accounts.getAccount({ accountId: name }).then(
      ({ account }) => account,
      (error: unknown) => {
        if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
        throw error;
      },
    );
  }
  if (!name.includes("@")) rejectUsage(`Name the account by its id (a UUID) or its email, not "${name}".`);
  const { accounts: found } = await accounts.listAccounts({ email: name });
  return found.find(({ email, unreadable }) => unreadable || email.toLowerCase() === name.toLowerCase());
}
