// The Kubernetes manifests are consistent, and name the settings, ports and paths that the service really has.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/config/config.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { parseDockerfile } from "./dockerfile.ts";
import type { Container, Kustomization, Manifest } from "./kubernetes.ts";
import { folders, manifestFiles, problemsOf, readManifests } from "./kubernetes.ts";
import { configOf, problemsOfNames, readEnvironmentFile, replacedIn, root } from "./settings.ts";

const [base, example] = folders.map(
  (folder) => parse(readFileSync(join(root, folder, "kustomization.yaml"), "utf8")) as Kustomization,
) as [Kustomization, Kustomization];
const manifests = readManifests();
const pod = find(manifests, "Deployment").spec.template?.spec;
const container = pod?.containers[0] as Container;
const secrets = readEnvironmentFile("deploy/kubernetes/example/secrets.env.example");
const literals = Object.fromEntries(
  (example.configMapGenerator?.[0]?.literals ?? []).map((line) => line.split("=") as [string, string]),
);
const settings = {
  ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
  ...literals,
  ...secrets,
};

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

function find(all: readonly Manifest[], kind: string): Manifest {
  const found = all.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

test("the manifests fit together: selectors, labels, ports, the budget, the autoscaler's target, the Ingress's backends, and egress [EMB-06]", () => {
  expect(manifests.map(({ kind }) => kind).sort()).toEqual([
    ...["Deployment", "HorizontalPodAutoscaler", "Ingress", "Namespace", "NetworkPolicy", "PodDisruptionBudget"],
    ...["PrometheusRule", "Service", "Service", "ServiceAccount", "ServiceMonitor"],
  ]);
  expect(problemsOf(manifests)).toEqual([]);
});

/** Ways to break the manifests, each with the problem that is reported. */
const breaks: readonly (readonly [problem: string, from: string, to: string])[] = [
  [
    "the Deployment does not select its own pods",
    '"matchLabels":{"app.kubernetes.io/name":"records"}},"strategy"',
    '"matchLabels":{"app":"other"}},"strategy"',
  ],
  [
    "PodDisruptionBudget records selects no pods",
    '"unhealthyPodEvictionPolicy":"AlwaysAllow","selector":{"matchLabels":{"app.kubernetes.io/name":"records"}}',
    '"selector":{"matchLabels":{"app":"other"}}',
  ],
  [
    "NetworkPolicy records selects no pods",
    '"podSelector":{"matchLabels":{"app.kubernetes.io/name":"records"}}',
    '"podSelector":{"matchLabels":{"app":"other"}}',
  ],
  [
    "HorizontalPodAutoscaler records scales a missing target",
    '"kind":"Deployment","name":"records"}',
    '"kind":"Deployment","name":"other"}',
  ],
  ["Service records leads to a port web that no container opens", '"targetPort":"public"', '"targetPort":"web"'],
  [
    "livenessProbe does not ask the internal port",
    '"livenessProbe":{"httpGet":{"path":"/livez","port":"internal"}',
    '"livenessProbe":{"httpGet":{"path":"/livez","port":"public"}',
  ],
  ["NetworkPolicy records opens the internal port to all", '"port":"internal"}],"from"', '"port":"internal"}],"of"'],
  [
    "NetworkPolicy records lets the pods connect to everything",
    '"policyTypes":["Ingress","Egress"]',
    '"policyTypes":["Ingress"]',
  ],
  ["NetworkPolicy records closes the way to DNS (UDP 53)", '{"protocol":"UDP","port":53},', ""],
  ["NetworkPolicy records closes the way to MongoDB (TCP 27017)", '"port":27017', '"port":27018'],
  ["NetworkPolicy records closes the way to the collector of traces (TCP 4318)", ',{"protocol":"TCP","port":4318}', ""],
  ["NetworkPolicy records opens TCP 22 for nothing", '"port":443}', '"port":443},{"protocol":"TCP","port":22}'],
  [
    "NetworkPolicy records has a rule for every port or every address",
    '"to":[{"namespaceSelector":{"matchLabels"',
    '"from":[{"namespaceSelector":{"matchLabels"',
  ],
  ["NetworkPolicy records lets the pods ask for the node's credentials (0.0.0.0/0)", '"169.254.0.0/16"', ""],
  [
    "ServiceMonitor records finds no Service with a port internal",
    '"matchLabels":{"app.kubernetes.io/name":"records-internal"}',
    '"matchLabels":{"app":"other"}',
  ],
  ["ServiceMonitor records gives the instances no job of their own", '"targetLabel":"job"', '"targetLabel":"task"'],
  ["Ingress records routes to a missing Service other", '"service":{"name":"records"', '"service":{"name":"other"'],
  [
    "Ingress records lets the outside reach the internal port",
    '"service":{"name":"records","port":{"name":"public"}}',
    '"service":{"name":"records-internal","port":{"name":"internal"}}',
  ],
  ["Ingress records serves records.example.com without TLS", '"hosts":["records.example.com"]', '"hosts":[]'],
  ["no ServiceAccount is called other", '"serviceAccountName":"records"', '"serviceAccountName":"other"'],
];

test.each(breaks)("detects a broken manifest: %s", (problem, from, to) => {
  expect(problemsOf(replacedIn(manifests, from, to))).toContain(problem);
});

test("kustomize lists every file and no other, and generates what the pods refer to", () => {
  expect([...base.resources].sort()).toEqual(manifestFiles(folders[0]));
  expect([...example.resources].sort()).toEqual(["../base", ...manifestFiles(folders[1])].sort());
  expect([base.namespace, example.namespace]).toEqual([
    find(manifests, "Namespace").metadata.name,
    find(manifests, "Namespace").metadata.name,
  ]);
  expect(container.envFrom).toEqual([
    { configMapRef: { name: example.configMapGenerator?.[0]?.name } },
    { secretRef: { name: example.secretGenerator?.[0]?.name } },
  ]);
  expect(example.secretGenerator?.[0]?.envs).toEqual(["secrets.env"]);
  expect(readFileSync(join(root, ".gitignore"), "utf8").split("\n")).toEqual(
    expect.arrayContaining(["secrets.env", ".env"]),
  );
  expect(example.images?.map(({ name }) => name)).toEqual(["records"]);
});

test("each pod runs the migration before the service, with the same image, settings and rights [OPS-50]", () => {
  const [first, ...others] = pod?.initContainers ?? [];
  expect([first?.image, first?.command, others]).toEqual([
    "records",
    ["node", "bin/records.js", "migrate", "--indexes-only"],
    [],
  ]);
  expect([first?.envFrom, first?.securityContext]).toEqual([container.envFrom, container.securityContext]);
});

test("the pods are given every setting that a production instance needs, and none that nothing reads [OAU-23]", () => {
  expect(problemsOfNames(Object.keys(settings))).toEqual([]);
  expect(problemsOfNames([...Object.keys(settings), "MONGO_URL"])).toEqual(["MONGO_URL is read by nothing"]);
  expect(problemsOfNames(Object.keys(settings).filter((name) => name !== "SESSION_SECRET"))).toEqual([
    "SESSION_SECRET is not set",
  ]);
  expect(problemsOfNames(Object.keys(settings).filter((name) => name !== "MCP_AUDIENCE"))).toEqual([
    "MCP_AUDIENCE is not set",
  ]);
});

test("with the secrets filled in, the service accepts them, on the ports of the manifest; no secret has a default [OPS-11, OPS-13]", () => {
  expect(new Set(Object.values(secrets))).toEqual(new Set([""]));
  const { host, internalHost, port, internalPort, trustProxy } = configOf(settings);
  expect([host, internalHost, trustProxy]).toEqual(["0.0.0.0", "0.0.0.0", 1]);
  expect(container.ports).toEqual([
    { name: "public", containerPort: port },
    { name: "internal", containerPort: internalPort },
  ]);
  expect(() => readConfig({ ...settings, MONGODB_URI: "mongodb://db/records" })).toThrow(
    /^SERVICE_TOKENS: is required/,
  );
});

test("the probes and the monitor request paths that the internal listener serves and the public one does not [OPS-10]", async () => {
  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
    ({ httpGet }) => httpGet.path,
  );
  expect(probes).toEqual(["/livez", "/readyz", "/livez"]);
  for (const path of [
    ...probes,
    ...(find(manifests, "ServiceMonitor").spec.endpoints ?? []).map((endpoint) => endpoint.path),
  ]) {
    expect([path, (await fetch(service.internal + path)).status, (await fetch(service.base + path)).status]).toEqual([
      path,
      200,
      404,
    ]);
  }
});

test("a pod has more time to end than it waits before SIGTERM and the service needs to finish [OPS-16]", () => {
  const graceMs = Number(
    /const graceMs = ([\d_]+)/.exec(readFileSync(join(root, "src/app/app.ts"), "utf8"))?.[1]?.replaceAll("_", ""),
  );
  expect(graceMs).toBe(10_000);
  expect(pod?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
    container.lifecycle.preStop.sleep.seconds + graceMs / 1_000 + 10,
  );
});

test("a pod runs as the image's user, without root, without capabilities, and with a read-only file system", () => {
  const user = parseDockerfile(readFileSync(join(root, "Dockerfile"), "utf8"))
    .at(-1)
    ?.instructions.find(({ name }) => name === "USER")?.rest;
  expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true });
  expect(`${pod?.securityContext.runAsUser}:${pod?.securityContext.runAsGroup}`).toBe(user);
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(pod?.volumes).toBeUndefined();
});
