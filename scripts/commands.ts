// Generates the guide's page on commands from the command line's own descriptions.
import { Command } from "commander";
import type { Context } from "../src/cli/context.ts";
import { pathOf } from "../src/cli/examples.ts";
import { describe } from "../src/cli/program.ts";

type Row = readonly [name: string, meaning: string];

export function commandsPage(): string {
  const program = new Command("records");
  // Building the descriptions runs no command, so the context is never used.
  describe(program, {} as Context, () => undefined, {});
  return `# Commands

This page lists every command of \`records\` with its options. It is generated from the program's own help. [Command line](command-line.md) explains how to use them.

Run \`node bin/records.js\` in a checkout or in the container. \`--help\` after a command also shows defaults, possible values and notes.

## Options of every command

${table(optionRows(program))}

${leaves(program)
  .map((command) => section(command))
  .join("\n\n")}

Next: [Import and export](ingest.md)
`;
}

/** The commands without subcommands, in the program's order. */
function leaves(command: Command): readonly Command[] {
  return command.commands.flatMap((one) => (one.commands.length === 0 ? [one] : [...leaves(one)]));
}

function section(command: Command): string {
  const name = pathOf(command);
  const described = command.registeredArguments.filter(({ description }) => description !== "");
  const rows = [
    ...described.map((argument): Row => [`<${argument.name()}>`, argument.description]),
    ...optionRows(command),
  ];
  const parts = [`## ${name}`, sentence(command.description()), `\`${name} ${command.usage()}\``];
  return (rows.length === 0 ? parts : [...parts, table(rows)]).join("\n\n");
}

function optionRows({ options }: Command): Row[] {
  return options.map(({ flags, description }) => [flags, description]);
}

function table(rows: readonly Row[]): string {
  const written = rows.map(([name, meaning]) => `| \`${escaped(name)}\` | ${escaped(meaning)} |`);
  return ["| Argument or option | Meaning |", "| --- | --- |", ...written].join("\n");
}

/** A help text as a table cell, in which a bar must be escaped. */
function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function sentence(text: string): string {
  const first = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.:]$/.test(first) ? first : `${first}.`;
}
