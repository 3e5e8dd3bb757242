// `records doctor`: finds problems that keep the service from working, and says how to solve them.
import type { Command } from "commander";
import type { Context } from "../context.ts";
import type { SetExitCode } from "../exit.ts";
import { exitCodes } from "../exit.ts";

const help = `
It reads the same environment as the service, and also checks the service if it
runs. It shows each problem and its solution; with --verbose, every check. It
writes nothing and prints no secret. With --json the result is a list of all
checks, each {"check","status","message","fix"}; the status is ok, note,
warning or fault. The exit code is 1 if there is a fault.`;

/** Adds the command. The checks are loaded when it runs. */
export function addDoctor(
  program: Command,
  environment: NodeJS.ProcessEnv,
  context: Context,
  endWith: SetExitCode,
): void {
  program
    .command("doctor")
    .description(
      "check configuration, MongoDB, Redis, clocks, certificates, identity provider, the service and the sign-in of assistants",
    )
    .option("--register", "register a client at the identity provider, as an assistant does; the client stays there")
    .option("--verbose", "show every check")
    .addHelpText("after", help)
    .action(async ({ register = false, verbose = false }: { register?: boolean; verbose?: boolean }) => {
      const [{ hasFault, runDoctor }, { report }] = await Promise.all([import("./doctor.ts"), import("./report.ts")]);
      const { url, tokenFile } = program.opts<{ url?: string; tokenFile?: string }>();
      const findings = await runDoctor(environment, { url, tokenFile, register });
      context.output.result(
        findings.map(({ check, status, message, fix }) => ({ check, status, message, fix })),
        report(findings, context.output.paint, verbose),
      );
      if (hasFault(findings)) endWith(exitCodes.failed);
    });
}
