// One port, every protocol: HTTP/1.1 and cleartext HTTP/2, Connect in JSON and in binary, gRPC and gRPC-Web.
import { connect } from "node:http2";
import { createClient, ConnectError } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import {
  Http2SessionManager,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { NoteService } from "../../src/gen/records/v1/notes_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";

const service = useService();
let owner: Owner;
let sessionManager: Http2SessionManager;
beforeAll(async () => {
  owner = await newOwner(service());
  sessionManager = new Http2SessionManager(service().base);
});
afterAll(() => sessionManager.abort());

function transports(): readonly (readonly [name: string, transport: Transport])[] {
  const baseUrl = service().base;
  return [
    ["Connect, JSON, HTTP/1.1", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })],
    ["Connect, binary, HTTP/1.1", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true })],
    ["Connect, by GET", createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true })],
    [
      "Connect, JSON, h2c",
      createConnectTransport({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: false }),
    ],
    [
      "Connect, binary, h2c",
      createConnectTransport({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: true }),
    ],
    ["gRPC, h2c", createGrpcTransport({ baseUrl, sessionManager })],
    ["gRPC, JSON, h2c", createGrpcTransport({ baseUrl, sessionManager, useBinaryFormat: false })],
    ["gRPC-Web, HTTP/1.1", createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
    ["gRPC-Web, h2c", createGrpcWebTransport({ baseUrl, httpVersion: "2", sessionManager })],
  ];
}

test("every service of records.v1 responds over every protocol on the one public port [WIR-01, WIR-02, WIR-03, WIR-05]", async () => {
  const headers = { authorization: `Bearer ${owner.key}` };
  for (const [name, transport] of transports()) {
    const contacts = createClient(ContactService, transport);
    const sessions = createClient(SessionService, transport);
    expect((await createClient(HealthService, transport).checkHealth({})).health?.version, name).toBe("1.0.0");
    expect(
      (await contacts.searchContacts({ query: "ann" }, { headers })).contacts.map(({ id }) => id),
      name,
    ).toContain(owner.contact);
    expect((await contacts.getContact({ contactId: owner.contact }, { headers })).contact?.fullName, name).toBe(
      "Ann Lee",
    );
    const { contact } = await contacts.createContact({ fullName: "Bo" }, { headers });
    expect(
      (await contacts.updateContact({ contactId: contact?.id ?? "", phone: "1" }, { headers })).contact?.phone,
      name,
    ).toBe("1");
    expect(
      (await contacts.appendContactNote({ contactId: contact?.id ?? "", content: "c" }, { headers })).note?.source,
      name,
    ).toBe("api");
    expect(
      (await sessions.listSessions({}, { headers })).sessions.map(({ id }) => id),
      name,
    ).toEqual([owner.session]);
    expect((await sessions.getSession({ sessionId: owner.session }, { headers })).session?.title, name).toBe("Budget");
    expect(
      (await sessions.getSessionTranscript({ sessionId: owner.session }, { headers })).transcript?.sessionId,
      name,
    ).toBe(owner.session);
    expect(
      (await createClient(NoteService, transport).searchNotes({ query: "budget" }, { headers })).notes,
      name,
    ).toHaveLength(1);
  }
});

test("a call without a key fails over every protocol with the same message [WIR-05]", async () => {
  for (const [name, transport] of transports()) {
    const failure = await createClient(SessionService, transport)
      .listSessions({})
      .then(
        () => undefined,
        (error: unknown) => ConnectError.from(error),
      );
    expect(failure?.message, name).toBe(
      "[unauthenticated] The API key is missing. Send it as `Authorization: Bearer <API_KEY>`.",
    );
  }
});

test("REST responds over cleartext HTTP/2 as over HTTP/1.1 [WIR-01]", async () => {
  const client = connect(service().base);
  const stream = client.request({ ":path": `/v1/contacts/${owner.contact}`, authorization: `Bearer ${owner.key}` });
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    let received = { status: 0, text: "" };
    stream.on("response", (headers) => (received = { ...received, status: Number(headers[":status"]) }));
    stream.on("data", (chunk: Buffer) => (received = { ...received, text: received.text + chunk.toString() }));
    stream.on("end", () => resolve(received));
    stream.on("error", reject);
  });
  client.close();
  expect([status, text]).toEqual([200, (await owner.get(`/v1/contacts/${owner.contact}`)).text]);
});

test("Connect's JSON accepts the REST names of fields, and those of protobuf's JSON too [WIR-04]", async () => {
  const list = (body: unknown) => service().rest("/records.v1.SessionService/ListSessions", { key: owner.key, body });
  for (const body of [
    { contact_id: owner.contact, query: "bu", from: "2026-01-31", to: "2026-01-31", limit: 1, offset: 0 },
    { contactId: owner.contact, limit: 1 },
  ]) {
    const response = await list(body);
    expect([response.status, response.body.sessions.length]).toEqual([200, 1]);
  }
  expect((await list({ contact_id: "x" })).body.message).toMatch(/^contact_id: /);
});

test("rejects a lone surrogate in Connect's JSON, and writes nothing [VAL-12]", async () => {
  const { status, body } = await service().rest("/records.v1.ContactService/CreateContact", {
    key: owner.key,
    raw: '{"full_name":"lone \\ud83d"}',
  });
  expect([status, body.code]).toEqual([400, "invalid_argument"]);
  expect((await owner.get("/v1/contacts?query=lone")).body.data).toEqual([]);
});
