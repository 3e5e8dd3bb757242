// The internal listener: who may call it, on whose behalf, and the operator's switches.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { expect, onTestFinished, test, vi } from "vitest";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { counts, useService } from "../support/client.ts";
import { newOwner } from "../support/every.ts";
import { randomId, startService } from "../fixtures/service/service.ts";

const service = useService();

const operatorRpcs = [
  "records.ingest.v1.IngestService/UpsertContacts",
  "records.ingest.v1.IngestService/UpsertSessions",
  "records.ingest.v1.IngestService/PutTranscripts",
  "records.ingest.v1.IngestService/UpsertSessionNotes",
  "records.ingest.v1.IngestService/UpsertContactNotes",
  "records.ingest.v1.IngestService/ArchiveContacts",
  "records.ingest.v1.IngestService/RestoreContacts",
  "records.ingest.v1.IngestService/DeleteRecords",
  "records.admin.v1.AccountService/CreateAccount",
  "records.admin.v1.AccountService/GetAccount",
  "records.admin.v1.AccountService/ListAccounts",
  "records.admin.v1.AccountService/SetBetaEnrolment",
  "records.admin.v1.InterfaceService/GetState",
  "records.admin.v1.InterfaceService/SetPublicInterface",
  "records.admin.v1.InterfaceService/SetWrites",
];
/** Each with a message that is right. */
const accountCalls: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "records.v1.ContactService/SearchContacts": { query: "ab" },
  "records.v1.ContactService/CreateContact": { full_name: "Bo" },
  "records.v1.ContactService/GetContact": { contact_id: randomId() },
  "records.v1.ContactService/UpdateContact": { contact_id: randomId(), full_name: "Bo" },
  "records.v1.ContactService/AppendContactNote": { contact_id: randomId(), content: "c" },
  "records.v1.SessionService/ListSessions": {},
  "records.v1.SessionService/GetSession": { session_id: randomId() },
  "records.v1.SessionService/GetSessionTranscript": { session_id: randomId() },
  "records.v1.NoteService/SearchNotes": { query: "ab" },
};

test("every internal rpc without the service token, with a wrong token or with an API key is unauthenticated [ADM-01]", async () => {
  const owner = await newOwner(service());
  const before = await counts(service());
  const state = (await service().internalCall("records.admin.v1.InterfaceService/GetState", {})).text;
  for (const rpc of [...operatorRpcs, ...Object.keys(accountCalls)]) {
    for (const Authorization of [
      "",
      `Bearer ${owner.key}`,
      `Bearer ${service().serviceToken}x`,
      `Bearer ${service().serviceToken.slice(1)}`,
      `Basic ${service().serviceToken}`,
    ]) {
      const response = await service().internalCall(rpc, {}, { Authorization, "records-account-id": owner.id });
      expect([response.status, response.body.code], `${rpc} ${Authorization}`).toEqual([401, "unauthenticated"]);
    }
    const passed = await service().internalCall(
      rpc,
      { contact_id: "x", session_id: "x", account_id: "x", enabled: true },
      { "records-account-id": owner.id },
    );
    expect(passed.body.code, rpc).not.toBe("unauthenticated");
    expect(passed.body.code, rpc).not.toBe("unimplemented");
  }
  expect(await counts(service())).toEqual(before);
  expect(state).toContain("enabled");
});

test("a records.v1 call without records-account-id is invalid_argument, and with an unknown account not_found [ADM-01]", async () => {
  for (const [rpc, message] of Object.entries(accountCalls)) {
    for (const [headers, code] of [
      [{}, "invalid_argument"],
      [{ "records-account-id": "x" }, "invalid_argument"],
      [{ "records-account-id": "" }, "invalid_argument"],
      [{ "records-account-id": randomId() }, "not_found"],
    ] as const) {
      const response = await service().internalCall(rpc, message, headers);
      expect(response.body.code, `${rpc} ${JSON.stringify(headers)}`).toBe(code);
    }
  }
});

