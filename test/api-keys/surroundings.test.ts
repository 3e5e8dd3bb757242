// What surrounds the operations on the API key: switches, throttle, wires, documents, the audit log.
import { afterAll, describe, expect, test } from "vitest";
import { UUID } from "mongodb";
import type { DescMessage, DescService } from "@bufbuild/protobuf";
import { ApiKeyService, IssuedApiKeySchema } from "../../src/gen/records/v1/api_keys_pb.ts";
import { AccountService } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import { InterfaceService } from "../../src/gen/records/admin/v1/interface_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { AuditService } from "../../src/gen/records/v1/audit_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { NoteService } from "../../src/gen/records/v1/notes_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { useService } from "../support/client.ts";
import { newUser, openSession } from "../support/user.ts";
import { startService } from "../fixtures/service/service.ts";

const service = useService();

describe("while the operator has switched something off", () => {
  const set = (which: "SetPublicInterface" | "SetWrites", enabled: boolean) =>
    service().internalCall(`records.admin.v1.InterfaceService/${which}`, { enabled, reason: "test" });
  afterAll(async () => {
    await set("SetPublicInterface", true);
    await set("SetWrites", true);
  });

  test.each(["SetPublicInterface", "SetWrites"] as const)(
    "the key operations, the dashboard, the documents and health stay available (%s) [ERR-15, ERR-17]",
    async (which) => {
      const user = await newUser(service());
      await set(which, false);
      const statuses = [
        await user.call("/v1/api-key", { method: "POST" }),
        await user.call("/v1/api-key"),
        await user.call("/v1/api-key/rotate", { method: "POST" }),
        await user.call("/v1/audit-log"),
        await user.call("/v1/api-key", { method: "DELETE" }),
        await user.call("/"),
        await user.call("/openapi.json"),
        await user.call("/openapi.yaml"),
        await user.call("/v1/health"),
      ].map(({ status }) => status);
      expect(statuses).toEqual([201, 200, 201, 200, 200, 200, 200, 200, 200]);
      await set(which, true);
    },
  );

  test("reads of records continue while writes are paused [ERR-17]", async () => {
    const { key } = await service().account();
    await set("SetWrites", false);
    expect((await service().rest("/v1/contacts?query=ann", { key })).status).toBe(200);
    expect((await service().rest("/v1/contacts", { key, body: { full_name: "Bo" } })).status).toBe(503);
    await set("SetWrites", true);
  });
});

test("a key operation takes from the bucket of the account, whatever its session, and not from that of the address [RTE-10]", async () => {
  const throttled = await startService({ RATE_LIMIT: "1", RATE_BURST: "3" });
  try {
    const [one, other] = [await newUser(throttled), await newUser(throttled)];
    const second = await openSession(throttled, one.subject, one.email);
    const statuses = [];
    for (const who of [one, second, one, one, second]) statuses.push((await who.call("/v1/api-key")).status);
    expect(statuses.slice(0, 3)).toEqual([404, 404, 404]);
    expect(statuses.slice(3)).toContain(429);
    expect((await other.call("/v1/api-key")).status).toBe(404);
    expect((await throttled.rest("/v1/health")).status).toBe(200);
    // Without a session the address's bucket counts.
    const strangers = [];
    for (let request = 0; request < 5; request++) strangers.push((await throttled.rest("/v1/api-key")).status);
    expect(strangers).toContain(429);
  } finally {
    await throttled.stop();
  }
});

test("the key operations are not offered over Connect or gRPC, on either listener [KEY-17]", async () => {
  const user = await newUser(service());
  const { key } = await service().account();
  for (const { typeName, methods } of [ApiKeyService, AuditService]) {
    for (const { name } of methods) {
      for (const type of [
        "application/json",
        "application/grpc",
        "application/grpc-web+proto",
        "application/connect+json",
      ]) {
        const headers = { "Content-Type": type };
        const open = await user.call(`/${typeName}/${name}`, {
          method: "POST",
          raw: "{}",
          headers: { ...headers, Authorization: `Bearer ${key}` },
        });
        // A client of gRPC or of Connect's streams gets the status of an unknown rpc.
        if (type.startsWith("application/grpc"))
          expect([name, type, open.status, open.headers.get("grpc-status"), open.text]).toEqual([
            name,
            type,
            200,
            "12",
            "",
          ]);
        else if (type === "application/json")
          expect([name, type, open.status, open.body.error.code]).toEqual([name, type, 404, "404"]);
        else
          expect([name, type, open.status, open.text]).toEqual([
            name,
            type,
            200,
            expect.stringContaining("unimplemented"),
          ]);
      }
      expect((await service().internalCall(`${typeName}/${name}`, {})).status).toBe(404);
    }
  }
  expect((await user.call("/v1/api-key")).status).toBe(404);
});

test("no other rpc of either listener shows a key [KEY-18]", () => {
  const services: DescService[] = [
    ApiKeyService,
    AuditService,
    ContactService,
    SessionService,
    NoteService,
    HealthService,
    AccountService,
    InterfaceService,
    IngestService,
  ];
  const returnsSecret = (message: DescMessage, seen = new Set<DescMessage>()): boolean => {
    if (message.typeName === IssuedApiKeySchema.typeName) return true;
    if (seen.has(message)) return false;
    seen.add(message);
    return message.fields.some((field) => field.message !== undefined && returnsSecret(field.message, seen));
  };
  expect(
    services
      .flatMap(({ methods }) => methods)
      .filter(({ output }) => returnsSecret(output))
      .map(({ name }) => name),
  ).toEqual(["CreateApiKey", "RotateApiKey"]);
});

test("the internal rpcs create no key: a new account has none [KEY-18]", async () => {
  const created = await service().internalCall("records.admin.v1.AccountService/CreateAccount", {
    email: "keyless@example.com",
    betaEnrolled: true,
  });
  expect(created.status).toBe(200);
  const account = UUID.createFromHexString(created.body.account.id as string);
  expect(await service().app.client.db().collection("api_keys").countDocuments({ account_id: account })).toBe(0);
  expect(created.text).not.toContain("rec_");
});

test("the OpenAPI document has the operations, with the cookie as their security scheme [OAS-05]", async () => {
  const { body } = await service().rest("/openapi.json");
  expect(body.components.securitySchemes.dashboardSession).toMatchObject({
    type: "apiKey",
    in: "cookie",
    name: "records_session",
  });
  const operations = [
    ["/v1/api-key", "get", ["200", "401", "403", "404", "422", "429", "default"]],
    ["/v1/api-key", "post", ["201", "401", "403", "409", "422", "429", "default"]],
    ["/v1/api-key", "delete", ["200", "401", "403", "404", "422", "429", "default"]],
    ["/v1/api-key/rotate", "post", ["201", "401", "403", "404", "422", "429", "default"]],
    ["/v1/audit-log", "get", ["200", "401", "403", "422", "429", "default"]],
  ] as const;
  for (const [path, method, statuses] of operations) {
    const operation = body.paths[path][method];
    expect(operation.security).toEqual([{ dashboardSession: [] }]);
    expect(Object.keys(operation.responses)).toEqual(statuses);
  }
  expect(body.paths["/v1/api-key"].post.requestBody.required).toBe(false);
  const https = await service().another({ BASE_URL: "https://records.example.com" });
  try {
    expect((await https.rest("/openapi.json")).body.components.securitySchemes.dashboardSession.name).toBe(
      "__Host-records_session",
    );
  } finally {
    await https.stop();
  }
});
