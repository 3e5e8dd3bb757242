// Context of a command: its output and, on demand, its link to the service.
import type { Command } from "commander";
import type { Link } from "./link.ts";
import type { Output } from "./output.ts";
import { createOutput } from "./output.ts";
import type { Where } from "./where.ts";
import { findService } from "./where.ts";

/** The options that every command has. */
interface GlobalOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
  /** False with `--no-color`. */
  readonly color: boolean;
}

/** The context of one run. */
export type Context = ReturnType<typeof createContext>;

/** Creates the context for the options of the program. */
export function createContext(program: Command, environment: NodeJS.ProcessEnv) {
  let where: Where | undefined;
  let link: Promise<Link> | undefined;
  const options = (): GlobalOptions => program.opts<GlobalOptions>();
  const find = (): Where => (where ??= findService(options(), environment));
  return {
    get output(): Output {
      return createOutput({ json: options().json === true, color: options().color }, environment);
    },
    where: find,
    /** Returns the only link of the run. Loaded on first use, because `--help` does not need it. */
    link: (): Promise<Link> => (link ??= connect(find())),
    /** Closes the link if one was opened. */
    close: async (): Promise<void> => (await link?.catch(() => undefined))?.close(),
  };
}

async function connect(where: Where): Promise<Link> {
  const { createLink } = await import("./link.ts");
  return createLink(where);
}
