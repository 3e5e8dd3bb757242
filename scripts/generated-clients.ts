// `npm run clients:generated`: runs popular generators on the served OpenAPI document and descriptor set, compiles
// their clients, and calls an instance with each.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import type { Program } from "../test/fixtures/service/program.ts";
import { startProgram } from "../test/fixtures/service/program.ts";
import { expectedReport } from "./generated-clients/expected.ts";
import type { Generator } from "./generated-clients/generator.ts";
import { warningsIn } from "./generated-clients/generator.ts";
import { connectGo, oapiCodegen, openApiGeneratorGo } from "./generated-clients/go.ts";
import { openApiGeneratorJava } from "./generated-clients/java.ts";
import { grpcPython, openApiGeneratorPython, openApiPythonClient } from "./generated-clients/python.ts";
import { run } from "./generated-clients/run.ts";
import { openApiGeneratorTypescript } from "./generated-clients/typescript.ts";

const generators: readonly Generator[] = [
  oapiCodegen,
  openApiPythonClient,
  openApiGeneratorJava,
  openApiGeneratorGo,
  openApiGeneratorPython,
  openApiGeneratorTypescript,
  connectGo,
  grpcPython,
];
const usage = `npm run clients:generated -- [--only <names>] [--url <address>] [--document <path of a file>]
  --only       some of ${generators.map(({ name }) => name).join(", ")}
  --url        a running instance, with an API key in RECORDS_API_KEY; by default, one is started
  --document   an OpenAPI document to use instead of the served one
Exits with 1 if a client cannot be generated without warnings, compiled or run, and with 2 if the run itself fails.`;

interface Instance {
  readonly url: string;
  readonly key: string;
}

/** How far a client got, and what failed, if anything did. */
interface Outcome {
  readonly generator: Generator;
  readonly steps: readonly string[];
  readonly warnings: readonly string[];
  readonly failure?: string;
}

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    only: { type: "string" },
    url: { type: "string" },
    document: { type: "string" },
  },
});
if (values.help) console.log(usage);
else process.exitCode = await main();

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "records-clients-"));
  let program: Program | undefined;
  try {
    const chosen = choose(values.only);
    if (values.url === undefined)
      program = await startProgram(join(folder, "data"), { RATE_LIMIT: "1000000", RATE_BURST: "1000000" });
    const instance = program === undefined ? given() : demoOf(program);
    const openapi =
      values.document === undefined ? await served(instance, folder, "openapi.yaml") : resolve(values.document);
    const documents = { openapi, descriptors: await served(instance, folder, "records.binpb") };
    const expected = await expectedReport(instance.url, instance.key);
    const outcomes = chosen.map((generator) =>
      attempt(generator, documents[generator.from ?? "openapi"], folder, instance, expected),
    );
    print(outcomes);
    return outcomes.some(({ failure }) => failure !== undefined) ? 1 : 0;
  } catch (error) {
    console.error(`clients: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  } finally {
    await program?.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The generators that can run here; warns about the others. */
function choose(only: string | undefined): readonly Generator[] {
  const names = only?.split(",") ?? generators.map(({ name }) => name);
  const unknown = names.find((name) => !generators.some((generator) => generator.name === name));
  if (unknown !== undefined) throw new Error(`unknown generator: ${unknown}\n${usage}`);
  const chosen = generators.filter(({ name }) => names.includes(name));
  const missing = new Map(chosen.map((generator) => [generator, generator.missing()]));
  for (const [{ name }, what] of missing)
    if (what !== undefined) console.warn(`${name} is LEFT OUT: it needs ${what}.`);
  const here = chosen.filter((generator) => missing.get(generator) === undefined);
  if (here.length === 0) throw new Error("none of the generators can run here");
  return here;
}

function given(): Instance {
  return { url: values.url ?? "", key: process.env["RECORDS_API_KEY"] ?? "" };
}

function demoOf(program: Program): Instance {
  const { base_url, accounts } = program.demo();
  return { url: base_url, key: accounts[0]?.api_key ?? "" };
}

/** Saves a served document. The OpenAPI document is YAML, where an unquoted date would be parsed as a date. */
async function served({ url }: Instance, folder: string, name: string): Promise<string> {
  const file = join(folder, name);
  writeFileSync(file, new Uint8Array(await (await fetch(`${url}/${name}`)).arrayBuffer()));
  return file;
}

function attempt(
  generator: Generator,
  document: string,
  parent: string,
  { url, key }: Instance,
  expected: Readonly<Record<string, unknown>>,
): Outcome {
  const folder = join(parent, generator.name);
  const steps: string[] = [];
  let warnings: readonly string[] = [];
  try {
    mkdirSync(folder);
    warnings = warningsIn(generator.generate(document, folder));
    if (warnings.length > 0) throw new Error(warnings.join("\n"));
    steps.push("generated");
    generator.compile(folder);
    steps.push("compiled");
    const [program, ...args] = generator.command(folder);
    const { out } = run(program, args, folder, { RECORDS_URL: url, RECORDS_API_KEY: key });
    if (!isDeepStrictEqual(JSON.parse(out), expected))
      throw new Error(`the program printed ${out.trim()} instead of ${JSON.stringify(expected)}`);
    steps.push("ran");
    return { generator, steps, warnings };
  } catch (error) {
    return { generator, steps, warnings, failure: error instanceof Error ? error.message : String(error) };
  }
}

function print(outcomes: readonly Outcome[]): void {
  const row = (...cells: readonly string[]): void =>
    console.log(
      cells
        .map((cell, at) => cell.padEnd([22, 11, 9, 10, 9, 5][at] ?? 0))
        .join(" ")
        .trimEnd(),
    );
  row("Generator", "Language", "Version", "Generated", "Compiled", "Ran", "Warnings");
  for (const { generator, steps, warnings } of outcomes) {
    const done = ["generated", "compiled", "ran"].map((step) => (steps.includes(step) ? "yes" : "NO"));
    row(generator.name, generator.language, generator.version, ...done, String(warnings.length));
  }
  for (const { generator, failure } of outcomes)
    if (failure !== undefined) console.error(`\n${generator.name}: ${failure}`);
}
