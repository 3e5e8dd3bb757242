// The Compose file as the tests read it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "./settings.ts";

/** Of a service, the fields that are looked at. */
export interface ComposeService {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly aliases: readonly string[] }>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly deploy?: { readonly replicas: number };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
}

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, null>>;
}

export const composePath = "deploy/compose/compose.yaml";

export function readCompose(): Compose {
  return parse(readFileSync(join(root, composePath), "utf8"), { merge: true }) as Compose;
}

/** The variables that the file takes from .env; true for those without which it does not start. */
export function variablesOf(compose: Compose): Map<string, boolean> {
  return new Map(
    [...JSON.stringify(compose).matchAll(/\$\{(\w+)(:[?-])?[^}]*\}/g)].map(([, name = "", operator]) => [
      name,
      operator !== ":-",
    ]),
  );
}
