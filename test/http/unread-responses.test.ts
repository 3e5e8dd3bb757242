// The bytes of unread responses are bounded for each account, and in total, on every wire.
import type { ClientHttp2Session, OutgoingHttpHeaders } from "node:http2";
import { connect } from "node:http2";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterEach, beforeAll, expect, test } from "vitest";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { countSent, maxBytes, maxBytesPerAccount, requireBytes, requireBytesLeft } from "../../src/large/sending.ts";
import { createTally } from "../../src/call/tally.ts";

const service = useService();
let reader: TestAccount;
/** Contacts with 700 kB each. */
const large: string[] = [];

beforeAll(async () => {
  reader = await service().account();
  const put = ingestInto(service(), reader.id);
  const note = { created_at: "2026-03-01T10:00:00Z", content: "Zoë\n".repeat(2_800), source: "app" };
  for (let number = 0; number < 3; number++) {
    const contact_id = await put.contact({ full_name: `Zoë Large ${number}` });
    large.push(contact_id);
    await put.contactNotes(...Array.from({ length: 50 }, () => ({ ...note, contact_id })));
  }
});

const ends: (() => void)[] = [];
const caller = (account: string) => {
  const onEnd = (release: () => void): boolean => ends.push(release) > 0;
  return { ...createTally(), account, onEnd };
};
const startSend = (account: string, bytes: number): void => requireBytes({}, caller(account), bytes);
const million = 1_000_000;
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

test("bounds the bytes that are sent to one account at a time, and not those of others [OPS-70]", () => {
  for (let sent = 0; sent + million <= maxBytesPerAccount; sent += million) startSend("greedy", million);
  expect(() => startSend("greedy", million)).toThrow(/large responses/);
  expect(() => startSend("greedy", 60_000)).not.toThrow();
  expect(() => startSend("modest", million)).not.toThrow();
  ends.shift()?.();
  expect(() => startSend("greedy", million)).not.toThrow();
});

test("bounds the bytes that are sent to all accounts at a time [OPS-70]", () => {
  let sent = 0;
  for (let number = 0; sent + million <= maxBytes; number++, sent += million) startSend(`account ${number}`, million);
  expect(() => startSend("another", million)).toThrow(/large responses/);
  ends.shift()?.();
  expect(() => startSend("another", million)).not.toThrow();
});

test("sends a response larger than the bound alone [OPS-70]", () => {
  expect(() => startSend("large", maxBytesPerAccount + 1)).not.toThrow();
  expect(() => startSend("large", million)).toThrow(/large responses/);
});

test("a huge response is bounded by its slot instead, and internal calls are not bounded", () => {
  const huge = { ...caller("huge"), hugeSlot: "measured" as const };
  for (let number = 0; number < 3; number++) requireBytes({}, huge, maxBytesPerAccount);
  for (let number = 0; number < 3; number++) requireBytes({}, createTally(), maxBytesPerAccount);
  expect(ends).toEqual([]);
});

test("a request that has already ended counts nothing", () => {
  const gone = { ...createTally(), account: "gone", onEnd: () => false };
  for (let number = 0; number < 3; number++) expect(() => requireBytes({}, gone, maxBytesPerAccount)).toThrow();
  for (let number = 0; number < 3; number++) countSent({}, gone, maxBytesPerAccount);
  expect(() => startSend("gone", maxBytesPerAccount)).not.toThrow();
});

test("the unread rest of a response that was written without a bound counts as well, and blocks further ones of its account", () => {
  countSent({}, caller("assistant"), maxBytesPerAccount - 1);
  expect(() => requireBytesLeft(caller("assistant"))).not.toThrow();
  expect(() => startSend("assistant", million)).toThrow(/large responses/);
  countSent({}, caller("assistant"), million);
  expect(() => requireBytesLeft(caller("assistant"))).toThrow(/large responses/);
  expect(() => requireBytesLeft(caller("another"))).not.toThrow();
});

