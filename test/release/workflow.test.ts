// The workflow of the code host: it runs the same script as every CI, on the versions of Node that are supported.
import { accessSync, constants, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { VERSION } from "../../src/embedded/memory-server.ts";
import { readPage, root } from "../docs/pages.ts";

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly strategy: { readonly matrix: { readonly node: readonly string[] } };
        readonly steps: readonly {
          readonly run?: string;
          readonly env?: Readonly<Record<string, string>>;
          readonly with?: Readonly<Record<string, unknown>>;
        }[];
      }
    >
  >;
}

const workflow = parse(readFileSync(join(root, ".github/workflows/ci.yaml"), "utf8")) as Workflow;
const [job] = Object.values(workflow.jobs);
const versions = job?.strategy.matrix.node ?? [];

test("the workflow has the versions in the package and the guide", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${versions[0]}`);
  expect(versions).toEqual(["20.19", "22", "24", "26"]);
  expect(readPage("docs/settings.md").prose).toContain("| Node | 20.19 or later 20.x, 22, 24, 26 |");
  expect(readPage("CONTRIBUTING.md").prose).toContain("20.19, 22, 24 and 26");
});

test("the workflow runs the script of every CI with the version of its job", () => {
  expect(job?.steps.map(({ run }) => run).filter((run) => run !== undefined)).toEqual([".ci/run"]);
  expect(job?.steps.map((step) => step.with?.["node-version"])).toContain("${{ matrix.node }}");
  accessSync(join(root, ".ci/run"), constants.X_OK);
});

test("the workflow runs the long form every night", () => {
  expect(workflow.on).toHaveProperty("schedule");
  const [step] = job?.steps.filter(({ run }) => run === ".ci/run") ?? [];
  expect(step?.env).toEqual({ TESTS: "${{ github.event_name == 'schedule' && 'long' || '' }}" });
});

test("the version of MongoDB that a start downloads has its jobs", () => {
  const text = readFileSync(join(root, ".github/workflows/ci.yaml"), "utf8");
  expect(/^ +mongodb: (\[.*\])$/m.exec(text)?.[1]).toContain(`"${VERSION}"`);
  expect(text).toContain(`MONGODB: "${VERSION}"`);
});

test("the workflows name each action by a commit, which cannot be moved as a tag can, with its version", () => {
  const folder = join(root, ".github/workflows");
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  const actions = lines.filter((line) => /\buses:/.test(line));
  expect(actions).not.toEqual([]);
  for (const line of actions) expect(line).toMatch(/uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("every issue template has a name, a description and questions with distinct ids", () => {
  const folder = join(root, ".github/ISSUE_TEMPLATE");
  const templates = readdirSync(folder).filter((name) => name !== "config.yml");
  expect(templates.sort()).toEqual(["bug.yml", "feature.yml"]);
  for (const name of templates) {
    const template = parse(readFileSync(join(folder, name), "utf8")) as {
      name: string;
      description: string;
      body: { type: string; id?: string }[];
    };
    expect([template.name, template.description].every((text) => text.length > 0)).toBe(true);
    const ids = template.body.filter(({ type }) => type !== "markdown").map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
  }
});
