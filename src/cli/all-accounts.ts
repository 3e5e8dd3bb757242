// Lists all accounts, even while accounts are created and deleted.
import type { Account } from "../gen/records/admin/v1/accounts_pb.ts";
import { AccountService } from "../gen/records/admin/v1/accounts_pb.ts";
import type { Link } from "./link.ts";

const pageSize = 1_000;

/**
 * Returns all accounts that exist throughout the call, oldest first. Each page must begin with the last account of the
 * previous page. Otherwise an account was deleted, and the listing starts again.
 */
export async function allAccounts(link: Link): Promise<Account[]> {
  const client = link.client(AccountService);
  let all: Account[] = [];
  for (;;) {
    const offset = Math.max(0, all.length - 1);
    const { accounts, hasMore } = await client.listAccounts({ limit: pageSize, offset });
    const moved = all.length > 0 && accounts[0]?.id !== all.at(-1)?.id;
    all = moved ? [] : [...all.slice(0, offset), ...accounts];
    if (!moved && !hasMore) return all;
  }
}

/** Returns the ids of the accounts that the service cannot read, and the other accounts. */
export function partition(all: readonly Account[]): readonly [unreadable: string[], readable: Account[]] {
  return [all.flatMap(({ id, unreadable }) => (unreadable ? [id] : [])), all.filter(({ unreadable }) => !unreadable)];
}

/** Returns what to do about an account that the service cannot read. */
export function unreadableLine(id: string): string {
  return `The document of account ${id} can't be read. Repair it in MongoDB, or delete the account: records account delete ${id}`;
}
