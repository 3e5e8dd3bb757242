// Contacts for an import without ids, and how many of them an account holds.
import type { TestService } from "../fixtures/service/service.ts";

/** Contacts without an id and an email: sent twice, they would be stored twice. */
export function nameless(from: number, to: number): string {
  return Array.from(
    { length: to - from },
    (_, at) => `${JSON.stringify({ contact: { full_name: `Person ${from + at}` } })}\n`,
  ).join("");
}

/** How many contacts an account holds, and how many different names they have. */
export async function contactsOf(
  service: TestService,
  accountId: string,
): Promise<{ readonly count: number; readonly names: number }> {
  const all = await service.app.client
    .db()
    .collection("contacts")
    .find()
    .project<{ account_id: unknown; full_name: string }>({ account_id: 1, full_name: 1 })
    .toArray();
  const own = all.filter(({ account_id }) => String(account_id) === accountId).map(({ full_name }) => full_name);
  return { count: own.length, names: new Set(own).size };
}

/** How many records the account's import has settled. */
export async function settled(service: TestService, accountId: string): Promise<number> {
  const found = await service.app.client.db().collection("imports").find().toArray();
  return (found.find((one) => String(one["account_id"]) === accountId)?.["position"] as number | undefined) ?? 0;
}
