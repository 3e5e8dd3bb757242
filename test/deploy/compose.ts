// The Compose file as the tests see it, and what must hold between its services.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "./settings.ts";

/** Of a service, the fields that are looked at. */
export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly aliases: readonly string[] }>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
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

/** What does not fit together. */
export function problemsOf({ services, networks, volumes }: Compose): string[] {
  const problems: string[] = [];
  const need = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  for (const [
    name,
    { depends_on = {}, networks: joined = [], volumes: mounted = [], ports = [], image, build },
  ] of Object.entries(services)) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const target = services[other];
      need(target !== undefined, `${name} waits for ${other}, which does not exist`);
      // The image of the service brings its own check.
      need(
        condition !== "service_healthy" || target?.healthcheck !== undefined || target?.build !== undefined,
        `${name} waits for the health of ${other}, which is never checked`,
      );
    }
    for (const network of networkNames(joined))
      need(network in networks, `${name} joins ${network}, which does not exist`);
    for (const [source = ""] of mounted.map((volume) => volume.split(":")))
      need(/^\.\.?\//.test(source) || source in volumes, `${name} mounts ${source}, which does not exist`);
    for (const port of ports) need(port.startsWith("127.0.0.1:"), `${name} opens ${port} to the network`);
    need(build !== undefined || /:v?\d+\.\d+/.test(image ?? ""), `${name} has an image without a version`);
    for (const host of hostsOf(services[name]?.environment ?? {})) {
      const meant = Object.entries(services).find(
        ([other, one]) => other === host || aliasesOf(one).includes(host),
      )?.[1];
      need(meant !== undefined, `${name} names ${host}, which is not a service`);
      const shared = networkNames(meant?.networks ?? []).some((network) => networkNames(joined).includes(network));
      need(meant === undefined || shared, `${name} shares no network with ${host}`);
    }
  }
  return problems;
}

/** The hosts of all addresses in an environment; localhost is the one for browsers. */
function hostsOf(environment: Readonly<Record<string, string>>): string[] {
  const addresses = Object.values(environment).filter((value) => /^\w+:\/\//.test(value));
  const hosts = addresses.flatMap((value) =>
    (/^\w+:\/\/([^/?]+)/.exec(value)?.[1] ?? "").split(",").map((host) => host.replace(/:\d+$/, "")),
  );
  return hosts.filter((host) => host !== "localhost");
}

function aliasesOf({ networks = [] }: ComposeService): string[] {
  return Array.isArray(networks)
    ? []
    : Object.values(networks as Record<string, { aliases?: string[] } | null>).flatMap(
        (network) => network?.aliases ?? [],
      );
}

function networkNames(networks: NonNullable<ComposeService["networks"]>): string[] {
  return Array.isArray(networks) ? (networks as string[]) : Object.keys(networks);
}
