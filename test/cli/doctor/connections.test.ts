// What the doctor finds out about the ways to MongoDB, Redis and the public address: rights, options, clocks,
// certificates, audiences.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { checkCertificates } from "../../../src/cli/doctor/certificates.ts";
import type { Finding } from "../../../src/cli/doctor/check.ts";
import { runDoctor } from "../../../src/cli/doctor/doctor.ts";
import { createDoctorContext } from "../../../src/cli/doctor/doctor-context.ts";
import { dataFolder, endProgram, startProgram } from "../../program.ts";
import { asAdministrator } from "../../fixtures/databases/database.ts";
import { expiresAt, startTlsServer } from "../../support/tls-server.ts";
import type { Installation } from "./set-up.ts";
import { faultsAmong, faultsOf, findingOf, useInstallation } from "./set-up.ts";

vi.setConfig({ testTimeout: 60_000 });

const dayMs = 86_400_000;
const installation = useInstallation();
let service: Installation["service"];
let environment: Installation["environment"];
beforeAll(() => void ({ service, environment } = installation()));

describe("MongoDB", () => {
  /** The URI of a user with these privileges and no others. */
  async function userWith(name: string, privileges: readonly object[]): Promise<string> {
    const uri = new URL(service.mongodbUri);
    const database = uri.pathname.slice(1);
    await asAdministrator(service.administratorUri, async (db) => {
      await db.command({ createRole: name, privileges, roles: [] });
      await db.command({
        createUser: name,
        pwd: "password-of-the-test",
        roles: [{ role: name, db: database }],
        mechanisms: ["SCRAM-SHA-256"],
      });
    });
    onTestFinished(() =>
      asAdministrator(
        service.administratorUri,
        async (db) => void (await Promise.all([db.command({ dropUser: name }), db.command({ dropRole: name })])),
      ),
    );
    [uri.username, uri.password] = [name, "password-of-the-test"];
    return uri.href;
  }

  test("names the actions and collections for which the user lacks rights; readWrite has all of them [OPS-54]", async () => {
    expect(findingOf(await runDoctor(environment), "mongodb.rights")).toMatchObject({
      status: "ok",
      message: "The user service has every right that the service needs.",
    });
    const db = new URL(service.mongodbUri).pathname.slice(1);
    const actions = ["find", "insert", "update", "remove", "listIndexes", "dbStats", "dropIndex"];
    const uri = await userWith("reader", [
      { resource: { db, collection: "" }, actions },
      { resource: { db, collection: "notes" }, actions: ["createIndex"] },
    ]);
    const limited = findingOf(await runDoctor({ ...environment, MONGODB_URI: uri }), "mongodb.rights");
    expect([limited.status, limited.message]).toEqual([
      "fault",
      expect.stringMatching(
        /^The user reader lacks rights: createIndex on (?=.*\bcontacts\b)(?=.*\bswitches\b)[a-z_, ]+\.$/,
      ),
    ]);
    expect(limited.message).not.toMatch(/notes/);
    expect(limited.fix).toContain(`db.grantRolesToUser("reader", [{ role: "readWrite", db: "${db}" }])`);
    const none = await userWith("stranger", []);
    const nothing = findingOf(await runDoctor({ ...environment, MONGODB_URI: none }), "mongodb.rights");
    expect(nothing.message).toBe(
      `The user stranger lacks rights: find, insert, update, remove, createIndex, dropIndex, listIndexes on every collection of ${db}.`,
    );
  });

  test("accepts readPreference=secondary in the URI, as the service does [OPS-59]", async () => {
    expect(await faultsOf({ ...environment, MONGODB_URI: `${service.mongodbUri}&readPreference=secondary` })).toEqual(
      [],
    );
  });
});

describe("Redis", () => {
  test("reports that the database number in REDIS_URL does not exist [OPS-59]", async () => {
    const there = await runDoctor({ ...environment, REDIS_URL: `${service.redis.uri}/1` });
    expect(findingOf(there, "redis.reachable").status).toBe("ok");
    expect(await faultsOf({ ...environment, REDIS_URL: `${service.redis.uri}/99` })).toEqual([
      expect.stringMatching(/^redis\.reachable: redis:\/\/127\.0\.0\.1:\d+\/99 names a database that does not exist/),
    ]);
  });

  test("warns about an embedded Redis together with a configured MongoDB, and so does the log of the start [OPS-56]", async () => {
    const { REDIS_URL: _own, ...without } = environment;
    expect(findingOf(await runDoctor(without), "configuration.REDIS_URL").status).toBe("warning");
    const folder = dataFolder();
    const program = await startProgram({ ...without, PORT: "0", INTERNAL_PORT: "0", DATA_DIR: folder.path });
    onTestFinished(async () => {
      await endProgram(program);
      folder.remove();
    });
    expect(program.stdout).toMatch(
      /"level":40[^\n]*"msg":"REDIS_URL is not set: this instance starts a Redis of its own/,
    );
  });
});

test.each(["MONGODB_URI", "REDIS_URL"])(
  "a %s_FILE that cannot be read is a fault, and the setting does not count as embedded [OPS-59]",
  async (name) => {
    const { [name]: _value, ...rest } = environment;
    const findings = await runDoctor({ ...rest, [`${name}_FILE`]: "/nowhere/secret" });
    expect(faultsAmong(findings)).toEqual([
      `configuration.${name}_FILE: ${name}_FILE /nowhere/secret cannot be read (ENOENT).`,
    ]);
    expect(findingOf(findings, name === "MONGODB_URI" ? "mongodb.reachable" : "redis.reachable")).toMatchObject({
      status: "note",
      message: `Not checked, because ${name} is invalid.`,
    });
  },
);

