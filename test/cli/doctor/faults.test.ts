// The doctor reports what keeps a service from working, each fault next to a healthy control.
import { Redis } from "ioredis";
import { UUID } from "mongodb";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runDoctor } from "../../../src/cli/doctor/doctor.ts";
import { asAdministrator } from "../../fixtures/databases/database.ts";
import { startOwnMongod } from "../../fixtures/databases/own-mongod.ts";
import { authenticationOf, away, clientSecret, json, toForm } from "../../fixtures/sign-in/fake-provider.ts";
import { offerIntrospection } from "../../fixtures/sign-in/assistants.ts";
import type { Installation } from "./set-up.ts";
import { faultsAmong, faultsOf, findingOf, useInstallation } from "./set-up.ts";
import { startProxy } from "../../fixtures/network/proxy.ts";
import { startOwnRedis } from "../../fixtures/databases/own-redis.ts";

const hour = 3_600_000;
const installation = useInstallation();
let fake: Installation["fake"];
let service: Installation["service"];
let environment: Installation["environment"];
beforeAll(() => {
  ({ fake, service, environment } = installation());
});

test("reports no fault if all is well, after it has checked every dependency [OPS-04]", async () => {
  const findings = await runDoctor(environment);
  expect(faultsAmong(findings)).toEqual([]);
  const fine = [
    "configuration.settings",
    "mongodb.reachable",
    "mongodb.transactions",
    "mongodb.primary",
    "mongodb.indexes",
    "redis.reachable",
    "redis.writable",
    "clock.mongodb",
    "clock.redis",
    "clock.provider",
    "provider.issuer",
    "provider.endpoints",
    "provider.pkce",
    "provider.keys",
    "provider.client",
    "provider.redirect",
    "service.live",
    "service.ready",
    "service.grpc",
    "service.token",
    "service.public",
    "service.rate_limit_headers",
    "mcp.challenge",
    "mcp.resource",
    "mcp.resource_with_path",
    "mcp.copies",
    "mcp.authorization_server",
    "mcp.pkce",
  ];
  expect(fine.map((name) => [name, findingOf(findings, name).status])).toEqual(fine.map((name) => [name, "ok"]));
  for (const { status, fix } of findings) if (status === "fault" || status === "warning") expect(fix).toMatch(/\S/);
});

describe("MongoDB", () => {
  test("reports a MongoDB that is down, and still checks everything else [OPS-04]", async () => {
    const own = await startOwnMongod();
    const healthy = await runDoctor({ ...environment, MONGODB_URI: own.uri });
    expect(findingOf(healthy, "mongodb.reachable").status).toBe("ok");
    await own.stop();
    const findings = await runDoctor({ ...environment, MONGODB_URI: own.uri });
    expect(faultsAmong(findings)).toEqual([
      expect.stringMatching(
        /^mongodb\.reachable: MongoDB cannot be reached at mongodb:\/\/127\.0\.0\.1:\d+\/records: 127\.0\.0\.1:\d+: nothing listens there \(ECONNREFUSED\)\.$/,
      ),
    ]);
    expect(
      ["redis.reachable", "provider.client", "service.live"].map((name) => findingOf(findings, name).status),
    ).toEqual(["ok", "ok", "ok"]);
  });

  test("reports a missing, a wrong and a hidden index, with the fix [OPS-04]", async () => {
    const db = service.app.client.db();
    await db.collection("contacts").dropIndex("email");
    await db.collection("api_keys").dropIndex("account");
    await db.collection("api_keys").createIndex({ created_at: 1, account_id: 1 }, { name: "account" });
    const hide = (hidden: boolean): Promise<unknown> =>
      asAdministrator(service.administratorUri, (all) =>
        all.command({ collMod: "audit_log", index: { name: "list", hidden } }),
      );
    await hide(true);
    const { status, message, fix } = findingOf(await runDoctor(environment), "mongodb.indexes");
    expect([status, message]).toEqual([
      "fault",
      'Missing: contacts.email. Wrong definition: api_keys.account (required: {"account_id":1,"created_at":1}). Hidden: audit_log.list.',
    ]);
    expect(fix).toBe(
      'In mongosh: db.api_keys.dropIndex("account"); db.audit_log.unhideIndex("list"). Run records migrate: it builds the missing indexes while the service runs.',
    );
    // The suggested fix works.
    await db.collection("api_keys").dropIndex("account");
    await hide(false);
    await (await service.another()).stop();
    expect(findingOf(await runDoctor(environment), "mongodb.indexes").status).toBe("ok");
  });

  test("a search index that a large import has removed is no fault, and no restart is suggested [OPS-04]", async () => {
    const db = service.app.client.db();
    // A running import prevents the index from being built.
    const alive = { account_id: new UUID(), changed_at: new Date() };
    await db.collection("imports").insertOne(alive);
    await db.collection("notes").dropIndex("search");
    const { status, message, fix } = findingOf(await runDoctor(environment), "mongodb.indexes");
    expect([status, message]).toEqual([
      "warning",
      expect.stringMatching(/^notes\.search is missing\. A large import removes it/),
    ]);
    expect(fix).not.toMatch(/restart/i);
    await db.collection("imports").deleteOne(alive);
    await (await service.another()).stop();
    expect(findingOf(await runDoctor(environment), "mongodb.indexes").status).toBe("ok");
  });

  test("reports a wrong name of the replica set [OPS-04]", async () => {
    const findings = await runDoctor({
      ...environment,
      MONGODB_URI: environment["MONGODB_URI"]?.replace(/replicaSet=\w+/, "replicaSet=other") ?? "",
    });
    expect(findingOf(findings, "mongodb.reachable")).toMatchObject({
      status: "fault",
      fix: expect.stringContaining("replicaSet"),
    });
  });
});

