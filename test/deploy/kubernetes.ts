// The Kubernetes manifests as the tests see them, and what must hold between one and another.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "./settings.ts";

export type Labels = Readonly<Record<string, string>>;

/** A peer of the pods. */
interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

/** The dependencies of the pods and their usual ports. */
const destinations = [
  ["DNS", "UDP 53"],
  ["DNS", "TCP 53"],
  ["MongoDB", "TCP 27017"],
  ["Redis", "TCP 6379"],
  ["the identity provider", "TCP 443"],
  ["the collector of traces", "TCP 4318"],
] as const;
/** The networks in which clouds serve credentials of the node, by the block that contains them. */
const credentials: Readonly<Record<string, string>> = { "0.0.0.0/0": "169.254.0.0/16", "::/0": "fd00:ec2::/32" };

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

/** The one container of the pods. */
export interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly readOnlyRootFilesystem: boolean;
    readonly capabilities: { readonly drop: readonly string[] };
  };
}

/** Of any manifest, the fields that are looked at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
  readonly spec: {
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly ports?: readonly { readonly name: string; readonly targetPort: string; readonly appProtocol?: string }[];
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
    readonly endpoints?: readonly {
      readonly port: string;
      readonly path: string;
      readonly relabelings?: readonly { readonly sourceLabels: readonly string[]; readonly targetLabel: string }[];
    }[];
    readonly policyTypes?: readonly string[];
    readonly egress?: readonly {
      readonly ports?: readonly { readonly protocol: string; readonly port: number }[];
      readonly to?: readonly Peer[];
    }[];
    readonly ingress?: readonly {
      readonly ports: readonly { readonly port: string }[];
      readonly from?: readonly unknown[];
    }[];
    readonly rules?: readonly {
      readonly host: string;
      readonly http: {
        readonly paths: readonly {
          readonly backend: { readonly service: { readonly name: string; readonly port: { readonly name: string } } };
        }[];
      };
    }[];
    readonly tls?: readonly { readonly hosts: readonly string[] }[];
    readonly template?: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: {
          readonly runAsNonRoot: boolean;
          readonly runAsUser: number;
          readonly runAsGroup: number;
        };
        readonly topologySpreadConstraints: readonly { readonly labelSelector: { readonly matchLabels: Labels } }[];
        readonly initContainers: readonly (Pick<Container, "envFrom" | "securityContext"> & {
          readonly image: string;
          readonly command: readonly string[];
        })[];
        readonly containers: readonly Container[];
        readonly volumes?: readonly unknown[];
      };
    };
  };
}

/** What kustomize gets. */
export interface Kustomization {
  readonly namespace: string;
  readonly resources: readonly string[];
  readonly images?: readonly { readonly name: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly literals: readonly string[] }[];
  readonly secretGenerator?: readonly { readonly name: string; readonly envs: readonly string[] }[];
}

export const folders = ["deploy/kubernetes/base", "deploy/kubernetes/example"] as const;

/** The files with manifests in a folder, the kustomization left out. */
export function manifestFiles(folder: string): string[] {
  return readdirSync(join(root, folder)).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml");
}

function readDocuments(path: string): unknown[] {
  return parseAllDocuments(readFileSync(join(root, path), "utf8")).map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS() as unknown;
  });
}

/** Every manifest of both folders, anew at each call. */
export function readManifests(): Manifest[] {
  return folders.flatMap((folder) =>
    manifestFiles(folder).flatMap((name) => readDocuments(`${folder}/${name}`)),
  ) as Manifest[];
}

/**
 * What does not fit together: a selector that selects nothing, a port that nobody opens, a missing target.
 */
