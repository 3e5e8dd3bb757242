// The Kubernetes manifests are consistent, and name the settings, ports and paths that the service really has.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/config/config.ts";
import type { Kustomization, Manifest } from "./kubernetes.ts";
import { folders, manifestFiles, readManifests } from "./kubernetes.ts";
import { configOf, problemsOfNames, readEnvironmentFile, root } from "./settings.ts";

/** The pods, as far as other files decide on them. */
interface Deployment {
  readonly template: {
    readonly spec: {
      readonly initContainers: readonly Record<string, unknown>[];
      readonly containers: readonly [
        {
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly ports: unknown;
          readonly envFrom: unknown;
          readonly securityContext: unknown;
        },
      ];
    };
  };
}

const [base, example] = folders.map(
  (folder) => parse(readFileSync(join(root, folder, "kustomization.yaml"), "utf8")) as Kustomization,
) as [Kustomization, Kustomization];
const manifests = readManifests();
const pod = (find("Deployment").spec as Deployment).template.spec;
const [container] = pod.containers;
const secrets = readEnvironmentFile("deploy/kubernetes/example/secrets.env.example");
const literals = Object.fromEntries(
  (example.configMapGenerator?.[0]?.literals ?? []).map((line) => line.split("=") as [string, string]),
);
const settings = {
  ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
  ...literals,
  ...secrets,
};
/** The labels of the pods. */
const records = { "app.kubernetes.io/name": "records" };

function find(kind: string, name = "records"): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

test("the manifests find each other by their labels, names and ports", () => {
  expect(manifests.map(({ kind }) => kind).sort()).toEqual([
    ...["Deployment", "HorizontalPodAutoscaler", "Ingress", "Namespace", "NetworkPolicy", "PodDisruptionBudget"],
    ...["PrometheusRule", "Service", "Service", "ServiceAccount", "ServiceMonitor"],
  ]);
  const spread = { labelSelector: { matchLabels: records } };
  expect(find("Deployment").spec).toMatchObject({
    selector: { matchLabels: records },
    template: {
      metadata: { labels: records },
      spec: { serviceAccountName: find("ServiceAccount").metadata.name, topologySpreadConstraints: [spread, spread] },
    },
  });
  expect(find("PodDisruptionBudget").spec).toMatchObject({ selector: { matchLabels: records } });
  expect(find("HorizontalPodAutoscaler").spec).toMatchObject({
    scaleTargetRef: { kind: "Deployment", name: "records" },
  });
  expect(find("Service").spec).toMatchObject({ selector: records, ports: [{ name: "public", targetPort: "public" }] });
  const internal = find("Service", "records-internal");
  expect(internal.spec).toMatchObject({ selector: records, ports: [{ name: "internal", targetPort: "internal" }] });
  const service = { name: "records", port: { name: "public" } };
  expect(find("Ingress").spec).toMatchObject({
    tls: [{ hosts: ["records.example.com"] }],
    rules: [{ host: "records.example.com", http: { paths: [{ path: "/", backend: { service } }] } }],
  });
  const job = { sourceLabels: ["__meta_kubernetes_namespace"], targetLabel: "job" };
  expect(find("ServiceMonitor").spec).toMatchObject({
    selector: { matchLabels: internal.metadata.labels },
    endpoints: [{ port: "internal", path: "/metrics", relabelings: [job] }],
  });
});

test("the internal port is open to few, and the pods connect to DNS, the databases, the identity provider and the collector alone [EMB-06]", () => {
  expect(find("NetworkPolicy").spec).toEqual({
    podSelector: { matchLabels: records },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      { ports: [{ protocol: "TCP", port: "public" }] },
      {
        ports: [{ protocol: "TCP", port: "internal" }],
        from: [
          { podSelector: { matchLabels: { "records/internal": "allowed" } } },
          { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } },
        ],
      },
    ],
    egress: [
      {
        ports: ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 })),
        to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } }],
      },
      {
        ports: [27017, 6379, 443, 4318].map((port) => ({ protocol: "TCP", port })),
        // Without the addresses at which clouds provide the node's credentials.
        to: [
          { namespaceSelector: {} },
          { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] } },
          { ipBlock: { cidr: "::/0", except: ["fe80::/10", "fd00:ec2::/32"] } },
        ],
      },
    ],
  });
});

test("kustomize lists every file and no other, and generates what the pods refer to", () => {
  expect([...base.resources].sort()).toEqual(manifestFiles(folders[0]));
  expect([...example.resources].sort()).toEqual(["../base", ...manifestFiles(folders[1])].sort());
  const { name: namespace } = find("Namespace").metadata;
  expect([base.namespace, example.namespace]).toEqual([namespace, namespace]);
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
  expect(pod.initContainers).toMatchObject([
    {
      image: "records",
      command: ["node", "bin/records.js", "migrate", "--indexes-only"],
      envFrom: container.envFrom,
      securityContext: container.securityContext,
    },
  ]);
});

test("the pods are given every setting that a production instance needs, and none that nothing reads [OAU-23]", () => {
  expect(problemsOfNames(Object.keys(settings))).toEqual([]);
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

test("the probes use the internal port, and a pod has more time to end than it waits before SIGTERM and the service needs [OPS-10, OPS-16]", () => {
  const probe = (path: string) => ({ httpGet: { path, port: "internal" } });
  expect(pod).toMatchObject({
    // 5 seconds before SIGTERM, and then 10 for the requests in progress.
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        startupProbe: probe("/livez"),
        readinessProbe: probe("/readyz"),
        livenessProbe: probe("/livez"),
        lifecycle: { preStop: { sleep: { seconds: 5 } } },
      },
    ],
  });
});

test("a pod runs as the image's user, without root, without capabilities, and with a read-only file system", () => {
  expect(pod).toMatchObject({ securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 } });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(pod).not.toHaveProperty("volumes");
});
