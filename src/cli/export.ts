// `records export`: writes the records of one account to a file, or all accounts to a folder.
import type { Command } from "commander";
import { Option } from "commander";
import type { Context } from "./context.ts";
import type { SetExitCode } from "./exit.ts";
import { rejectUsage } from "./exit.ts";
import type { ExportOptions } from "./export/run.ts";

const help = `
With --account, the file has the records of one account.

Formats (from the file's name by default; standard output is NDJSON):
  ndjson  every record, one per line, in the order that import needs
  csv     all contacts, with a header. Cells have the text exactly as it is
          stored: a spreadsheet may read one that begins with = + - or @ as a
          formula. Excel needs --bom to read letters other than A to Z. With
          --columns google or outlook, the file has the name, email, phone and
          notes of active contacts, under the names that these import.
  vcard   only active contacts, as vCard 3.0 or 4.0; line breaks within texts
          become LF

The command first writes a temporary file next to the path, whose name ends
with .part, and renames it when it is complete. Only its owner can read it
(0600).

With --all, the argument is a folder. It gets a file for each account, with
everything that is stored of it: records, API keys as hashes, identities,
enrolment and audit log. restore takes such a folder. The manifest has the
checksum of each file. To resume an interrupted export, run the same command
again. Only one export at a time can write to a folder. An account that is
deleted meanwhile is left out.`;

/** The default rate, which leaves most of an instance's capacity to its clients. */
const defaultRate = 2_000;

function positive(text: string): number {
  const rate = Number(text);
  if (!/^\d{1,9}$/.test(text) || rate === 0) rejectUsage(`--rate must be a whole number of at least 1, not "${text}".`);
  return rate;
}

/** Adds the command. */
export function addExport(program: Command, context: Context, endWith: SetExitCode): void {
  program
    .command("export")
    .description("write the records of an account to a file, or all accounts to a folder")
    .argument("<path>", "the file, or - for standard output; with --all, the folder")
    .option("--account <account>", "the account to export: its id or email")
    .option("--all", "export all accounts completely; run it again to resume")
    .option("--rate <documents>", "with --all: the maximum number of documents per second", positive, defaultRate)
    .addOption(new Option("--format <format>", "the format of the file").choices(["ndjson", "csv", "vcard"]))
    .addOption(new Option("--columns <program>", "the columns of a CSV file").choices(["records", "google", "outlook"]))
    .option("--bom", "begin a CSV file with a byte order mark, as Excel needs it")
    .addOption(new Option("--vcard-version <version>", "the version of vCard").choices(["3.0", "4.0"]))
    .addHelpText("after", help)
    .action(async (file: string, { all = false, rate, account, ...how }: Options, command: Command) => {
      if (all === (account !== undefined)) rejectUsage("Set either --account or --all.");
      if (account !== undefined) {
        if (command.getOptionValueSource("rate") !== "default") rejectUsage("--rate needs --all.");
        const { runExport } = await import("./export/run.ts");
        endWith(await runExport(context.output, await context.link(), file, { ...how, account }));
        return;
      }
      const [wrong] = ["format", "columns", "bom", "vcardVersion"].filter(
        (name) => command.getOptionValueSource(name) !== undefined,
      );
      if (wrong !== undefined) rejectUsage(`${optionOf(command, wrong)} cannot be used with --all.`);
      const { runExportAll } = await import("./backup/export-all.ts");
      endWith(await runExportAll(context.output, await context.link(), file, rate));
    });
}

/** Returns an option as it is written. */
function optionOf(command: Command, name: string): string {
  return command.options.find((one) => one.attributeName() === name)?.long ?? name;
}

/** The options for one account and for all accounts. */
interface Options extends Partial<ExportOptions> {
  readonly all?: boolean;
  readonly rate: number;
}
