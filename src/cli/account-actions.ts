// What the commands of `records account` do.
import { setTimeout as sleep } from "node:timers/promises";
import type { Account, DeleteAccountResponse } from "../gen/records/admin/v1/accounts_pb.ts";
import { AccountService } from "../gen/records/admin/v1/accounts_pb.ts";
import { confirm } from "./confirm.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { findAccount, lookUp, uuidForm } from "./find-account.ts";
import type { Link } from "./link.ts";
import { isPassing } from "./link.ts";
import { moment } from "./moment.ts";
import type { Json, Output } from "./output.ts";
import { facts } from "./output.ts";

const pageSize = 1_000;
const pollMs = 1_000;
/** How long a service that does not answer is asked again while an erasure goes on. */
const patienceMs = 120_000;

/** The actions over a link. Each tells its result; failures reject. */
export function accountActions(output: Output, link: Link) {
  const accounts = link.client(AccountService);
  const tell = (account: Account | undefined): void => output.result(documentOf(account), linesOf(account, output));

  return {
    async create(email: string, enrol: boolean): Promise<void> {
      tell((await accounts.createAccount({ email, betaEnrolled: enrol })).account);
    },
    async list(): Promise<void> {
      const all = await listAll(link);
      const heading = ["ID", "EMAIL", "BETA", "CREATED", "IDENTITIES"];
      const rows = all.map((one) => [one.id, one.email, one.betaEnrolled ? "enrolled" : "-", moment(one.createdAt) ?? "", String(one.identities.length)]);
      output.result({ accounts: all.map(documentOf) }, output.table(heading, rows));
    },
    async show(name: string): Promise<void> {
      tell(await findAccount(link, name));
    },
    async enrol(name: string, enrolled: boolean): Promise<void> {
      const { id } = await findAccount(link, name);
      tell((await accounts.setBetaEnrolment({ accountId: id, enrolled })).account);
    },
    async link(name: string, identity: { readonly issuer: string; readonly subject: string }): Promise<void> {
      const { id } = await findAccount(link, name);
      tell((await accounts.linkIdentity({ accountId: id, ...identity })).account);
    },
    async delete(name: string, yes: boolean): Promise<void> {
      // What was deleted before is no account any more, and can still be looked for by its id.
      const account = uuidForm.test(name) ? await lookUp(link, name) : await findAccount(link, name);
      const id = account?.id ?? name.toLowerCase();
      const called = account === undefined ? `the account ${id}` : `the account ${account.email} (${id})`;
      await confirm({ warning: `This erases ${called} with all its records, keys and its audit log, for good.`, expected: account?.email ?? id, yes });
      const { places, begunAt } = await erase(id);
      const proof = places.map(({ place, left }) => ({ place, left: Number(left) }));
      output.result(
        { account_id: id, email: account?.email ?? null, erased: true, begun_at: moment(begunAt), places: proof },
        [`Erased ${called}. What is left of it, by place:`, ...output.table(["PLACE", "LEFT"], proof.map(({ place, left }) => [place, String(left)]))],
      );
    },
  };

  /** Asks until everything is erased. The erasure goes on by itself meanwhile. */
  async function erase(accountId: string): Promise<DeleteAccountResponse> {
    let silentSince: number | undefined;
    for (;;) {
      try {
        const answer = await accounts.deleteAccount({ accountId });
        if (answer.erased) return answer;
        silentSince = undefined;
        const left = answer.places.filter(({ left }) => left > 0n).map(({ place, left }) => `${place} ${left}`);
        output.note(`Erasing … ${left.length === 0 ? "" : `left: ${left.join(", ")}`}`.trimEnd());
      } catch (error) {
        silentSince ??= performance.now();
        if (!isPassing(error)) throw error;
        if (performance.now() - silentSince > patienceMs) {
          throw new CommandError(exitCodes.unreachable, "unavailable", `The service does not answer. The erasure goes on once it runs; to see the proof: records account delete ${accountId}`);
        }
        output.note("The service does not answer; trying again …");
      }
      await sleep(pollMs);
    }
  }
}

/** All accounts, the oldest first. */
export async function listAll(link: Link): Promise<Account[]> {
  const all: Account[] = [];
  for (;;) {
    const { accounts, hasMore } = await link.client(AccountService).listAccounts({ limit: pageSize, offset: all.length });
    all.push(...accounts);
    if (!hasMore) return all;
  }
}

function documentOf(account: Account | undefined): Json {
  if (account === undefined) return null;
  const { id, email, betaEnrolled, createdAt, identities } = account;
  return { id, email, beta_enrolled: betaEnrolled, created_at: moment(createdAt), identities: identities.map(({ issuer, subject }) => ({ issuer, subject })) };
}

function linesOf(account: Account | undefined, output: Output): string[] {
  if (account === undefined) return [];
  return facts([
    ["id", account.id],
    ["email", account.email],
    ["beta", account.betaEnrolled ? output.paint("green", "enrolled") : "not enrolled"],
    ["created", moment(account.createdAt) ?? ""],
    ...account.identities.map(({ issuer, subject }) => ["identity", `${subject} at ${issuer}`] as const),
  ]);
}
