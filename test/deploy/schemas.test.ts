// The deployment files by the schemas of Kubernetes and of Compose, as tools from PyPI carry them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkJsonschema, kubernetesValidate, pythonTool } from "../../scripts/python-tool.ts";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import { composePath } from "./compose.ts";
import { folders, manifestFiles } from "./kubernetes.ts";
import { root } from "./settings.ts";

// The tools may have to be fetched first.
vi.setConfig({ hookTimeout: 600_000 });

const broken = mkdtempSync(join(tmpdir(), "records-schemas-"));

interface Verdict {
  readonly status: number | null;
  readonly said: string;
}

afterAll(() => rmSync(broken, { recursive: true, force: true }));

function run([program = "", ...args]: readonly string[]): Verdict {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", cwd: root });
  return { status, said: stdout + stderr };
}

/** A file with one thing in it changed. */
type Change = readonly [path: string, from: string, to: string];

/** Writes the changed file, and returns its path. */
function breakFile([path, from, to]: Change, at: number): string {
  const text = readFileSync(join(root, path), "utf8");
  expect(text).toContain(from);
  const file = join(broken, `${at}-${path.split("/").at(-1)}`);
  writeFileSync(file, text.replace(from, to));
  return file;
}

// What an operator adds to Kubernetes has its schema with the operator.
const manifests = folders
  .flatMap((folder) => manifestFiles(folder).map((name) => `${folder}/${name}`))
  .filter((path) => !/\/(service-monitor|prometheus-rule)\.yaml$/.test(path));
const wrongManifests = [
  ["base/deployment.yaml", "readinessProbe:", "readynessProbe:"],
  ["base/deployment.yaml", "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: long"],
  ["base/services.yaml", "targetPort: public", "targetport: public"],
  ["base/autoscaler.yaml", "maxReplicas: 12", "maximum: 12"],
  ["base/disruption-budget.yaml", "unhealthyPodEvictionPolicy", "unhealthyPodPolicy"],
  ["base/network-policy.yaml", "policyTypes", "policytypes"],
  ["example/ingress.yaml", "pathType: Prefix", "pathtype: Prefix"],
] as const;
const wrongCompose = [
  ["depends_on:", "depend_on:"],
  ["restart: unless-stopped", "restart: [always]"],
  ["condition: service_completed_successfully", "condition: done"],
  ["read_only: true", "readonly: true"],
] as const;

/** What the tool of Kubernetes says of each manifest, and of each wrong one. It takes longer to start than to check. */
let accepted: Verdict;
let rejected: Verdict;
let rejectedFiles: readonly string[];
let checker: readonly string[];

beforeAll(() => {
  const validator = [...pythonTool(kubernetesValidate, testCacheDir()), "--strict"];
  checker = [...pythonTool(checkJsonschema, testCacheDir()), "--builtin-schema", "vendor.compose-spec"];
  accepted = run([...validator, ...manifests]);
  rejectedFiles = wrongManifests.map(([name, ...change], at) =>
    breakFile([`deploy/kubernetes/${name}`, ...change], at),
  );
  rejected = run([...validator, ...rejectedFiles]);
});

/** The lines on one of the files. */
const linesOn = (file: string, { said }: Verdict): string[] =>
  said.split("\n").filter((line) => line.split(" ")[1] === file);

test.each(manifests)("%s conforms to the schema of Kubernetes", (path) => {
  expect(accepted.status, accepted.said).toBe(0);
  const lines = linesOn(path, accepted);
  expect(lines.length, accepted.said).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^INFO .* passed for resource/);
});

test.each(wrongManifests.map(([name, from, to], at) => [name, from, to, at] as const))(
  "%s with a wrong field is rejected: %s → %s",
  (_name, _from, _to, at) => {
    expect(rejected.status).not.toBe(0);
    const lines = linesOn(rejectedFiles[at] ?? "", rejected);
    expect(lines, rejected.said).toContainEqual(expect.stringMatching(/^ERROR .* did not validate for resource/));
  },
);

test("the Compose file conforms to the schema of Compose", () => {
  const { status, said } = run([...checker, composePath]);
  expect(status, said).toBe(0);
});

test("a Compose file with a wrong field is rejected", () => {
  const files = wrongCompose.map((change, at) => breakFile([composePath, ...change], at));
  const { status, said } = run([...checker, "--output-format", "json", ...files]);
  expect(status, said).toBe(1);
  const { errors } = JSON.parse(said) as { errors: readonly { filename: string }[] };
  expect([...new Set(errors.map(({ filename }) => filename))].sort()).toEqual([...files].sort());
});