test("an internal call writes into the account that it names, however many keys the account has, and is not throttled [ADM-01, ISO-08]", async () => {
  const owner = await newOwner(service(), "read_only");
  const created = await service().internalCall(
    "records.v1.ContactService/CreateContact",
    { full_name: "Inside" },
    { "records-account-id": owner.id },
  );
  expect(created.status).toBe(200);
  expect((await owner.get(`/v1/contacts/${created.body.contact.id}`)).body.data.full_name).toBe("Inside");
});

test("gRPC health and reflection need no token [ADM-02]", async () => {
  const sessionManager = new Http2SessionManager(service().internal);
  onTestFinished(() => sessionManager.abort());
  const transport = createGrpcTransport({ baseUrl: service().internal, sessionManager });
  for (const name of ["", "records.v1.ContactService", "records.ingest.v1.IngestService"])
    expect((await createClient(Health, transport).check({ service: name })).status, name).toBe(1);
  await expect(createClient(Health, transport).check({ service: "records.v1.Nothing" })).rejects.toThrow(/not_found/);
  async function* listServices() {
    yield await Promise.resolve({ messageRequest: { case: "listServices", value: "" } } as const);
  }
  for await (const { messageResponse } of createClient(ServerReflection, transport).serverReflectionInfo(
    listServices(),
  )) {
    const names =
      messageResponse.case === "listServicesResponse" ? messageResponse.value.service.map(({ name }) => name) : [];
    expect(names).toEqual(
      expect.arrayContaining([
        "records.admin.v1.AccountService",
        "records.admin.v1.InterfaceService",
        "records.ingest.v1.IngestService",
        "records.v1.ContactService",
        "records.v1.SessionService",
        "records.v1.NoteService",
        "records.v1.HealthService",
      ]),
    );
  }
});

test("GetState reports both switches; SetPublicInterface and SetWrites take enabled and reason [ADM-05]", async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  const call = async (rpc: string, message: unknown) =>
    (await own.internalCall(`records.admin.v1.InterfaceService/${rpc}`, message)).body.state;
  expect(await call("GetState", {})).toMatchObject({ publicInterface: { enabled: true }, writes: { enabled: true } });
  const off = await call("SetPublicInterface", { enabled: false, reason: "incident 7" });
  expect(off.publicInterface).toMatchObject({ reason: "incident 7", changedAt: expect.stringMatching(/^\d{4}-/) });
  expect(off.publicInterface.enabled).toBeUndefined();
  expect(off.writes).toEqual({ enabled: true });
  const paused = await call("SetWrites", { enabled: false, reason: "migration" });
  expect(paused.writes).toMatchObject({ reason: "migration" });
  expect(await call("GetState", {})).toEqual(paused);
  await call("SetPublicInterface", { enabled: true, reason: "over" });
  const on = await call("SetWrites", { enabled: true, reason: "done" });
  expect(on).toMatchObject({
    publicInterface: { enabled: true, reason: "over" },
    writes: { enabled: true, reason: "done" },
  });
  const rejected = await own.internalCall("records.admin.v1.InterfaceService/SetWrites", {
    enabled: false,
    reason: "r".repeat(501),
  });
  expect(rejected.body.code).toBe("invalid_argument");
});

test("a switch that one instance sets or resets takes effect on the other [ADM-06]", async () => {
  const one = await startService();
  onTestFinished(() => one.stop());
  const other = await one.another();
  onTestFinished(() => other.stop());
  const owner = await newOwner(one);
  const read = async () => (await other.rest("/v1/sessions", { key: owner.key })).status;
  const write = async () =>
    (await other.rest(`/v1/contacts/${owner.contact}`, { method: "PATCH", key: owner.key, body: { phone: "1" } }))
      .status;
  for (const [rpc, probe] of [
    ["SetPublicInterface", read],
    ["SetWrites", write],
  ] as const) {
    const set = (enabled: boolean) =>
      one.internalCall(`records.admin.v1.InterfaceService/${rpc}`, { enabled, reason: "test" });
    expect(await probe(), rpc).toBe(200);
    await set(false);
    await vi.waitFor(async () => expect(await probe(), rpc).toBe(503), { timeout: 5_000, interval: 20 });
    await set(true);
    await vi.waitFor(async () => expect(await probe(), rpc).toBe(200), { timeout: 5_000, interval: 20 });
  }
});
