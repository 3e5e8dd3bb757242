// `records import`: imports a file into an account.
import type { Command } from "commander";
import { Option } from "commander";
import type { Context } from "./context.ts";
import type { SetExitCode } from "./exit.ts";
import type { ImportOptions } from "./import/run.ts";

const help = `
Formats (by the file's beginning and name; standard input is NDJSON):
  ndjson  one record per line, as export writes it: {"contact":{…}},
          {"session":{…}}, {"transcript":{…}}, {"session_note":{…}},
          {"contact_note":{…}}, with the fields of records.ingest.v1. A record
          comes after the record that it belongs to. A JSON array of records is
          read too, and the list of contacts in a .json file of other programs.
  csv     one contact per row, after a header with the names of export, or of
          an address book, mail program or CRM in many languages. The header is
          the row among the first 20 with the most known columns. An .ldif file
          is read as such a table, one row per person.
  vcard   one contact per card, in vCard 2.1, 3.0 or 4.0; UID becomes the
          external id. Groups of contacts are skipped.
  transcript  a session with its transcript and notes: WebVTT, SRT, SBV, a text
          with speakers, or the JSON of a recorder or of speech recognition
  icalendar  a session for each event, and for each time of a recurring one
          until 31 days from now, but not for whole days, what is cancelled and
          tasks. These are counted.

A contact with the id or external_id of an existing one changes it. Columns that
a CSV file does not have, and properties that no card of a vCard file has, leave
their fields alone; an empty cell clears its field. A record of NDJSON is
complete: fields that it does not set are cleared. A second active contact with
the same email is rejected. An unchanged contact is not written.

With --update-by email, a contact whose id and external_id are new updates the
active contact with its email. Only the fields that the file sets are changed,
also in contacts that it names by id or external_id. If only an archived contact
has the email, a new contact is created. A record that names an archived contact
by its id or external_id is rejected.

--sync keeps an account in step with a file that a source writes regularly. It
always imports the whole file. Contacts are matched by id, external_id or email.
A record without any of them is rejected. Fields that no record of the file has
stay as they are, in NDJSON too. An archived contact gets the values of the file
and stays archived.

With --archive-missing, active contacts that the file no longer has are archived
first, and archived contacts that it has again are restored. Contacts without an
external_id are left alone if the file has external ids. If an entry cannot be
read and its external_id is not known, none is archived. If the file lacks all
contacts, or more than one and more than 20 %, nothing is done without --yes.

Of several email addresses, the preferred valid one is imported. Of several
phones, it is the preferred one, or else the mobile, work, home or other number.

--dry-run shows the columns and the first records as they would be imported. It
needs no service, so it does not find errors that only the service can find.

Records that cannot be read or written are rejected and listed with their line
numbers; the rest are imported. The exit code is then 4. Save the corrected
records in a separate file, and import that file: a changed file is another
import. With --strict, the import stops at the first rejected record and exits
with 1. To import the rest, run the same command without --strict.

To resume an interrupted import, run the same command again. Its name is derived
from the file's content and the account. A finished file is imported once more:
records without ids get the same ids, so none is created twice. With --again, it
is imported under another name, which creates them once more. Standard input
needs a --name to resume, and a finished import with a --name is not repeated.`;

/** Adds the command. */
export function addImport(program: Command, context: Context, endWith: SetExitCode): void {
  program
    .command("import")
    .description("import a file of records into an account; run it again to resume")
    .argument("<file>", "the file, or - for standard input")
    .requiredOption("--account <account>", "the account to import into: its id or email (required)")
    .addOption(
      new Option("--format <format>", "the format of the file").choices([
        "ndjson",
        "csv",
        "vcard",
        "transcript",
        "icalendar",
      ]),
    )
    .option(
      "--map <header=field>",
      "a column of a CSV file and its field; can be repeated; - skips a column",
      (value: string, all: readonly string[] = []) => [...all, value],
    )
    .option("--encoding <name>", "the encoding of the file, such as windows-1252; by default, it is recognized")
    .option("--time-zone <name>", "for a calendar: the time zone of events that name none, such as Europe/Berlin")
    .option(
      "--rejects <file>",
      "add the rejected records to a file, as NDJSON: line, reason, message, contact_id, input",
    )
    .option("--strict", "stop at the first rejected record; later records may be written too")
    .option("--name <name>", "the name of the import, instead of the one derived from the file and the account")
    .option("--again", "import a file under another name, which creates records without ids once more")
    .addOption(new Option("--update-by <field>", "update the contacts that match in this field").choices(["email"]))
    .option("--sync", "keep the account in step with a file that a source writes regularly")
    .option("--archive-missing", "with --sync: archive the contacts that the file no longer has")
    .option("--yes", "with --archive-missing: archive even if the file lacks many contacts")
    .option("--dry-run", "show what would be imported, and send nothing")
    .addHelpText("after", help)
    .action(async (file: string, options: ImportOptions) => {
      const { runImport } = await import("./import/run.ts");
      endWith(await runImport(context.output, () => context.link(), file, options));
    });
}