export function problemsOf(manifests: readonly Manifest[]): string[] {
  const named = (kind: string, name: string | undefined): Manifest | undefined =>
    manifests.find((one) => one.kind === kind && one.metadata.name === name);
  const deployment = manifests.find(({ kind }) => kind === "Deployment");
  const pod = deployment?.spec.template;
  const [container] = pod?.spec.containers ?? [];
  if (deployment === undefined || pod === undefined || container === undefined) return ["there is no Deployment"];
  const ports = new Set(container.ports.map(({ name }) => name));
  const problems: string[] = [];
  const need = (holds: boolean, problem: string): void => void (holds || problems.push(problem));

  need(
    selects(deployment.spec.selector?.matchLabels, pod.metadata.labels),
    "the Deployment does not select its own pods",
  );
  need(
    named("ServiceAccount", pod.spec.serviceAccountName) !== undefined,
    `no ServiceAccount is called ${pod.spec.serviceAccountName}`,
  );
  for (const { labelSelector } of pod.spec.topologySpreadConstraints)
    need(selects(labelSelector.matchLabels, pod.metadata.labels), "a spread constraint counts no pods");
  for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"] as const)
    need(container[probe].httpGet.port === "internal", `${probe} does not ask the internal port`);
  for (const { kind, metadata, spec } of manifests) {
    const who = `${kind} ${metadata.name}`;
    if (kind === "Service") need(selects(spec.selector, pod.metadata.labels), `${who} selects no pods`);
    if (kind === "PodDisruptionBudget")
      need(selects(spec.selector?.matchLabels, pod.metadata.labels), `${who} selects no pods`);
    if (kind === "NetworkPolicy")
      need(selects(spec.podSelector?.matchLabels, pod.metadata.labels), `${who} selects no pods`);
    if (kind === "ServiceMonitor") {
      const service = manifests.find(
        (one) => one.kind === "Service" && selects(spec.selector?.matchLabels, one.metadata.labels ?? {}),
      );
      for (const { port } of spec.endpoints ?? [])
        need(
          service?.spec.ports?.some(({ name }) => name === port) === true,
          `${who} finds no Service with a port ${port}`,
        );
    }
    if (kind === "ServiceMonitor") {
      const hasJob = (spec.endpoints ?? []).every(({ relabelings = [] }) =>
        relabelings.some(
          ({ sourceLabels, targetLabel }) =>
            targetLabel === "job" && sourceLabels.join() === "__meta_kubernetes_namespace",
        ),
      );
      need(hasJob, `${who} gives the instances no job of their own`);
    }
    if (kind === "HorizontalPodAutoscaler")
      need(
        named(spec.scaleTargetRef?.kind ?? "", spec.scaleTargetRef?.name) !== undefined,
        `${who} scales a missing target`,
      );
    for (const { targetPort } of kind === "Service" ? (spec.ports ?? []) : [])
      need(ports.has(targetPort), `${who} leads to a port ${targetPort} that no container opens`);
    for (const { port } of kind === "NetworkPolicy" ? (spec.ingress ?? []).flatMap((rule) => rule.ports) : [])
      need(ports.has(port), `${who} names a port ${port} that no container opens`);
    if (kind === "NetworkPolicy")
      need(
        (spec.ingress ?? []).every(
          (rule) => rule.ports.every(({ port }) => port !== "internal") || (rule.from ?? []).length > 0,
        ),
        `${who} opens the internal port to all`,
      );
    if (kind === "NetworkPolicy") for (const problem of egressProblems(spec)) need(false, `${who} ${problem}`);
    for (const { host, http } of kind === "Ingress" ? (spec.rules ?? []) : []) {
      need(spec.tls?.some(({ hosts }) => hosts.includes(host)) === true, `${who} serves ${host} without TLS`);
      for (const { backend } of http.paths) {
        const target = named("Service", backend.service.name)?.spec.ports?.find(
          ({ name }) => name === backend.service.port.name,
        );
        need(target !== undefined, `${who} routes to a missing Service ${backend.service.name}`);
        need(target?.targetPort !== "internal", `${who} lets the outside reach the internal port`);
      }
    }
  }
  return problems;
}

/** Egress that the service needs and the policy closes, or that the policy opens for nothing. */
function egressProblems({ policyTypes, egress = [] }: Manifest["spec"]): string[] {
  if (policyTypes?.includes("Egress") !== true) return ["lets the pods connect to everything"];
  const open = egress.flatMap(({ ports = [] }) => ports.map(({ protocol, port }) => `${protocol} ${port}`));
  const loose = egress.filter(({ ports = [], to = [] }) => ports.length === 0 || to.length === 0);
  const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock])));
  return [
    ...destinations
      .filter(([, port]) => !open.includes(port))
      .map(([name, port]) => `closes the way to ${name} (${port})`),
    ...open
      .filter((port) => !destinations.some(([, known]) => known === port))
      .map((port) => `opens ${port} for nothing`),
    ...loose.map(() => "has a rule for every port or every address"),
    ...blocks
      .filter(({ cidr, except = [] }) => !except.includes(credentials[cidr] ?? ""))
      .map(({ cidr }) => `lets the pods ask for the node's credentials (${cidr})`),
  ];
}

function selects(selector: Labels | undefined, labels: Labels): boolean {
  const wanted = Object.entries(selector ?? {});
  return wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value);
}