/** Something else that responds over HTTP at an address of its own. */
async function startOther(status: number, headers: Record<string, string>, body: string): Promise<string> {
  const server = createServer((_request, response) => void response.writeHead(status, headers).end(body)).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("reports an instance whose clock is 90 minutes behind, next to the correct clocks of MongoDB and Redis [OPS-55]", async () => {
  const late = await startOther(200, { Date: new Date(Date.now() - 90 * 60_000).toUTCString() }, "{}");
  const findings = await runDoctor(environment, { url: late });
  const found = findingOf(findings, "clock.instance");
  expect([found.status, found.message]).toEqual([
    "fault",
    expect.stringMatching(
      /^The clock of the instance at http:\/\/127\.0\.0\.1:\d+ is 1 h (30|29) min behind this machine's clock\.$/,
    ),
  ]);
  expect(findingOf(await runDoctor(environment), "clock.instance").status).toBe("ok");
  // The doctor also reports a server without HTTP/2, and continues.
  expect(findingOf(findings, "service.grpc")).toMatchObject({
    status: "fault",
    message: expect.stringContaining("gRPC cannot reach"),
  });
});

test.each<[string, string, RegExp]>([
  [
    "whose host name is unknown",
    "https://records.invalid",
    /the host name cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)|no response arrived in time/,
  ],
  ["where nothing listens", "http://127.0.0.1:2", /nothing listens there \(ECONNREFUSED\)/],
])("reports a BASE_URL %s, although the instance runs [OPS-60]", async (_name, url, reason) => {
  const findings = await runDoctor({ ...environment, BASE_URL: url, MCP_URL: `${service.app.baseUrl}/mcp` });
  expect(findingOf(findings, "service.public")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(reason),
    fix: expect.stringContaining("DNS entry"),
  });
  expect(findingOf(findings, "service.live").status).toBe("ok");
});

test("reports a BASE_URL without a trusted certificate, and one where another server responds [OPS-60]", async () => {
  const tls = await startTlsServer();
  onTestFinished(() => tls.stop());
  const untrusted = await runDoctor({
    ...environment,
    BASE_URL: `https://${tls.host}`,
    MCP_URL: `${service.app.baseUrl}/mcp`,
  });
  expect(findingOf(untrusted, "service.public")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/its certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/),
  });
  const other = await startOther(200, { "Content-Type": "text/html" }, "<h1>It works!</h1>");
  expect(await faultsOf({ ...environment, BASE_URL: other, MCP_URL: `${service.app.baseUrl}/mcp` })).toEqual([
    expect.stringMatching(
      /^service\.public: .* returns 200 with text\/html instead of the health: another program responds there\.$/,
    ),
  ]);
});

describe("certificates", () => {
  test("reports those of BASE_URL, the provider, MongoDB and Redis: an expired one is a fault, and less than 14 days a warning [OPS-58]", async () => {
    const servers = await Promise.all([1, 2, 3, 4].map(() => startTlsServer()));
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    const [base = "", issuer = "", mongodb = "", redis = ""] = servers.map(({ host }) => host);
    const settings = {
      ...environment,
      BASE_URL: `https://${base}`,
      OIDC_ISSUER: `https://${issuer}`,
      MONGODB_URI: `mongodb://${mongodb}/?tls=true`,
      REDIS_URL: `rediss://${redis}`,
    };
    const at = async (now: number): Promise<Finding[]> =>
      checkCertificates(await createDoctorContext(settings, { now: () => now }));
    const statuses = async (now: number): Promise<string[]> =>
      (await at(now)).map(({ check, status }) => `${check} ${status}`).sort();
    const named = (status: string): string[] =>
      ["BASE_URL", "MONGODB_URI", "OIDC_ISSUER", "REDIS_URL"].map((name) => `certificates.${name} ${status}`);
    expect(await statuses(expiresAt - 15 * dayMs)).toEqual(named("ok"));
    expect(await statuses(expiresAt - 13.5 * dayMs)).toEqual(named("warning"));
    expect(await statuses(expiresAt + 1)).toEqual(named("fault"));
    const [expired] = await at(expiresAt + 1);
    expect(expired).toMatchObject({
      message: expect.stringMatching(
        /^The certificate of localhost:\d+ \(BASE_URL\) expired on 2126-\d\d-\d\d: clients reject it\.$/,
      ),
      fix: expect.stringMatching(/^Renew it/),
    });
  });

  test("reports none for dependencies that are reached without TLS [OPS-58]", async () => {
    expect(await checkCertificates(await createDoctorContext(environment, {}))).toEqual([]);
  });
});

test.each<[string, string, string]>([
  ["is the MCP URL", "URL", "note"],
  ["is the MCP URL among others", "records,URL", "note"],
  ["is that URL with a slash", "URL/", "warning"],
  ["is the address of the service without its path", "BASE", "warning"],
  ["has two values in one", "records other", "fault"],
  ["is a word of the provider", "records", "note"],
])("checks an MCP_AUDIENCE that %s by what assistants request [OPS-57]", async (_name, value, status) => {
  const MCP_AUDIENCE = value.replace("URL", `${service.app.baseUrl}/mcp`).replace("BASE", service.app.baseUrl);
  expect(findingOf(await runDoctor({ ...environment, MCP_AUDIENCE }), "mcp.audience").status).toBe(status);
});
