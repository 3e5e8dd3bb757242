// The deployment files by the schemas of Kubernetes and of Compose, as tools from PyPI carry them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkJsonschema, kubernetesValidate, pythonTool } from "../../scripts/python-tool.ts";
import { testCacheDir } from "../../fixtures/databases/cache-dir.ts";
import { composePath } from "./compose.ts";
import { folders, manifestFiles } from "./kubernetes.ts";
import { root } from "./settings.ts";

// The tools may have to be fetched first.
vi.setConfig({ hookTimeout: 600_000 });

const broken = mkdtempSync(join(tmpdir(), "records-schemas-"));
let kubernetes: (file: string) => Verdict;
let compose: (file: string) => Verdict;

interface Verdict {
  readonly status: number | null;
  readonly said: string;
}

beforeAll(() => {
  const validator = pythonTool(kubernetesValidate, testCacheDir());
  const checker = pythonTool(checkJsonschema, testCacheDir());
  kubernetes = (file) => run([...validator, "--strict", file]);
  compose = (file) => run([...checker, "--builtin-schema", "vendor.compose-spec", file]);
});
afterAll(() => rmSync(broken, { recursive: true, force: true }));

function run([program = "", ...args]: readonly string[]): Verdict {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", cwd: root });
  return { status, said: stdout + stderr };
}

/** The same file with one thing in it changed. */
function breakFile(path: string, from: string, to: string): string {
  const text = readFileSync(join(root, path), "utf8");
  expect(text).toContain(from);
  const file = join(broken, path.split("/").at(-1) ?? "");
  writeFileSync(file, text.replace(from, to));
  return file;
}

// What an operator adds to Kubernetes has its schema with the operator.
const manifests = folders
  .flatMap((folder) => manifestFiles(folder).map((name) => `${folder}/${name}`))
  .filter((path) => !/\/(service-monitor|prometheus-rule)\.yaml$/.test(path));

test.each(manifests)("%s conforms to the schema of Kubernetes", (path) => {
  const { status, said } = kubernetes(path);
  expect(status, said).toBe(0);
  expect(said).toMatch(/passed for resource/);
});

test.each([
  ["base/deployment.yaml", "readinessProbe:", "readynessProbe:"],
  ["base/deployment.yaml", "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: long"],
  ["base/services.yaml", "targetPort: public", "targetport: public"],
  ["base/autoscaler.yaml", "maxReplicas: 12", "maximum: 12"],
  ["base/disruption-budget.yaml", "unhealthyPodEvictionPolicy", "unhealthyPodPolicy"],
  ["base/network-policy.yaml", "policyTypes", "policytypes"],
  ["example/ingress.yaml", "pathType: Prefix", "pathtype: Prefix"],
])("%s with a wrong field is rejected: %s → %s", (name, from, to) => {
  expect(kubernetes(breakFile(`deploy/kubernetes/${name}`, from, to)).status).not.toBe(0);
});

test("the Compose file conforms to the schema of Compose", () => {
  const { status, said } = compose(composePath);
  expect(status, said).toBe(0);
});

test.each([
  ["depends_on:", "depend_on:"],
  ["restart: unless-stopped", "restart: [always]"],
  ["condition: service_completed_successfully", "condition: done"],
  ["read_only: true", "readonly: true"],
])("a Compose file with a wrong field is rejected: %s → %s", (from, to) => {
  expect(compose(breakFile(composePath, from, to)).status).toBe(1);
});
