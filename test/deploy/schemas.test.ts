// The deployment files by the schemas of Kubernetes and of Compose, as tools from PyPI carry them.
import { spawnSync } from "node:child_process";
import { expect, test, vi } from "vitest";
import type { PythonTool } from "../../scripts/python-tool.ts";
import { checkJsonschema, kubernetesValidate, pythonTool } from "../../scripts/python-tool.ts";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import { composePath } from "./compose.ts";
import { folders, manifestFiles } from "./kubernetes.ts";
import { root } from "./settings.ts";

// The tools may have to be fetched first.
vi.setConfig({ testTimeout: 600_000 });

function run(tool: PythonTool, ...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const [program, ...first] = pythonTool(tool, testCacheDir());
  const { status, stdout, stderr } = spawnSync(program, [...first, ...args], { encoding: "utf8", cwd: root });
  return { status, said: stdout + stderr };
}

test("the manifests conform to the schemas of Kubernetes", () => {
  // What an operator adds to Kubernetes has its schema with the operator.
  const manifests = folders
    .flatMap((folder) => manifestFiles(folder).map((name) => `${folder}/${name}`))
    .filter((path) => !/\/(service-monitor|prometheus-rule)\.yaml$/.test(path));
  const { status, said } = run(kubernetesValidate, "--strict", ...manifests);
  expect(status, said).toBe(0);
  for (const path of manifests) expect(said).toContain(`INFO ${path} passed for resource`);
});

test("the Compose file conforms to the schema of Compose", () => {
  const { status, said } = run(checkJsonschema, "--builtin-schema", "vendor.compose-spec", composePath);
  expect(status, said).toBe(0);
});
