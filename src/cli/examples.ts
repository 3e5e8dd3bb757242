// Examples in the help of each command.
import type { Command } from "commander";

/** The arguments of the examples, by command. */
const examples: Readonly<Record<string, readonly string[]>> = {
  "records status": ["", "--json"],
  "records account create": ["ann@example.com --enrol"],
  "records account list": [""],
  "records account show": ["ann@example.com"],
  "records account enrol": ["ann@example.com"],
  "records account unenrol": ["ann@example.com"],
  "records account link": ["ann@example.com --issuer https://id.example --subject 47"],
  "records account suspend": ["ann@example.com --reason 'leaked key'"],
  "records account resume": ["ann@example.com --reason 'new key'"],
  "records account end-sessions": ["ann@example.com --reason 'lost phone'"],
  "records account delete": ["ann@example.com --reason 'their request'"],
  "records key revoke": ["rec_Ab3d --reason 'leaked key'"],
  "records interface on": ["--reason 'restored'"],
  "records interface off": ["--reason 'restoring a backup'"],
  "records interface writes on": ["--reason 'moved'"],
  "records interface writes off": ["--reason 'moving the database'"],
  "records interface log": ["--limit 10"],
  "records log-level": ["", "debug"],
  "records import": [
    "people.csv --account ann@example.com --dry-run",
    "crm.csv --account ann@example.com --sync --archive-missing",
  ],
  "records export": ["contacts.csv --account ann@example.com", "backup --all"],
  "records restore": ["backup --dry-run"],
  "records token": ["", "https://records.example.com/mcp"],
  "records migrate": ["--indexes-only"],
  "records shard": ["--print --shards east,west"],
  "records doctor": ["--verbose"],
  "records api": ["GET '/v1/contacts?query=ann+lee'", `POST /v1/contacts --data '{"full_name":"Ann Lee"}'`],
  "records completion": ["bash > ~/.local/share/bash-completion/completions/records"],
  "records version": [""],
  "records help": ["account create"],
};

/** Adds its examples to the help of each command under this one. */
export function addExamples(command: Command): void {
  for (const one of command.commands) addExamples(one);
  const lines = examplesOf(command).map((example) => `  ${example}`);
  if (lines.length > 0)
    command.addHelpText("after", `\n${lines.length === 1 ? "Example" : "Examples"}:\n${lines.join("\n")}`);
}

/** Returns the examples of a command. */
export function examplesOf(command: Command): readonly string[] {
  const path = pathOf(command);
  return (examples[path] ?? []).map((example) => `${path} ${example}`.trimEnd());
}

/** Returns the words of a command, such as `records account suspend`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
