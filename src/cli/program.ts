// Defines the `records` program: its commands, their common options, and its error reports.
import { Command, CommanderError } from "commander";
import { addAccount, addKey } from "./account.ts";
import type { Context } from "./context.ts";
import { createContext } from "./context.ts";
import { addApi } from "./api.ts";
import { addCompletion } from "./completion.ts";
import { addDoctor } from "./doctor/command.ts";
import type { SetExitCode, ExitCode } from "./exit.ts";
import { CommandError, exitCodes, rejectUsage } from "./exit.ts";
import { addExamples, pathOf } from "./examples.ts";
import { addExport } from "./export.ts";
import { addImport } from "./import.ts";
import { addInterface } from "./interface.ts";
import { addLogLevel } from "./log-level.ts";
import { addMigrate } from "./migrate.ts";
import { printable, printableJson } from "./output.ts";
import { addRestore } from "./restore.ts";
import { addShard } from "./shard.ts";
import { addStatus } from "./status.ts";
import { addToken } from "./token.ts";
import { release } from "../observability/release.ts";

const help = `
The address of the service is the first of these that is set:
  1. --url
  2. RECORDS_INTERNAL_URL
  3. INTERNAL_HOST and INTERNAL_PORT
  4. the address of the service that runs from DATA_DIR (./data)
  5. http://127.0.0.1:8081

The service token is the first of these that is set:
  1. the file of --token-file
  2. the first of SERVICE_TOKENS
  3. the token in DATA_DIR, if the address is on this machine

Never pass a token as an argument: other users can see it in the process list.

With --json the result is one JSON document on standard output, and an error is
one on standard error: {"error":{"code","message","exit_code"}}.

Exit codes:
  0    done
  1    failed: the service rejected the request, or a check failed
  2    wrong usage, or not confirmed; nothing was done
  3    the service cannot be reached, or cannot respond
  4    the import ended, and some records were rejected
  130  stopped by Ctrl-C`;

/** The width of every help page. The help texts are wrapped for it. */
const helpWidth = 80;

/** Runs one command and returns its exit code. Never rejects. */
export async function run(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<ExitCode> {
  const program = new Command("records");
  const context = createContext(program, environment);
  let exitCode: ExitCode = exitCodes.ok;
  try {
    describe(program, context, (code) => (exitCode = code), environment);
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    return await report(error, argv, program, context);
  } finally {
    await context.close();
  }
}

/** Adds the commands and options to the program. Runs nothing. */
export function describe(
  program: Command,
  context: Context,
  endWith: SetExitCode,
  environment: NodeJS.ProcessEnv,
): void {
  program
    .description(
      "Operates a Records service: accounts, API keys, switches, import, export and restore, access tokens, database and diagnosis.",
    )
    .option("--url <url>", "the internal listener of the service")
    .option("--token-file <file>", "a file with the service token")
    .option("--json", "the result as JSON")
    .option("--no-color", "no colors (also: NO_COLOR)")
    .version(release, "--version", "print the version of the program")
    .helpOption("-h, --help", "show help for a command")
    .helpCommand(false)
    .addHelpText("after", help)
    .configureHelp({ showGlobalOptions: true, helpWidth })
    .configureOutput({
      outputError: () => undefined,
      writeErr: (text) =>
        text
          .trimEnd()
          .split("\n")
          .forEach((line) => void context.output.note(line)),
    })
    .exitOverride();
  addStatus(program, context, endWith);
  addAccount(program, context);
  addKey(program, context);
  addInterface(program, context);
  addLogLevel(program, context);
  addImport(program, context, endWith);
  addExport(program, context, endWith);
  addRestore(program, context, endWith);
  addToken(program, environment, context);
  addMigrate(program, environment, context);
  addShard(program, context);
  addDoctor(program, environment, context, endWith);
  addApi(program, environment, context);
  addCompletion(program, context);
  program
    .command("version")
    .description("print the version of the program")
    .action(() => context.output.result({ version: release }, [release]));
  program
    .command("help")
    .description("show help for a command")
    .argument("[command...]", "the words of the command, such as account create")
    .action((words: readonly string[]) => find(program, words).outputHelp());
  addExamples(program);
}

/** Returns the command of these words. Fails with a usage error that names the first unknown one. */
function find(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const next = command.commands.find((one) => one.name() === word);
    return next ?? rejectUsage(`unknown command '${word}' (see ${pathOf(command)} --help)`);
  }, program);
}

/** Reports an error to the user, or as JSON to a program. Returns the exit code. */
async function report(error: unknown, argv: readonly string[], program: Command, context: Context): Promise<ExitCode> {
  const json = argv.includes("--json");
  if (error instanceof CommanderError) {
    // Requested help exits with 0. Help in place of a missing command does not.
    if (error.exitCode === 0) return exitCodes.ok;
    if (error.code === "commander.help" && !json) return exitCodes.usage;
    const message = error.code === "commander.help" ? "a command is missing" : inOneLine(error.message);
    const hint = `see ${pathOf(commandOf(program, argv))} --help`;
    return say(new CommandError(exitCodes.usage, "usage", `${message} (${hint})`), json);
  }
  return say(error instanceof CommandError ? error : await toCommandError(error, context), json);
}

/** Returns the command that the arguments name. */
function commandOf(program: Command, argv: readonly string[]): Command {
  return argv.reduce((command, word) => command.commands.find((one) => one.name() === word) ?? command, program);
}

/** Returns the message of the usage library on one line. */
function inOneLine(message: string): string {
  return message
    .replace(/^error: /, "")
    .replaceAll("\n", " ")
    .replace("(Did you mean ", "Did you mean ")
    .replace(/\?\)$/, "?");
}

async function toCommandError(error: unknown, context: Context): Promise<CommandError> {
  const { explain } = await import("./link.ts");
  const explained = explain(error, () => context.where().url);
  if (explained instanceof CommandError) return explained;
  return new CommandError(
    exitCodes.failed,
    "failed",
    explained instanceof Error ? explained.message : String(explained),
  );
}

/** Writes the error to standard error, as JSON if requested. Returns the exit code. */
export function say({ message, code, exitCode }: CommandError, json: boolean): ExitCode {
  process.stderr.write(
    json ? `${printableJson({ error: { code, message, exit_code: exitCode } })}\n` : `records: ${printable(message)}\n`,
  );
  return exitCode;
}
