// Which variables the service reads, and how deployment files' settings are put to it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";
import { readConfig } from "../../src/config/config.ts";

export const root = join(import.meta.dirname, "../..");

/** The variables that src/config/config.ts reads. */
const readNames: ReadonlySet<string> = new Set(
  [
    ...readFileSync(join(root, "src/config/config.ts"), "utf8").matchAll(/\b(?:env|required)\("([A-Z][A-Z0-9_]*)"/g),
  ].map(([, name]) => name ?? ""),
);

/** Without these an instance would start parts of its own, or not at all. */
const realNames = [
  "BASE_URL",
  "MONGODB_URI",
  "REDIS_URL",
  "OIDC_ISSUER",
  "OIDC_CLIENT_ID",
  "OIDC_CLIENT_SECRET",
  "MCP_AUDIENCE",
  "SESSION_SECRET",
  "SERVICE_TOKENS",
  "TRUST_PROXY",
];

/** The names that are read by nothing, and those that are missing. */
export function problemsOfNames(names: readonly string[]): string[] {
  return [
    ...names.filter((name) => !readNames.has(name)).map((name) => `${name} is read by nothing`),
    ...realNames.filter((name) => !names.includes(name)).map((name) => `${name} is not set`),
  ];
}

/**
 * The configuration that these settings make, each empty one filled in as an operator would. Throws what the start
 * would say.
 */
export function configOf(settings: Readonly<Record<string, string>>): Config {
  const given: Record<string, string> = {
    MONGODB_URI: "mongodb://db1,db2/records?replicaSet=rs0",
    REDIS_URL: "redis://cache:6379",
  };
  const filled = Object.entries(settings).map(([name, value]) => [
    name,
    value === "" ? (given[name] ?? "b0c6d4e8f2a17395d1e3f5a7b9c8d6e4") : value,
  ]);
  return readConfig(Object.fromEntries(filled) as Record<string, string>);
}

/** `NAME=value` lines; comments and empty lines are left out. */
export function readEnvironmentFile(path: string): Record<string, string> {
  const lines = readFileSync(join(root, path), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}