/** About 2 MB. */
const query = "large";
const message = JSON.stringify({ query });
const head = Buffer.alloc(5);
head.writeUInt32BE(message.length, 1);
const post = (type: string, body: string | Buffer) => ({
  headers: { ":method": "POST", ":path": "/records.v1.ContactService/SearchContacts", "content-type": type },
  body,
});
const wires = [
  ["REST", { headers: { ":path": `/v1/contacts?query=${query}` }, body: undefined }],
  ["Connect", post("application/json", message)],
  ["gRPC", post("application/grpc+json", Buffer.concat([head, Buffer.from(message)]))],
  ["gRPC-Web", post("application/grpc-web+json", Buffer.concat([head, Buffer.from(message)]))],
] as const;

function send(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string | Buffer): Promise<number> {
  const stream = session.request(
    { ...headers, authorization: `Bearer ${reader.key}` },
    { endStream: body === undefined },
  );
  stream.on("error", () => undefined);
  if (body !== undefined) stream.end(body);
  return new Promise((resolve) => stream.once("response", (received) => resolve(Number(received[":status"]))));
}
const read = (): Promise<unknown> =>
  createClient(ContactService, createConnectTransport({ baseUrl: service().base, httpVersion: "1.1" })).searchContacts(
    { query },
    { headers: { Authorization: `Bearer ${reader.key}` } },
  );

test("HEAD over HTTP/2 counts nothing, whatever it requests, and its responses close [ERR-08, OPS-70]", async () => {
  const session = connect(service().base);
  session.on("error", () => undefined);
  for (let sent = 0; sent < 2 * maxBytesPerAccount; sent += 2 * million) {
    expect(await send(session, { ":method": "HEAD", ":path": `/v1/contacts?query=${query}` })).toBe(200);
  }
  await expect(read()).resolves.toMatchObject({ contacts: expect.any(Array) });
  session.destroy();
});

test("reports a write that was done, and starts none if the account cannot be sent more [OPS-70, CON-05]", async () => {
  const session = connect(service().base, { settings: { initialWindowSize: 0 } });
  session.on("error", () => undefined);
  const path = `/v1/contacts/${large[0]}`;
  const headers = { ":method": "PATCH", ":path": path, "content-type": "application/json" };
  const statuses: number[] = [];
  for (let number = 0; number < 40; number++)
    statuses.push(await send(session, headers, JSON.stringify({ phone: `${number}` })));
  const done = statuses.indexOf(503);
  expect(statuses).toEqual([...Array<number>(done).fill(200), ...Array<number>(40 - done).fill(503)]);
  expect(done).toBeGreaterThan(10);
  session.destroy();
  const { body } = await service().rest(path, { key: reader.key });
  expect(body.data.phone).toBe(`${done - 1}`);
});

test.each(wires)(
  "%s: over the bound the account gets 503 on every wire until its clients read or disconnect [WIR-01, WIR-08, OPS-70]",
  async (_wire, { headers, body }) => {
    const session = connect(service().base, { settings: { initialWindowSize: 0 } });
    session.on("error", () => undefined);
    const statuses: number[] = [];
    for (let sent = 0; sent < maxBytesPerAccount; sent += 2 * million)
      statuses.push(await send(session, headers, body));
    expect(statuses.slice(0, 4)).toEqual(Array(4).fill(200));
    for (const [, next] of wires.slice(0, 2)) expect(await send(session, next.headers, next.body)).toBe(503);
    const rejected = await read().catch((error: unknown) => error);
    expect(rejected).toMatchObject({ code: Code.Unavailable });
    expect((await service().rest("/v1/contacts?query=nobody", { key: reader.key })).status).toBe(200);
    expect(service().logLines.some((line) => line.includes('"cause":"large responses"'))).toBe(true);
    session.destroy();
    await expect
      .poll(() =>
        read().then(
          () => "read",
          () => "rejected",
        ),
      )
      .toBe("read");
  },
);
