// Runs the commands of the guide, and compares their output with the pages.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { Program } from "../fixtures/service/program.ts";
import { startProgram } from "../fixtures/service/program.ts";
import { differences, linesLike } from "./likeness.ts";
import type { Block, Page } from "./pages.ts";
import { guide, root, shownIn } from "./pages.ts";
import type { Ran } from "./shell.ts";
import { runAll } from "./shell.ts";

/** A command or a program of a page, and what the page shows of its output. */
interface Step {
  readonly name: string;
  readonly page: Page;
  readonly command: string;
  readonly output: readonly string[];
  /** The response in the block that follows. */
  readonly response: string | undefined;
}

/** The tests have already started the service; no other command is left out. */
const startsTheService = "npm ci && npm start";
const run = promisify(execFile);
const programs = ["ts", "python"].flatMap((language) =>
  guide.flatMap((page) =>
    page.blocks
      .filter((block) => block.language === language)
      .map((block) => ({ page, block, output: follower(page, block, "text") })),
  ),
);
const steps = guide.flatMap((page) =>
  page.blocks.filter(({ language }) => language === "console").flatMap((block) => stepsOf(page, block)),
);

// Within the repository, so that packages are found.
const folder = join(root, "node_modules/.cache", `docs-${process.pid}`);
const dataDir = mkdtempSync(join(tmpdir(), "records-docs-"));
const ran = new Map<Step, Ran>();
let program: Program;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  // The pages show the usual limit, which many commands at once would run into.
  program = await startProgram(dataDir, { RATE_BURST: "100000" });
  for (const page of guide) {
    const own = steps.filter((step) => step.page === page);
    const done = await runAll(
      own.map(({ command }) => command),
      { folder: join(dataDir, `page-${basename(page.path, ".md")}`), dataDir, program },
    );
    for (const [at, step] of own.entries()) ran.set(step, done[at] as Ran);
  }
}, 300_000);

afterAll(async () => {
  await program.end();
  for (const path of [dataDir, folder]) rmSync(path, { recursive: true, force: true });
});

/** The text of the block after this one, if it is of the language and only blank lines are between. */
function follower({ blocks, text }: Page, block: Block, language: string): string | undefined {
  const next = blocks[blocks.indexOf(block) + 1];
  if (next?.language !== language) return undefined;
  const end = block.line + block.text.split("\n").length;
  return text
    .split("\n")
    .slice(end, next.line - 1)
    .every((line) => line.trim() === "")
    ? next.text
    : undefined;
}

function stepsOf(page: Page, block: Block): Step[] {
  const response = follower(page, block, "json");
  const all = shownIn(block).filter(({ command }) => command !== startsTheService);
  return all.map(({ command, output }, at) => ({
    name: `${page.path}: ${command.split("\n")[0] ?? ""}`,
    page,
    command,
    output,
    response: at === all.length - 1 ? response : undefined,
  }));
}

test("every page for callers has commands, programs and responses to try", () => {
  expect(steps.length).toBeGreaterThan(60);
  expect(programs.length).toBeGreaterThan(3);
  for (const name of [
    "quickstart",
    "authentication",
    "search",
    "paging",
    "idempotency-and-retries",
    "errors",
    "ingest",
    "command-line",
    "observability",
  ]) {
    expect(steps.filter(({ page }) => page.path === `docs/${name}.md`).length, name).toBeGreaterThan(1);
  }
});

test.each(steps.map((step) => [step.name, step] as const))(
  "the shown response is the one that is returned: %s",
  (_name, step) => {
    const { code, output } = ran.get(step) as Ran;
    const lines = output
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => line.replace(/\r$/, ""));
    const fails = /^(-> |exit code )\d+$/.test(step.output.at(-1) ?? "");
    if (!fails) expect(code, output).toBe(0);
    const body = step.response === undefined ? undefined : (JSON.parse(output) as Record<string, unknown>);
    if (step.response !== undefined) expect(differences(JSON.parse(step.response), body), output).toEqual([]);
    else if (step.output.length === 1 && /^[{[]"/.test(step.output[0] ?? ""))
      expect(differences(JSON.parse(step.output[0] ?? ""), JSON.parse(output)), output).toEqual([]);
    else if (step.output.length > 0)
      expect(linesLike(step.output, lines), `shown:\n${step.output.join("\n")}\ncame:\n${output}`).toBe(true);
    // What the page does not show must not be a failure.
    if (step.response === undefined && step.output.length === 0) expect(output).not.toMatch(/"error":|^\{"code":/);
  },
);

test("the programs of the guide compile, and print what the page shows", async () => {
  const { base_url, accounts } = program.demo();
  const files = programs.map(({ block }, at) => {
    const file = join(folder, `program-${at}.${block.language === "python" ? "py" : "mts"}`);
    const text = block.text
      .replaceAll('"./src/gen/', `"${root}/src/gen/`)
      .replaceAll("http://localhost:8080", base_url);
    writeFileSync(file, text);
    return file;
  });
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { typeRoots: [join(root, "node_modules/@types")] },
    include: [],
    files: files.filter((file) => file.endsWith(".mts")),
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const types = await run(join(root, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? String(error),
  }));
  expect(types.stdout).toBe("");
  for (const [at, { page, block, output }] of programs.entries()) {
    expect(output, `${page.path}: a program without its output`).toBeDefined();
    if (/"KEY"|'KEY'/.test(block.text)) expect(page.text, `${page.path}: a program needs KEY`).toContain("export KEY=");
    const file = files[at] ?? "";
    const [interpreter, ...options] = file.endsWith(".py") ? ["python3"] : [process.execPath, "--import", "tsx"];
    const { stdout } = await run(interpreter ?? "", [...options, file], {
      cwd: root,
      env: { ...process.env, KEY: accounts[0]?.api_key ?? "" },
    });
    expect(
      linesLike((output ?? "").trimEnd().split("\n"), stdout.trimEnd().split("\n")),
      `${page.path}:\n${stdout}`,
    ).toBe(true);
  }
});

test("a block that a test cannot run is at least a valid script, and every other block has a kind that is tested", async () => {
  for (const page of guide) {
    for (const [at, block] of page.blocks.entries()) {
      const where = `${page.path}:${block.line}`;
      expect(["console", "json", "jsonc", "python", "sh", "text", "ts", "yaml"], where).toContain(block.language);
      // A response is under its request.
      if (block.language === "json") expect(page.blocks[at - 1]?.language, where).toBe("console");
      if (block.language === "jsonc") expect(() => JSON.parse(block.text) as unknown, where).not.toThrow();
      if (block.language === "yaml") expect(parse(block.text), where).toBeTypeOf("object");
      if (block.language !== "sh") continue;
      expect(block.text, where).not.toMatch(/^\$ /m);
      await run("bash", ["-n", "-c", block.text]);
    }
  }
});
