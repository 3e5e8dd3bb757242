// `records doctor`: finds out what keeps the service from working, and says what to do about it.
import type { Command } from "commander";
import type { Context } from "../context.ts";
import type { EndWith } from "../exit.ts";
import { exitCodes } from "../exit.ts";

const help = `
It reads the same environment as the service, and looks at the service as well
where it runs. It shows what is wrong and what to do about it; with --verbose,
every check. It writes nothing and prints no secret. With --json the result is
a list of {"check","status","message","mend"}, all of them; the status is one
of ok, note, warning and fault. It ends with 1 where there is a fault.`;

/** Adds the command. The checks are loaded when it runs. */
export function addDoctor(program: Command, environment: NodeJS.ProcessEnv, context: Context, endWith: EndWith): void {
  program
    .command("doctor")
    .description(
      "checks configuration, MongoDB, Redis, clocks, certificates, identity provider, the service and how assistants sign in",
    )
    .option("--register", "registers a client at the identity provider, as an assistant does; it stays there")
    .option("--verbose", "shows what is right too")
    .addHelpText("after", help)
    .action(async ({ register = false, verbose = false }: { register?: boolean; verbose?: boolean }) => {
      const [{ hasFault, runDoctor }, { report }] = await Promise.all([import("./doctor.ts"), import("./report.ts")]);
      const { url, tokenFile } = program.opts<{ url?: string; tokenFile?: string }>();
      const findings = await runDoctor(environment, { url, tokenFile, register });
      context.output.result(
        findings.map(({ check, status, message, mend }) => ({ check, status, message, mend })),
        report(findings, context.output.paint, verbose),
      );
      if (hasFault(findings)) endWith(exitCodes.failed);
    });
}
