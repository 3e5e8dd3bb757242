// `records interface`: switches the public interface and writes off and on, and lists these changes.
import type { Command } from "commander";
import { Option } from "commander";
import { confirm } from "./confirm.ts";
import type { Context } from "./context.ts";

interface SwitchOptions {
  readonly reason?: string;
  readonly yes?: boolean;
}

const offWarning = {
  public_interface:
    "This switches the public interface off. Within a second (1.5 seconds during a fault), every request for records returns 503 on every instance.",
  writes:
    "This pauses writes. Within a second (1.5 seconds during a fault), every write of records returns 503 on every instance, including ingest and import.",
};

/** Adds the commands. */
export function addInterface(program: Command, context: Context): void {
  const group = program.command("interface").description("switch the public interface and writes on and off");
  addSwitch(group, "the public interface (REST, Connect, gRPC, MCP)", "public_interface");
  const writes = group.command("writes").description("pause and resume writes");
  addSwitch(writes, "writes", "writes");
  group
    .command("log")
    .description("list the changes of the switches, the latest first")
    .option("--limit <count>", "the largest number of changes", "100")
    .action(async ({ limit }: { limit: string }) => {
      const { interfaceActions } = await import("./interface-actions.ts");
      await interfaceActions(context.output, await context.link()).log(limit);
    });

  function addSwitch(parent: Command, what: string, name: keyof typeof offWarning): void {
    for (const enabled of [true, false]) {
      const command = parent
        .command(enabled ? "on" : "off")
        .description(`switch ${what} ${enabled ? "on" : "off, after a confirmation"}`)
        .option("--reason <text>", "the reason, for the log of switches");
      // Switching on never asks, but a script can always pass the option.
      command.addOption(new Option("--yes", "do not ask for confirmation").hideHelp(enabled));
      command.action(async ({ reason = "", yes = false }: SwitchOptions) => {
        if (!enabled) await confirm({ warning: offWarning[name], expected: "off", yes });
        const { interfaceActions } = await import("./interface-actions.ts");
        await interfaceActions(context.output, await context.link()).set(name, enabled, reason);
      });
    }
  }
}
