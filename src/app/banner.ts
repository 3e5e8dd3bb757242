// The banner of a started instance: its addresses, and how to try the demo.
import { join } from "node:path";
import type { Embedded } from "../embedded/dependencies.ts";

/** The facts that the banner shows. */
export interface BannerFacts {
  readonly baseUrl: string;
  readonly mcpUrl: string;
  readonly internalUrl: string;
  readonly dataDir: string;
  readonly embedded: Pick<Embedded, "mongod" | "redis" | "oidc" | "demo">;
  /** The API key of the demo's first account. */
  readonly demoKey: string | undefined;
  readonly seconds: number;
  /**
   * Whether the output is a terminal. Only then does the banner contain passwords, which would otherwise stay in a log.
   */
  readonly onTerminal: boolean;
}

/** Returns the lines of the banner. */
export function bannerLines(started: BannerFacts): string[] {
  const { baseUrl, mcpUrl, internalUrl, embedded, seconds } = started;
  const { mongod, redis, oidc, demo } = embedded;
  return [
    "",
    `Records is up after ${seconds.toFixed(1)} s.`,
    fact("dashboard", oidc === undefined ? "sign-in is off: set OIDC_ISSUER" : baseUrl),
    fact("REST, Connect, gRPC", baseUrl),
    fact("guide", `${baseUrl}/guide`),
    fact("API reference", `${baseUrl}/docs`),
    fact("OpenAPI", `${baseUrl}/openapi.json`),
    ...(oidc === undefined ? [] : [fact("MCP, for assistants", mcpUrl)]),
    fact("internal", internalUrl),
    ...(mongod === undefined ? [] : [fact("MongoDB", `${mongod.shownUri} (${mongod.version})`)]),
    ...(redis === undefined ? [] : [fact("Redis", `${redis.shownUri} (${redis.version})`)]),
    ...(demo === undefined ? [] : [fact("identity provider", `${demo.provider.issuer} (for development)`)]),
    ...demoLines(started),
  ];
}

function demoLines({ baseUrl, dataDir, embedded: { demo }, demoKey, onTerminal }: BannerFacts): string[] {
  if (demo === undefined || demoKey === undefined) return [];
  const withKey = demo.users.find(({ access }) => access !== null);
  const withoutKey = demo.users.find(({ access, enrolled }) => access === null && enrolled);
  const shown = [withKey, withoutKey].filter((user) => user !== undefined);
  const width = Math.max(...shown.map(({ email }) => email.length));
  return [
    "",
    fact("demo API key", demoKey),
    fact("try", `curl -H 'Authorization: Bearer ${demoKey}' '${baseUrl}/v1/contacts?query=ann'`),
    fact("sign in", onTerminal ? `${baseUrl}/sign-in` : `the passwords are in ${join(dataDir, "demo.json")}`),
    ...shown.map(({ email, password, access }) =>
      fact(
        access === null ? "  to create a key" : "  as the demo",
        onTerminal ? `${email.padEnd(width)}  password ${password}` : email,
      ),
    ),
    "",
  ];
}

function fact(name: string, value: string): string {
  return `  ${name.padEnd(20)}  ${value}`;
}
