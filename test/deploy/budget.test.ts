// What the manifests reserve and permit against what was measured, and the pinning of the image by its digest.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import type { Kustomization } from "./kubernetes.ts";
import { readManifests } from "./kubernetes.ts";
import { replacedIn, root } from "./settings.ts";

interface Resources {
  readonly requests?: { readonly cpu?: string; readonly memory?: string };
  readonly limits?: { readonly memory?: string };
}
interface Budgeted {
  readonly kind: string;
  readonly spec: {
    readonly minReplicas?: number;
    readonly maxReplicas?: number;
    readonly maxUnavailable?: number;
    readonly metrics?: readonly { readonly resource: { readonly target: { readonly averageUtilization: number } } }[];
    readonly strategy?: { readonly rollingUpdate: { readonly maxSurge: number } };
    readonly template?: {
      readonly spec: Readonly<
        Record<"containers" | "initContainers", readonly { readonly name: string; readonly resources?: Resources }[]>
      >;
    };
  };
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const capacity = read("docs/capacity.md");
const manifests = readManifests() as unknown as Budgeted[];

function figure(text: string, pattern: RegExp): number {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Error(`nothing like ${pattern}`);
  return Number(found.replaceAll(",", ""));
}

/** Bytes of a quantity such as 384Mi. */
const bytes = (quantity = "0Mi"): number => figure(quantity, /^(\d+)Mi$/) * 2 ** 20;

function problemsOf(all: readonly Budgeted[]): string[] {
  const of = (kind: string): Budgeted["spec"] => all.find((one) => one.kind === kind)?.spec ?? {};
  const [deployment, scaler, budget] = ["Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"].map(of) as [
    Budgeted["spec"],
    Budgeted["spec"],
    Budgeted["spec"],
  ];
  const { containers = [], initContainers = [] } = deployment.template?.spec ?? {};
  const problems: string[] = [];
  const need = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  for (const { name, resources: { requests, limits } = {} } of [...containers, ...initContainers]) {
    need(requests?.cpu !== undefined && requests.memory !== undefined, `${name} requests nothing`);
    need(limits?.memory !== undefined, `${name} has no limit of memory`);
  }
  const [resources] = containers.map((container) => container.resources);
  const most = 1_000_000 * figure(capacity, /The service used at most (\d+) MB\./);
  const usual = 1_000_000 * figure(capacity, /memory of an instance under that load \| (\d+) MB/);
  need(bytes(resources?.requests?.memory) >= Math.max(most, usual), "an instance needs more memory than it requests");
  need(bytes(resources?.limits?.memory) >= 2 * most, "the limit is less than twice the memory that was measured");
  const alert = figure(read("deploy/prometheus/alerts.yaml"), /> 0\.9 \* (\d+) \* 1024 \* 1024/);
  need(bytes(resources?.limits?.memory) === alert * 2 ** 20, "the alert on memory has another limit");
  const share =
    ((scaler.metrics?.[0]?.resource.target.averageUtilization ?? 0) * Number(resources?.requests?.cpu)) / 100;
  need(
    share === figure(capacity, /single-core instances at (\d+) % load/) / 100,
    "the autoscaler plans with another share of a core than docs/capacity.md",
  );
  need((budget.maxUnavailable ?? 9) < (scaler.minReplicas ?? 0), "a drain may stop every instance");
  const pods = (scaler.maxReplicas ?? 0) + (deployment.strategy?.rollingUpdate.maxSurge ?? 0);
  need(
    figure(read("docs/production.md"), /The manifests run at most (\d+) pods/) === pods &&
      figure(read("docs/production.md"), /pods, which open up to ([\d,]+) connections/) === pods * (100 + 10),
    "docs/production.md counts other pods or connections",
  );
  return problems;
}

test("the requests and limits of the pods follow from the measurements, and drains leave some pods running", () => {
  expect(problemsOf(manifests)).toEqual([]);
});

test.each([
  ["records requests nothing", '"requests":{"cpu":"1","memory":"384Mi"},', ""],
  ["migrate has no limit of memory", '"memory":"256Mi"},"limits":{"memory":"768Mi"}', '"memory":"256Mi"}'],
  ["an instance needs more memory than it requests", "384Mi", "256Mi"],
  [
    "the limit is less than twice the memory that was measured",
    '384Mi"},"limits":{"memory":"768Mi"',
    '384Mi"},"limits":{"memory":"512Mi"',
  ],
  [
    "the alert on memory has another limit",
    '384Mi"},"limits":{"memory":"768Mi"',
    '384Mi"},"limits":{"memory":"1024Mi"',
  ],
  ["the autoscaler plans with another share of a core than docs/capacity.md", '"cpu":"1"', '"cpu":"2"'],
  ["a drain may stop every instance", '"maxUnavailable":1,', '"maxUnavailable":3,'],
  ["docs/production.md counts other pods or connections", '"maxReplicas":12', '"maxReplicas":40'],
])("detects manifests that do not fit together: %s", (problem, from, to) => {
  expect(problemsOf(replacedIn(manifests, from, to))).toContain(problem);
});

test("the documented command pins the image by its digest instead of its tag", () => {
  const folder = mkdtempSync(join(tmpdir(), "records-pin-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  copyFileSync(join(root, "deploy/kubernetes/example/kustomization.yaml"), join(folder, "kustomization.yaml"));
  const [, command] = /^\$ (sed -i .* kustomization\.yaml)$/m.exec(read("deploy/README.md")) ?? [];
  const digest = `sha256:${"0a".repeat(32)}`;
  execFileSync("sh", ["-ec", command ?? "false"], { cwd: folder, env: { ...process.env, digest } });
  const { images } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")) as Kustomization;
  expect(images).toEqual([{ name: "records", newName: "registry.example.com/records", digest }]);
});
