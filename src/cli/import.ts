// `records import`: reads a file into an account.
import type { Command } from "commander";
import { Option } from "commander";
import type { Context } from "./context.ts";
import type { EndWith } from "./exit.ts";
import type { ImportOptions } from "./import/run.ts";

const help = `
Formats (by the name of the file, unless said; standard input is NDJSON):
  ndjson  a record a line, as export writes it: {"contact":{…}},
          {"session":{…}}, {"transcript":{…}}, {"session_note":{…}},
          {"contact_note":{…}}, with the fields of records.ingest.v1; what
          belongs to another record comes after it
  csv     a contact a row, under a header: the names of export, or those of
          the exports of Google, Outlook, Apple and HubSpot in English,
          German, French and Spanish
  vcard   a contact a card, of vCard 3.0 or 4.0; UID becomes the external id

A record with the id or external_id of an existing one replaces it: what the
file leaves unset is cleared. A second active contact with the same email is
rejected.

With --update-by email, a contact whose id and external_id are new updates the
active contact with its email. Only the fields that the file sets are changed.
A contact that has them already is not written, and one that is archived is
rejected.

--dry-run shows what becomes of the columns and of the first records. It needs
no service; what only the service can reject is not found.

What cannot be read or written is rejected, with its line, and the rest is
imported; then the exit code is 4.

An import that was cut off resumes where it was when the same command is run
again: it is named by what the file holds and the account. --again imports the
same file anew under another name. Standard input needs a --name to resume.`;

/** Adds the command. */
export function addImport(program: Command, context: Context, endWith: EndWith): void {
  program
    .command("import")
    .description("imports a file of records into an account; run again, it resumes where it was")
    .argument("<file>", "the file, or - for standard input")
    .requiredOption("--account <account>", "the account to write into: its id or email")
    .addOption(new Option("--format <format>", "the format of the file").choices(["ndjson", "csv", "vcard"]))
    .option(
      "--map <header=field>",
      "a column of CSV and its field; again for each; - leaves a column out",
      (value: string, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--encoding <name>", "the encoding of the file, such as windows-1252", "utf-8")
    .option("--rejects <file>", "adds what is rejected to a file, as NDJSON: line, reason, message, input")
    .option("--strict", "ends at the first thing that is rejected")
    .option("--name <name>", "the name of the import, in place of the file's own")
    .option("--again", "imports a file anew that was imported before")
    .addOption(
      new Option("--update-by <field>", "updates contacts that are known by this field alone").choices(["email"]),
    )
    .option("--dry-run", "shows what the file would become, and sends nothing")
    .addHelpText("after", help)
    .action(async (file: string, options: ImportOptions) => {
      const { runImport } = await import("./import/run.ts");
      endWith(await runImport(context.output, () => context.link(), file, options));
    });
}
