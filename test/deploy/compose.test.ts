// The Compose file is consistent, with the realm, the gateway, the replica set, and the settings of the service.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { readCompose, variablesOf } from "./compose.ts";
import { configOf, problemsOfNames, readEnvironmentFile, root } from "./settings.ts";

interface Realm {
  readonly realm: string;
  readonly clientScopes: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, string>>;
    readonly protocolMappers: readonly {
      readonly protocolMapper: string;
      readonly config: Readonly<Record<string, string>>;
    }[];
  }[];
  readonly defaultDefaultClientScopes: readonly string[];
  readonly defaultOptionalClientScopes: readonly string[];
  readonly components: Readonly<
    Record<string, readonly { readonly providerId: string; readonly config: Readonly<Record<string, string[]>> }[]>
  >;
  readonly clients: readonly {
    readonly clientId: string;
    readonly secret: string;
    readonly publicClient: boolean;
    readonly redirectUris: readonly string[];
    readonly defaultClientScopes: readonly string[];
    readonly attributes: Readonly<Record<string, string>>;
  }[];
  readonly users: readonly { readonly credentials: readonly { readonly value: string }[] }[];
}

const folder = join(root, "deploy/compose");
const compose = readCompose();
const { records, keycloak, gateway } = compose.services;
const settings = records?.environment ?? {};
const realmText = readFileSync(join(folder, "realm.json"), "utf8");
const realm = JSON.parse(realmText) as Realm;
const caddyfile = readFileSync(join(folder, "Caddyfile"), "utf8");

/** The values as Compose resolves them: one that is not in .env is empty or has its default. */
function interpolated(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}/g, "$1")]),
  );
}

