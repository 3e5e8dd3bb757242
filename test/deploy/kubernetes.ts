// The Kubernetes manifests as the tests read them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "./settings.ts";

/** A manifest. Tests compare its spec with literals. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: unknown;
}

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

export function readManifests(): Manifest[] {
  return folders.flatMap((folder) =>
    manifestFiles(folder).flatMap((name) =>
      parseAllDocuments(readFileSync(join(root, folder, name), "utf8")).map((one) => one.toJS() as Manifest),
    ),
  );
}
