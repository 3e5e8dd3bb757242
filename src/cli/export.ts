// `records export`: writes an account's records to a file.
import type { Command } from "commander";
import { Option } from "commander";
import type { Context } from "./context.ts";
import type { EndWith } from "./exit.ts";
import type { ExportOptions } from "./export/run.ts";

const help = `
Formats (from the file's name by default; standard output is NDJSON):
  ndjson  every record, one per line, in the order that import needs; an import
          of the file restores every record unchanged
  csv     all contacts, with a header. Cells have the text exactly as it is
          stored: a spreadsheet may read one that begins with = + - or @ as a
          formula.
  vcard   only active contacts, as vCard 3.0; line breaks within texts become
          LF

The command writes FILE.part, and renames it to FILE when it is complete. Only
its owner can read it (0600).`;

/** Adds the command. */
export function addExport(program: Command, context: Context, endWith: EndWith): void {
  program
    .command("export")
    .description("writes the records of an account to a file")
    .argument("<file>", "the file, or - for standard output")
    .requiredOption("--account <account>", "the account to export: its id or email")
    .addOption(new Option("--format <format>", "the format of the file").choices(["ndjson", "csv", "vcard"]))
    .addHelpText("after", help)
    .action(async (file: string, options: ExportOptions) => {
      const { runExport } = await import("./export/run.ts");
      endWith(await runExport(context.output, await context.link(), file, options));
    });
}
