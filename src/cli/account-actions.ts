// Implements the commands of `records account` and `records key`.
import { setTimeout as sleep } from "node:timers/promises";
import type { Account, DeleteAccountResponse } from "../gen/records/admin/v1/accounts_pb.ts";
import { AccountService } from "../gen/records/admin/v1/accounts_pb.ts";
import { uuidForm } from "../text/uuid.ts";
import { allAccounts, partition, unreadableLine } from "./all-accounts.ts";
import { confirm } from "./confirm.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { findAccount, lookUp } from "./find-account.ts";
import type { Link } from "./link.ts";
import { isTransient } from "./link.ts";
import { timestampCell, timestampText } from "./timestamp-text.ts";
import type { Json, Output } from "./output.ts";
import { count, facts } from "./output.ts";

const pollMs = 1_000;
const maxLeft = 10_000;
/** How long the command retries during an erasure while the service does not respond. */
const patienceMs = 120_000;

/** Creates the actions over a link. Each one reports its result, and rejects if it fails. */
export function accountActions(output: Output, link: Link) {
  const accounts = link.client(AccountService);
  const show = (account: Account | undefined): void => output.result(documentOf(account), linesOf(account, output));

  return {
    async create(email: string, enrol: boolean): Promise<void> {
      show((await accounts.createAccount({ email, betaEnrolled: enrol })).account);
    },
    list: () => showAll(output, link),
    async show(name: string): Promise<void> {
      show(await findAccount(link, name));
    },
    async enrol(name: string, enrolled: boolean): Promise<void> {
      const { id } = await findAccount(link, name);
      show((await accounts.setBetaEnrolment({ accountId: id, enrolled })).account);
    },
    async link(name: string, identity: { readonly issuer: string; readonly subject: string }): Promise<void> {
      const { id } = await findAccount(link, name);
      show((await accounts.linkIdentity({ accountId: id, ...identity })).account);
    },
    async setSuspended(name: string, suspended: boolean, reason: string): Promise<void> {
      const { id } = await findAccount(link, name);
      show(
        (
          await (suspended
            ? accounts.suspendAccount({ accountId: id, reason })
            : accounts.resumeAccount({ accountId: id, reason }))
        ).account,
      );
    },
    async endSessions(name: string, reason: string): Promise<void> {
      const { id } = await findAccount(link, name);
      const { owners, sessions } = await accounts.endSessions({ accountId: id, reason });
      output.result(
        { account_id: id, owners, sessions },
        facts([
          ["account", id],
          ["owners", String(owners)],
          ["sessions", String(sessions)],
        ]),
      );
    },
    async revokeKey(key: string, reason: string): Promise<void> {
      const { keyId, prefix, accountId, revokedAt } = await accounts.revokeApiKey({ key, reason });
      output.result(
        { id: keyId, prefix, account_id: accountId, revoked_at: timestampText(revokedAt) },
        facts([
          ["id", keyId],
          ["prefix", prefix],
          ["account", accountId],
          ["revoked", timestampCell(revokedAt, output)],
        ]),
      );
    },
    delete: (name: string, yes: boolean, reason: string) => deleteAccount(output, link, name, yes, reason),
  };
}

async function showAll(output: Output, link: Link): Promise<void> {
  const all = await allAccounts(link);
  const [unreadable, readable] = partition(all);
  const heading = ["ID", "EMAIL", "BETA", "CREATED", "IDENTITIES"];
  const rows = readable.map((one) => [
    one.id,
    one.email,
    one.betaEnrolled ? "enrolled" : "-",
    timestampCell(one.createdAt, output),
    String(one.identities.length),
  ]);
  output.result({ accounts: readable.map(documentOf), unreadable }, [
    ...output.table(heading, rows),
    ...unreadable.map(unreadableLine),
  ]);
}

