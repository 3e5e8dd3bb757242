// Runs the cases of the rpcs that REST does not have, on every wire of rpc.
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import type { TestAccount, TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import type { Records } from "./beyond-rest.cases.ts";
import { beyondCases } from "./beyond-rest.cases.ts";

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
] as const)("SearchTranscripts over %s [MCP-17, WIR-01]", (_wire, transport) => {
  test.each(beyondCases.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const client = createClient(SessionService, transport(service.base));
    const headers = new Headers(one.hasKey === false ? {} : { Authorization: `Bearer ${owner.key}` });
    const response = client.searchTranscripts(one.request(records), { headers });
    if (one.code !== "ok") {
      const error = await response.then(() => undefined, ConnectError.from);
      expect(error?.code).toBe(one.code);
      return;
    }
    const { passages, complete } = await response;
    expect([passages.map(({ text }) => text), complete]).toEqual([one.found, true]);
    for (const passage of passages)
      expect(passage).toMatchObject({ sessionId: records.session, sessionTitle: "Budget", offset: 0 });
  });
});
