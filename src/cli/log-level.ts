// `records log-level`: shows and sets the level of the log of one instance.
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { facts } from "./output.ts";

/** Adds the command. */
export function addLogLevel(program: Command, context: Context): void {
  program
    .command("log-level")
    .description("show the log level of the instance at --url, or set it until the next call or restart")
    .argument("[level]", "fatal, error, warn, info, debug, trace or silent; without it, the level is shown")
    .action(async (level: string | undefined) => {
      const { InstanceService } = await import("../gen/records/admin/v1/instance_pb.ts");
      const service = (await context.link()).client(InstanceService);
      if (level !== undefined) await service.setLogLevel({ level });
      const { level: current, configured } = await service.getLogLevel({});
      context.output.result(
        { level: current, configured },
        facts([
          ["level", current],
          ["LOG_LEVEL", configured],
        ]),
      );
    });
}
