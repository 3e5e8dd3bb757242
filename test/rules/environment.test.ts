// Settings are read in one place: of the service, only the programs and the embedded databases see the environment.
import { served, sourcesIn } from "../architecture/sources.ts";
import { environmentReads } from "./environment.ts";
import { declareRule } from "./rule.ts";

declareRule({
  title: "in the service, only the programs and the embedded databases read the environment",
  sources: [...served, ...sourcesIn("client/src", "evals")],
  breaches: (sources) => sources.flatMap(environmentReads),
  exceptions: [
    "src/cli/records.ts: process.env",
    // Which the embedded servers get, without its secrets.
    "src/embedded/dependencies.ts: process.env",
    "src/main.ts: process.env",
  ],
  bad: [
    ["a member", "call(process.env);"],
    ["a variable of it", "call(process.env.PORT);"],
    ["a member that is written as a text", 'call(process["env"]);'],
    ["a member that is written as a template", "call(process[`env`]);"],
    ["a member that is computed", "call(process[name]);"],
    ["an optional member", "call(process?.env);"],
    ["the global object", "call(globalThis.process.env);"],
    ["the global object's member", 'call(globalThis["process"]["env"]);'],
    ["an import", 'import { env } from "node:process";'],
    ["an import by another name", 'import { env as settings } from "process";'],
    ["the module by default", 'import process from "node:process";'],
    ["the whole module", 'import * as own from "node:process";'],
    ["the module later", 'const { env } = await import("node:process");'],
    ["a part of it", "const { env } = process;"],
    ["a part of it by another name", "const { env: settings, argv } = process;"],
    ["the process by another name", "const own = process;"],
    ["the process handed on", "call(process);"],
  ],
  good: [
    ["another member", 'process.on("SIGUSR2", () => process.exit(0));'],
    ["a name of something else", "call(pool.process, { process: 1 });"],
    ["another import", 'import { argv } from "node:process";'],
  ],
});