describe("Redis", () => {
  test("reports a Redis that is down, and a read-only replica [OPS-04]", async () => {
    const redis = await startOwnRedis();
    try {
      const client = new Redis(redis.uri);
      expect(await faultsOf({ ...environment, REDIS_URL: redis.uri })).toEqual([]);
      await client.replicaof("127.0.0.1", "9");
      expect(await faultsOf({ ...environment, REDIS_URL: redis.uri })).toEqual([
        expect.stringMatching(/^redis\.writable: This Redis is a read-only replica/),
      ]);
      client.disconnect();
      await redis.stop();
      expect(await faultsOf({ ...environment, REDIS_URL: redis.uri })).toEqual([
        expect.stringMatching(
          /^redis\.reachable: Redis cannot be reached at redis:\/\/127\.0\.0\.1:\d+: nothing listens there \(ECONNREFUSED\)\.$/,
        ),
      ]);
    } finally {
      await redis.stop();
    }
  });

  test("reports a Redis that takes more than 50 ms to respond [OPS-04]", async () => {
    const url = new URL(environment["REDIS_URL"] ?? "");
    const slow = await startProxy(url.host);
    onTestFinished(() => slow.close());
    await slow.set({ delayMs: 40 });
    expect(await faultsOf({ ...environment, REDIS_URL: url.href.replace(url.host, slow.host) })).toEqual([
      expect.stringMatching(
        /^redis\.latency: Median round trip: (\d+\.\d) ms\. 19 of 20 took at most \d+\.\d ms\. After 50 ms, Redis counts as unavailable/,
      ),
    ]);
  });
});

