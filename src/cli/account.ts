// `records account`: creates, lists, shows, enrols, links, suspends and deletes accounts. `records key`: revokes keys.
import type { Command } from "commander";
import type { Context } from "./context.ts";

/** Adds the commands for accounts. */
export function addAccount(program: Command, context: Context): void {
  const account = program.command("account").description("manage accounts");
  const onOne = (name: string, description: string, argument = "its id or email"): Command =>
    account.command(name).description(description).argument("<account>", argument);
  const run = () => actions(context);

  account
    .command("create")
    .description("create an account")
    .argument("<email>", "the email address of its owner")
    .option("--enrol", "enrol it in the beta, so that its owner can create an API key")
    .action(async (email: string, { enrol = false }: { enrol?: boolean }) => (await run()).create(email, enrol));
  account
    .command("list")
    .description("list all accounts, the oldest first: id, email, enrolment, creation, number of identities")
    .action(async () => (await run()).list());
  onOne("show", "show an account with its identities").action(async (name: string) => (await run()).show(name));
  onOne("enrol", "enrol an account in the beta").action(async (name: string) => (await run()).enrol(name, true));
  onOne("unenrol", "withdraw an account from the beta; its API key stays valid").action(async (name: string) =>
    (await run()).enrol(name, false),
  );
  onOne("link", "make a user of the identity provider the account's owner")
    .requiredOption("--issuer <url>", "the issuer of the identity provider, exactly as it reports it (required)")
    .requiredOption("--subject <sub>", "the user's `sub` at the provider, exactly as it reports it (required)")
    .action(async (name: string, identity: { issuer: string; subject: string }) => (await run()).link(name, identity));
  onOne("suspend", "reject its API key, sessions and access tokens at once, on every instance; its records stay")
    .requiredOption("--reason <text>", "the reason, for the account's audit log (required)")
    .action(async (name: string, { reason }: { reason: string }) => (await run()).setSuspended(name, true, reason));
  onOne("resume", "end a suspension: the same API key, sessions and access tokens work again")
    .requiredOption("--reason <text>", "the reason, for the account's audit log (required)")
    .action(async (name: string, { reason }: { reason: string }) => (await run()).setSuspended(name, false, reason));
  onOne("end-sessions", "end the dashboard sessions and access tokens of its owners, as a sign-out does")
    .requiredOption("--reason <text>", "the reason, for the account's audit log (required)")
    .action(async (name: string, { reason }: { reason: string }) => (await run()).endSessions(name, reason));
  onOne(
    "delete",
    "delete an account and erase its data permanently, after a confirmation; print a proof",
    "its id or email; for the id of a deleted account, the command checks every place again",
  )
    .option("--reason <text>", "the reason, kept with the proof for 90 days")
    .option("--yes", "do not ask for confirmation")
    .action(async (name: string, { yes = false, reason = "" }: { yes?: boolean; reason?: string }) =>
      (await run()).delete(name, yes, reason),
    );
}

/** Adds the command for the API key of any account. */
export function addKey(program: Command, context: Context): void {
  program
    .command("key")
    .description("revoke API keys of any account; owners create and rotate theirs on the dashboard")
    .command("revoke")
    .description("revoke an API key at once, on every instance")
    .argument("<key>", "its id or its first 8 characters; never the whole key")
    .requiredOption("--reason <text>", "the reason, for the account's audit log (required)")
    .action(async (key: string, { reason }: { reason: string }) => (await actions(context)).revokeKey(key, reason));
}

/** Loads the code of the commands when one of them runs. */
async function actions(context: Context) {
  const { accountActions } = await import("./account-actions.ts");
  return accountActions(context.output, await context.link());
}
