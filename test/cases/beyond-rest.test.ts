// Runs the cases of the rpcs that REST does not have, on every wire of rpc.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { isOfRest } from "../fixtures/clients/wires.ts";
import type { BeyondCase, Records } from "./beyond-rest.cases.ts";
import { beyondCases, beyondRpcs } from "./beyond-rest.cases.ts";

let service: TestService;
let owner: TestAccount;
let records: Records;

beforeAll(async () => {
  service = await startService();
  owner = await service.account();
  const [own, strangers] = await Promise.all([recordsOf(owner), service.account().then(recordsOf)]);
  records = { ...own, strangers };
});
afterAll(() => service.stop());

async function recordsOf({ id }: TestAccount): Promise<Pick<Records, "contact" | "session">> {
  const put = ingestInto(service, id);
  const contact = await put.contact({ full_name: "Ann Lee" });
  const session = await put.session({ contact_id: contact, title: "Budget", session_date: "2026-01-31T09:30:00Z" });
  await put.transcript({ session_id: session, transcript: "Hello." });
  return { contact, session };
}

describe.each([
  ["Connect", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC", (baseUrl: string) => createGrpcTransport({ baseUrl })],
  ["gRPC-Web", (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
] as const)("over %s [MCP-17, WIR-01]", (_wire, transport) => {
  test.each(beyondCases.map((one) => [one.rpc, one.title, one] as const))("%s: %s", async (_rpc, _title, one) => {
    const { code, response } = await call(transport(service.base), one);
    expect(code).toBe(one.code);
    if (one.code === "ok") expect(response).toMatchObject(one.response?.(records) ?? {});
  });
});

/** Calls the rpc that the case names, with its request. */
async function call(
  transport: Transport,
  { rpc, request, hasKey = true }: BeyondCase,
): Promise<{ code: BeyondCase["code"]; response?: Message }> {
  const method: DescMethodUnary = beyondRpcs[rpc];
  const headers = hasKey ? { Authorization: `Bearer ${owner.key}` } : {};
  try {
    const { message } = await transport.unary(method, undefined, undefined, headers, request(records));
    return { code: "ok", response: message };
  } catch (error) {
    return { code: ConnectError.from(error).code };
  }
}

test("each row names an rpc that REST does not have", () => {
  for (const [name, rpc] of Object.entries(beyondRpcs)) {
    expect([name, isOfRest(name as keyof typeof beyondRpcs)]).toEqual([rpc.name, false]);
    expect(beyondCases.some((one) => one.rpc === name)).toBe(true);
  }
});