describe("the identity provider", () => {
  test("reports another issuer than OIDC_ISSUER, with the fix [OPS-04]", async () => {
    fake.metadata["issuer"] = "https://other.example";
    const findings = await runDoctor(environment);
    expect(findingOf(findings, "provider.issuer")).toMatchObject({
      status: "fault",
      message: `Its issuer is "https://other.example", but OIDC_ISSUER is ${fake.issuer}: the service rejects sign-ins from another issuer.`,
      fix: "If this is the right provider, set OIDC_ISSUER=https://other.example.",
    });
    expect(findingOf(findings, "mcp.authorization_server").status).toBe("fault");
  });

  test("reports a missing S256, in the provider's metadata and in those that an assistant reads [OPS-04]", async () => {
    for (const methods of [undefined, ["plain"]]) {
      if (methods === undefined) delete fake.metadata["code_challenge_methods_supported"];
      else fake.metadata["code_challenge_methods_supported"] = methods;
      expect(await faultsOf(environment)).toEqual([
        expect.stringMatching(/^provider\.pkce: .*S256/),
        expect.stringMatching(/^mcp\.pkce: .*S256/),
      ]);
    }
  });

  test("reports that the provider rejects the secret, without the secret [OPS-04]", async () => {
    const findings = await runDoctor({ ...environment, OIDC_CLIENT_SECRET: "another-secret-than-the-providers" });
    expect(faultsAmong(findings)).toEqual([
      "provider.client: It rejects OIDC_CLIENT_SECRET, or does not know the client records (invalid_client). The service tried client_secret_basic and client_secret_post.",
    ]);
    for (const secret of ["another-secret-than-the-providers", clientSecret, service.serviceToken])
      expect(JSON.stringify(findings)).not.toContain(secret);
  });

  test("reports a client that may not use the authorization code flow [OPS-04]", async () => {
    for (const error of ["unauthorized_client", "unsupported_grant_type"]) {
      fake.responses.set("/token", json({ error }, 400));
      expect(await faultsOf(environment)).toEqual([
        `provider.client: The client records may not use the authorization code flow (${error}).`,
      ]);
    }
  });

  test("names the method by which the provider accepts the secret, whatever its metadata lists [OPS-04]", async () => {
    for (const [offered, accepted] of [
      [undefined, "client_secret_basic"],
      [["client_secret_post"], "client_secret_basic"],
      [["client_secret_basic"], "client_secret_post"],
    ] as const) {
      fake.metadata["token_endpoint_auth_methods_supported"] = offered;
      fake.responses.set(
        "/token",
        toForm((request, form) =>
          authenticationOf(request, form) === accepted
            ? json({ error: "invalid_grant" }, 400)
            : json({ error: "invalid_client" }, 401),
        ),
      );
      expect(findingOf(await runDoctor(environment), "provider.client")).toMatchObject({
        status: "ok",
        message: `It knows the client records and accepts the secret (${accepted}).`,
      });
    }
  });

  test("reports a provider that offers introspection but rejects the service's requests [OPS-04]", async () => {
    offerIntrospection(fake, () => ({ active: false }));
    expect(findingOf(await runDoctor(environment), "provider.introspection")).toEqual({
      check: "provider.introspection",
      status: "ok",
      message: "A token that is revoked at the provider is rejected within 5 seconds (introspection).",
      fix: null,
    });
    for (const [handler, status, words] of [
      [
        json({ error: "invalid_client" }, 401),
        "fault",
        /\(status 401, invalid_client\): a token that it revokes is accepted/,
      ],
      [json({}, 403), "fault", /\(status 403\): a token that it revokes is accepted/],
      [json({ active: true }), "fault", /calls an invalid token active\.$/],
      [json({ error: "invalid_request" }, 400), "warning", /of an invalid token \(status 400, invalid_request\)/],
      [json({ error: "x" }, 500), "warning", /^Introspection failed: /],
      [away, "warning", /^Introspection failed: /],
    ] as const) {
      fake.responses.set("/introspect", handler);
      const findings = await runDoctor(environment);
      expect(findingOf(findings, "provider.introspection")).toMatchObject({
        status,
        message: expect.stringMatching(words),
        fix: expect.stringMatching(/\S/),
      });
      expect(faultsAmong(findings)).toHaveLength(status === "fault" ? 1 : 0);
    }
  });

  test("reports that the provider rejects our redirect URI, on a page or in the redirect [OPS-04]", async () => {
    fake.responses.set("/auth", json({ error: "invalid_redirect_uri" }, 400));
    expect(await faultsOf(environment)).toEqual([
      expect.stringMatching(/^provider\.redirect: The authorization endpoint returns 400 \(invalid_redirect_uri\)/),
    ]);
    fake.responses.set(
      "/auth",
      (_request, response) =>
        void response
          .writeHead(302, { Location: `${service.app.baseUrl}/sign-in/callback?error=unauthorized_client` })
          .end(),
    );
    expect(await faultsOf(environment)).toEqual([
      expect.stringMatching(/^provider\.redirect: The authorization endpoint rejects the request: unauthorized_client/),
    ]);
  });
});

describe("reports a clock that is off by an hour", () => {
  test("of this machine: all others differ from it [OPS-04]", async () => {
    const faults = await faultsOf(environment, { now: () => Date.now() - hour });
    expect(faults.map((fault) => fault.split(":")[0])).toContain("clock.mongodb");
    for (const fault of faults)
      expect(fault).toMatch(/^clock\.\w+: .* is (1 h|59 min 5\d s).* ahead of this machine's clock/);
  });

  test("of the provider [OPS-04]", async () => {
    fake.responses.set("/.well-known/openid-configuration", (request, response) => {
      response.setHeader("Date", new Date(Date.now() + hour).toUTCString());
      json(fake.metadata)(request, response);
    });
    const faults = await faultsOf(environment);
    expect(faults).toEqual([
      expect.stringMatching(/^clock\.provider: The identity provider's clock is (1 h|59 min 5\d s)( \d+ s)? ahead/),
    ]);
  });
});