test("every service that another one waits for, network and volume exists", () => {
  const { services, networks, volumes } = compose;
  for (const { depends_on = {}, networks: joined = [], volumes: mounted = [] } of Object.values(services)) {
    expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
    expect(Object.keys(networks)).toEqual(
      expect.arrayContaining(Array.isArray(joined) ? (joined as string[]) : Object.keys(joined)),
    );
    for (const [source = ""] of mounted.map((volume) => volume.split(":")))
      if (!/^\.\.?\//.test(source)) expect(Object.keys(volumes)).toContain(source);
  }
});

test("the ports are open to this machine alone, the databases have a network of their own, and every image has a version", () => {
  for (const { image, ports = [] } of Object.values(compose.services)) {
    expect(image).toMatch(/^records:dev$|:v?\d+\.\d+/);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
  expect(compose.networks["data"]).toEqual({ internal: true });
  for (const name of ["mongo1", "mongo2", "mongo3", "redis"])
    expect(compose.services[name]?.networks, name).toEqual(["data"]);
  expect(records?.networks).toEqual(["front", "data"]);
  expect(settings["REDIS_URL"]).toBe("redis://redis:6379");
});

test("two instances are given every setting that a production instance needs, and none that nothing reads", () => {
  expect(records?.deploy?.replicas).toBe(2);
  expect(problemsOfNames(Object.keys(settings))).toEqual([]);
});

test("no secret has a default: all come from .env, which .env.example lists, and nothing starts without it [OPS-13]", () => {
  const example = readEnvironmentFile("deploy/compose/.env.example");
  const required = [...variablesOf(compose)].filter(([, needed]) => needed).map(([name]) => name);
  expect(required.sort()).toEqual(Object.keys(example).sort());
  expect(new Set(Object.values(example))).toEqual(new Set([""]));
  expect(() => readConfig(interpolated(settings))).toThrow(/^SERVICE_TOKENS: is required/);
  expect(configOf(interpolated(settings))).toMatchObject({
    trustProxy: 1,
    baseUrl: "http://localhost:8080",
    mcpAudiences: ["http://localhost:8080/mcp"],
    mcpScopes: ["email", "records"],
    logLevel: "info",
  });
  const given = new Set(Object.keys(keycloak?.environment ?? {}));
  for (const [, name = ""] of realmText.matchAll(/\$\{(\w+)\}/g)) expect(given, name).toContain(name);
  expect(realm.clients.map(({ secret }) => secret)).toEqual(["${RECORDS_CLIENT_SECRET}"]);
  expect(realm.users.flatMap(({ credentials }) => credentials.map(({ value }) => value))).toEqual([
    "${RECORDS_PERSON_PASSWORD}",
  ]);
});

test("the realm has the name of the issuer, and registers the service as the README describes", () => {
  const base = settings["BASE_URL"] ?? "";
  expect(settings["OIDC_ISSUER"]).toBe(`${keycloak?.environment?.["KC_HOSTNAME"]}/realms/${realm.realm}`);
  const [client] = realm.clients;
  expect(client).toMatchObject({
    clientId: settings["OIDC_CLIENT_ID"],
    publicClient: false,
    redirectUris: [`${base}/sign-in/callback`],
  });
  expect(client?.attributes).toEqual({
    "pkce.code.challenge.method": "S256",
    "post.logout.redirect.uris": `${base}/`,
    "backchannel.logout.url": "http://gateway:8080/sign-out/back-channel",
    "backchannel.logout.session.required": "true",
  });
});

test("a token with the scopes of MCP_SCOPES names its user and has the service as its audience", () => {
  const { defaultDefaultClientScopes: defaults, defaultOptionalClientScopes: optional } = realm;
  const known = realm.clientScopes.map(({ name }) => name);
  expect(known).toEqual(expect.arrayContaining([...defaults, ...optional]));
  expect(realm.clients[0]?.defaultClientScopes).toEqual(defaults);
  // Keycloak assigns `basic` to every client, and the others only if the client registers with them.
  const requested = ["basic", ...(settings["MCP_SCOPES"] ?? "").split(" ")];
  expect([...defaults, ...optional]).toEqual(expect.arrayContaining(requested));
  const mappers = realm.clientScopes
    .filter(({ name }) => requested.includes(name))
    .flatMap(({ protocolMappers }) => protocolMappers);
  const configOfMapper = (kind: string) => mappers.find(({ protocolMapper }) => protocolMapper === kind)?.config ?? {};
  expect(configOfMapper("oidc-sub-mapper")["access.token.claim"]).toBe("true");
  expect(configOfMapper("oidc-audience-mapper")["included.custom.audience"]).toBe(settings["MCP_AUDIENCE"]);
});

test("the realm imports: its users may not request offline_access, and no policy is one that Keycloak rejects", () => {
  const offline = realm.clientScopes.find(({ name }) => name === "offline_access");
  expect(offline?.attributes["include.in.openid.provider.metadata"]).toBe("false");
  expect(realm.defaultOptionalClientScopes).not.toContain("offline_access");
  const config = Object.values(realm.components)
    .flat()
    .find(({ providerId }) => providerId === "trusted-hosts")?.config;
  const checks = ["host-sending-registration-request-must-match", "client-uris-must-match"];
  if (config !== undefined) expect(checks.map((name) => config[name]?.[0])).toContain("true");
});

test("the gateway serves both ports that browsers use, forwards each to its service, and reaches the provider by its one public name", () => {
  expect(gateway?.ports).toEqual(["127.0.0.1:8080:8080", "127.0.0.1:8082:8082"]);
  const sites = [...caddyfile.matchAll(/^http:\/\/:(\d+) \{\n([\s\S]*?)^\}/gm)].map(([, port, body = ""]) => [
    port,
    [
      ...new Set(
        [...body.matchAll(/(?:dynamic a |reverse_proxy )([a-z]+)[ :](\d+)/g)].map(
          ([, host, target]) => `${host}:${target}`,
        ),
      ),
    ],
  ]);
  expect(sites).toEqual([
    ["8080", ["records:8080"]],
    ["8082", [`keycloak:${keycloak?.environment?.["KC_HTTP_PORT"]}`]],
  ]);
  const { hostname, port } = new URL(settings["OIDC_ISSUER"] ?? "");
  expect(port).toBe("8082");
  expect(gateway?.networks).toEqual({ front: { aliases: [hostname] } });
});

test("the replica set has the members that the service is given, under its name", () => {
  const script = readFileSync(join(folder, "replica-set.js"), "utf8");
  const members = [...script.matchAll(/"(mongo\d:\d+)"/g)].map(([, member]) => member);
  const [, hosts, name] = /^mongodb:\/\/([^/]+)\/records\?replicaSet=(\w+)$/.exec(settings["MONGODB_URI"] ?? "") ?? [];
  expect(hosts?.split(",")).toEqual(members);
  expect(script).toContain(`_id: "${name}"`);
  for (const member of members)
    expect(compose.services[member?.split(":")[0] ?? ""]?.command?.join(" ")).toContain(`--replSet ${name} `);
});

test("an instance has more time to end than it needs, and writes to no file system of its own [OPS-16]", () => {
  expect(records?.stop_grace_period).toBe("20s");
  expect(records?.read_only).toBe(true);
});
