// `records interface`: switches the public interface, and writes, off and on, and reports how they were set.
import type { Command } from "commander";
import { confirm } from "./confirm.ts";
import type { Context } from "./context.ts";

interface SwitchOptions {
  readonly reason?: string;
  readonly yes?: boolean;
}

const offWarning = {
  public_interface:
    "This switches the public interface off: every call of a record returns 503, on every instance, within a second.",
  writes:
    "This pauses writes: every write of a record returns 503, ingest and import too, on every instance, within a second.",
};

/** Adds the commands. */
export function addInterface(program: Command, context: Context): void {
  const group = program
    .command("interface")
    .description("the switches: the public interface, and writes, on and off, with a log");
  addSwitch(group, "the public interface (REST, Connect, gRPC, MCP)", "public_interface");
  const writes = group.command("writes").description("pauses and resumes writes");
  addSwitch(writes, "writes", "writes");
  group
    .command("log")
    .description("lists how the switches were set, the latest first")
    .option("--limit <count>", "the largest number of changes", "100")
    .action(async ({ limit }: { limit: string }) => {
      const { interfaceActions } = await import("./interface-actions.ts");
      await interfaceActions(context.output, await context.link()).log(limit);
    });

  function addSwitch(parent: Command, what: string, name: keyof typeof offWarning): void {
    for (const enabled of [true, false]) {
      const command = parent
        .command(enabled ? "on" : "off")
        .description(`switches ${what} ${enabled ? "on" : "off; asks first"}`)
        .option("--reason <text>", "why, for those who ask later")
        // Of both, so that a script can say it whichever way it switches.
        .option("--yes", enabled ? "nothing is asked anyway" : "does not ask");
      command.action(async ({ reason = "", yes = false }: SwitchOptions) => {
        if (!enabled) await confirm({ warning: offWarning[name], expected: "off", yes });
        const { interfaceActions } = await import("./interface-actions.ts");
        await interfaceActions(context.output, await context.link()).set(name, enabled, reason);
      });
    }
  }
}
