// What the operator's switches affect on another instance, on every wire, and what they do not.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Holder } from "../mcp/tools/set-up.ts";
import { holderOf, request } from "../mcp/tools/set-up.ts";
import { useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { until } from "../../src/embedded/wait.ts";
import { newUser } from "../support/user.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import { importAll } from "../support/streams.ts";
import { openWires } from "../fixtures/clients/wires.ts";

const fixture = useSignInFixture();
let second: TestService;
let holder: Holder;
const wireNames = ["rest", "connect", "grpc", "grpc-web"];

beforeAll(async () => {
  second = await fixture().service.another();
  holder = await holderOf(fixture());
});
afterAll(async () => second.stop());
beforeEach(async () => {
  await set("SetPublicInterface", true);
  await set("SetWrites", true);
});

/** Sets a switch on the first instance, and waits until the second follows: it has a second for that. */
async function set(rpc: "SetPublicInterface" | "SetWrites", enabled: boolean): Promise<void> {
  expect(
    (await fixture().service.internalCall(`records.admin.v1.InterfaceService/${rpc}`, { enabled, reason: "test" }))
      .status,
  ).toBe(200);
  const call = rpc === "SetWrites" ? { key: holder.key, body: { full_name: "Probe" } } : { key: holder.key };
  const path = rpc === "SetWrites" ? "/v1/contacts" : "/v1/sessions";
  await until(async () => ((await second.rest(path, call)).status !== 503) === enabled, AbortSignal.timeout(1_000));
}

/** The outcome of a call on each wire of the second instance. */
async function outcomes(
  rpc: "ListSessions" | "CreateContact" | "CheckHealth",
): Promise<[string, string | undefined, unknown][]> {
  const { wires, close } = openWires(second);
  try {
    return await Promise.all(
      wires.map(async (wire): Promise<[string, string | undefined, unknown]> => {
        const { http, code, reason, body } = await wire.call({
          rpc,
          key: holder.key,
          request: rpc === "CreateContact" ? { full_name: "Ann" } : {},
        });
        return [
          wire.name,
          code ?? String(http),
          reason ?? (body as { data?: { status?: string } } | undefined)?.data?.status,
        ];
      }),
    );
  } finally {
    close();
  }
}

const rejected = (reason: string) => wireNames.map((name) => [name, name === "rest" ? "503" : "unavailable", reason]);
const served = (status: string, said?: string) =>
  wireNames.map((name) => [name, name === "rest" ? status : "ok", said]);
const mcp = async () =>
  (
    await request({ url: `${second.base}/mcp`, token: holder.token }, "2025-06-18", "tools/call", {
      name: "list_sessions",
      arguments: {},
    })
  ).status;
const inside = (rpc: string, message: object) =>
  second.internalCall(`records.v1.${rpc}`, message, { "records-account-id": holder.accountId });
const administered = async () =>
  (
    await second.internalCall("records.admin.v1.AccountService/SetBetaEnrolment", {
      account_id: holder.accountId,
      enrolled: true,
    })
  ).status;

/** What a signed-in user can do, and the documents, on the second instance. */
async function standing(): Promise<number[]> {
  const user = await newUser(second);
  const paths = [
    ["/v1/api-key", "POST"],
    ["/v1/api-key", "GET"],
    ["/v1/api-key/rotate", "POST"],
    ["/v1/api-key", "DELETE"],
    ["/v1/audit-log", "GET"],
    ["/", "GET"],
    ["/openapi.json", "GET"],
    ["/openapi.yaml", "GET"],
  ] as const;
  const statuses: number[] = [];
  for (const [path, method] of paths) statuses.push((await user.call(path, { method }, second)).status);
  return statuses;
}
const stays = [201, 200, 201, 200, 200, 200, 200, 200];

test("serves every wire and MCP while both switches are on [ADM-06, ERR-14, ERR-16]", async () => {
  expect([
    await outcomes("ListSessions"),
    await outcomes("CreateContact"),
    await outcomes("CheckHealth"),
    await mcp(),
  ]).toEqual([served("200"), served("201"), served("200", "ok"), 200]);
});

test("the interface that one instance disables is unavailable on another on every wire and to assistants, and health reports disabled [ADM-06, ERR-14, HLT-03, HLT-05]", async () => {
  await set("SetPublicInterface", false);
  expect(await outcomes("ListSessions")).toEqual(rejected("INTERFACE_DISABLED"));
  expect(await outcomes("CreateContact")).toEqual(rejected("INTERFACE_DISABLED"));
  expect(await outcomes("CheckHealth")).toEqual(served("200", "disabled"));
  expect(await mcp()).toBe(503);
});

test("while the interface is disabled the internal listener, key operations, the dashboard and the documents of another instance continue [ADM-06, ERR-11, ERR-15]", async () => {
  await set("SetPublicInterface", false);
  expect([
    (await inside("SessionService/ListSessions", {})).status,
    (await inside("ContactService/CreateContact", { full_name: "Bo" })).status,
    await administered(),
  ]).toEqual([200, 200, 200]);
  expect(await ingestInto(second, holder.accountId).contact({ full_name: "Bo" })).toMatch(/^[0-9a-f-]{36}$/);
  expect(
    (await importAll(second, { accountId: holder.accountId, records: [{ contact: { full_name: "Bo" } }] })).at(-1)
      ?.done,
  ).toBe(true);
  expect(await standing()).toEqual(stays);
});

test("the writes that one instance pauses are unavailable on another on every wire, internally and in ingest; reads, health and assistants continue [ADM-06, ERR-16, ERR-17]", async () => {
  await set("SetWrites", false);
  expect(await outcomes("CreateContact")).toEqual(rejected("WRITES_PAUSED"));
  expect([await outcomes("ListSessions"), await outcomes("CheckHealth"), await mcp()]).toEqual([
    served("200"),
    served("200", "ok"),
    200,
  ]);
  const contacts = second.app.client.db().collection("contacts");
  const before = await contacts.countDocuments();
  const ingest = (rpc: string, message: object) =>
    second.internalCall(`records.ingest.v1.IngestService/${rpc}`, { account_id: holder.accountId, ...message });
  const responses = [
    await inside("ContactService/CreateContact", { full_name: "Bo" }),
    await ingest("UpsertContacts", { contacts: [{ full_name: "Bo" }] }),
    await ingest("DeleteRecords", {}),
  ];
  expect(responses.map(({ status, body }) => [status, body.code])).toEqual(responses.map(() => [503, "unavailable"]));
  await expect(
    importAll(second, { accountId: holder.accountId, records: [{ contact: { full_name: "Bo" } }] }),
  ).rejects.toThrow(/unavailable/);
  expect((await inside("SessionService/ListSessions", {})).status).toBe(200);
  expect(await contacts.countDocuments()).toBe(before);
});

test("while writes are paused the operator's calls, key operations, the dashboard and the documents of another instance continue [ADM-06, ERR-17]", async () => {
  await set("SetWrites", false);
  expect(await administered()).toBe(200);
  expect(await standing()).toEqual(stays);
});
