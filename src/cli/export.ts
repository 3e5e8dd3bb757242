// `records export`: writes an account's records to a file.
import type { Command } from "commander";
import { Option } from "commander";
import type { Context } from "./context.ts";
import type { EndWith } from "./exit.ts";
import type { ExportOptions } from "./export/run.ts";

const help = `
Formats (by the name of the file, unless said; standard output is NDJSON):
  ndjson  every record, a line each, in the order in which import takes it;
          imported again, nothing is changed or missing
  csv     contacts alone, with a header, archived ones too; cells hold the text
          exactly as it is stored: one that begins with = + - or @ may be taken
          for a formula where the file is opened in a spreadsheet
  vcard   active contacts alone, as vCard 3.0; line breaks within texts become
          LF

The file is written beside itself as FILE.part and put in place when it is
whole. Only its owner can read it (0600).`;

/** Adds the command. */
export function addExport(program: Command, context: Context, endWith: EndWith): void {
  program
    .command("export")
    .description("writes the records of an account to a file")
    .argument("<file>", "the file, or - for standard output")
    .requiredOption("--account <account>", "the account to read: its id or email")
    .addOption(new Option("--format <format>", "the format of the file").choices(["ndjson", "csv", "vcard"]))
    .addHelpText("after", help)
    .action(async (file: string, options: ExportOptions) => {
      const { runExport } = await import("./export/run.ts");
      endWith(await runExport(context.output, await context.link(), file, options));
    });
}