async function deleteAccount(output: Output, link: Link, name: string, yes: boolean, reason: string): Promise<void> {
  // A deleted account can no longer be found, but its erasure can be requested again by id.
  const account = await lookUp(link, name);
  if (account === undefined && !uuidForm.test(name))
    throw new CommandError(
      exitCodes.failed,
      "not_found",
      `There is no account "${name}". If it is deleted already, its email is erased too: to check its erasure again, name the id that the account had.`,
    );
  const id = account?.id ?? name.toLowerCase();
  const email = account?.unreadable === false ? account.email : undefined;
  const called = email === undefined ? `the account ${id}` : `the account ${email} (${id})`;
  await confirm({
    warning: `This erases ${called} permanently, with all its records, its keys and its audit log.`,
    expected: email ?? id,
    yes,
  });
  const { places, begunAt, ...requested } = await erase(output, link, id, reason);
  const proof = places.map(({ place, left }) => ({ place, left: Number(left) }));
  output.result(
    {
      account_id: id,
      email: email ?? null,
      erased: true,
      begun_at: timestampText(begunAt),
      reason: requested.reason,
      token: requested.token,
      places: proof,
    },
    [
      `Erased ${called}. The number of documents left, by place:`,
      ...output.table(
        ["PLACE", "LEFT"],
        proof.map(({ place, left }) => [place, String(left)]),
      ),
    ],
  );
}

/**
 * Repeats the request until everything is erased, and shows the progress. The service continues the erasure even
 * without requests.
 */
async function erase(output: Output, link: Link, accountId: string, reason: string): Promise<DeleteAccountResponse> {
  const accounts = link.client(AccountService);
  let silentSince: number | undefined;
  let shown = "";
  for (;;) {
    try {
      const response = await accounts.deleteAccount({ accountId, reason });
      if (response.erased) return response;
      silentSince = undefined;
      const line = progressOf(response);
      if (line !== shown) output.note(line);
      shown = line;
    } catch (error) {
      silentSince ??= performance.now();
      if (!isTransient(error)) throw error;
      if (performance.now() - silentSince > patienceMs) {
        throw new CommandError(
          exitCodes.unreachable,
          "unavailable",
          `The service does not respond. The erasure continues when the service runs again. To see the proof: records account delete ${accountId}`,
        );
      }
      output.note("The service does not respond. Trying again …");
    }
    await sleep(pollMs);
  }
}

/**
 * Returns the progress of an erasure: how much is deleted and how much is left. The service counts up to `maxLeft` in
 * each place.
 */
function progressOf({ places }: DeleteAccountResponse): string {
  const deleted = places.reduce((sum, one) => sum + Number(one.deleted), 0);
  const left = places
    .filter((one) => one.left > 0n)
    .map((one) => `${one.place} ${count(Number(one.left))}${Number(one.left) === maxLeft ? " or more" : ""}`);
  return `Erasing: ${count(deleted)} deleted${left.length === 0 ? "" : `; left: ${left.join(", ")}`}`;
}

function documentOf(account: Account | undefined): Json {
  if (account === undefined) return null;
  const { id, email, betaEnrolled, createdAt, identities, suspension, unreadable } = account;
  if (unreadable) return { id, unreadable };
  const suspended =
    suspension === undefined
      ? null
      : { reason: suspension.reason, suspended_at: timestampText(suspension.suspendedAt), token: suspension.token };
  return {
    id,
    email,
    beta_enrolled: betaEnrolled,
    created_at: timestampText(createdAt),
    identities: identities.map(({ issuer, subject }) => ({ issuer, subject })),
    suspension: suspended,
  };
}

function linesOf(account: Account | undefined, output: Output): string[] {
  if (account === undefined) return [];
  if (account.unreadable) return [unreadableLine(account.id)];
  return facts([
    ["id", account.id],
    ["email", account.email],
    ["beta", account.betaEnrolled ? output.paint("green", "enrolled") : "not enrolled"],
    ["created", timestampCell(account.createdAt, output)],
    ...(account.suspension === undefined
      ? []
      : [
          [
            "suspended",
            `${output.paint("red", timestampCell(account.suspension.suspendedAt, output))} (${account.suspension.reason})`,
          ] as const,
        ]),
    ...account.identities.map(({ issuer, subject }) => ["identity", `${subject} at ${issuer}`] as const),
  ]);
}
