// `records account`: creates, lists, shows, enrols, links, suspends and deletes accounts.
import type { Command } from "commander";
import type { Context } from "./context.ts";

/** Adds the commands. What they do is loaded when one of them runs. */
export function addAccount(program: Command, context: Context): void {
  const account = program
    .command("account")
    .description("accounts: create, list, show, enrol, unenrol, link, suspend, resume, end-sessions, delete");
  const run = async () => (await import("./account-actions.ts")).accountActions(context.output, await context.link());

  account
    .command("create")
    .description("creates an account")
    .argument("<email>", "the email address of its owner")
    .option("--enrol", "enrols it in the beta, so that its owner can make an API key")
    .action(async (email: string, { enrol = false }: { enrol?: boolean }) => (await run()).create(email, enrol));
  account
    .command("list")
    .description("lists all accounts, the oldest first: id, email, enrolment, creation, number of identities")
    .action(async () => (await run()).list());
  account
    .command("show")
    .description("shows an account with its identities")
    .argument("<account>", "its id or email")
    .action(async (name: string) => (await run()).show(name));
  account
    .command("enrol")
    .description("enrols an account in the beta")
    .argument("<account>", "its id or email")
    .action(async (name: string) => (await run()).enrol(name, true));
  account
    .command("unenrol")
    .description("withdraws an account from the beta; a key that it has stays valid")
    .argument("<account>", "its id or email")
    .action(async (name: string) => (await run()).enrol(name, false));
  account
    .command("link")
    .description("makes a person of the identity provider the account's owner")
    .argument("<account>", "its id or email")
    .requiredOption("--issuer <url>", "the issuer of the identity provider, byte for byte")
    .requiredOption("--subject <sub>", "the person's `sub` there, byte for byte")
    .action(async (name: string, identity: { issuer: string; subject: string }) => (await run()).link(name, identity));
  account
    .command("suspend")
    .description("rejects its API key, sessions and access tokens at once, on every instance; its records stay")
    .argument("<account>", "its id or email")
    .requiredOption("--reason <text>", "why, for the account's audit log")
    .action(async (name: string, { reason }: { reason: string }) => (await run()).setSuspended(name, true, reason));
  account
    .command("resume")
    .description("ends a suspension: the same API key, sessions and access tokens work again")
    .argument("<account>", "its id or email")
    .requiredOption("--reason <text>", "why, for the account's audit log")
    .action(async (name: string, { reason }: { reason: string }) => (await run()).setSuspended(name, false, reason));
  account
    .command("end-sessions")
    .description("ends the dashboard sessions and access tokens of its owners, as a sign-out does")
    .argument("<account>", "its id or email")
    .requiredOption("--reason <text>", "why, for the account's audit log")
    .action(async (name: string, { reason }: { reason: string }) => (await run()).endSessions(name, reason));
  account
    .command("delete")
    .description("deletes an account and erases everything of it, for good; asks first, and proves it afterwards")
    .argument("<account>", "its id or email; the id of a deleted account looks everywhere once more")
    .option("--reason <text>", "why, kept with the proof for 90 days")
    .option("--yes", "does not ask")
    .action(async (name: string, { yes = false, reason = "" }: { yes?: boolean; reason?: string }) =>
      (await run()).delete(name, yes, reason),
    );
}
