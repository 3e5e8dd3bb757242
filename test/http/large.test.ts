// Large responses: the same on every wire as small ones, made in pieces, and only so many at a time.
import { connect } from "node:net";
import type { Transport } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { jsonInPieces } from "../../src/large/json.ts";
import { maxHuge } from "../../src/large/slots.ts";
import { inForm, share } from "../support/form.ts";

const service = useService();
let owner: TestAccount;
let session: string;
/** With letters of one to four bytes, and with what JSON escapes. */
const long = 'Zoë says "王 🙂"\n'.repeat(650);
/** Just below 4 MB, the most that a transcript has. */
const transcript = long.repeat(290);
const contacts = 3;
/** Together more than 4 MB. */
const notesOfSession = 400;

beforeAll(async () => {
  owner = await service().account();
  const put = ingestInto(service(), owner.id);
  const at = { created_at: "2026-03-01T10:00:00Z", content: long };
  for (let number = 0; number < contacts; number++) {
    const contact_id = await put.contact({ full_name: `Zoë Large ${number}` });
    await put.contactNotes(...Array.from({ length: 50 }, () => ({ ...at, contact_id, source: "app" })));
  }
  session = await put.session({ title: "Large", session_date: "2026-03-01T09:00:00Z" });
  const note = { ...at, session_id: session, type: "SESSION_NOTE_TYPE_USER_MANUAL" };
  for (let from = 0; from < notesOfSession; from += 100)
    await put.sessionNotes(...Array.from({ length: 100 }, (_, position) => ({ ...note, position: from + position })));
  await put.transcript({ session_id: session, transcript });
});

type Make = (options: { baseUrl: string; httpVersion: "1.1" | "2"; useBinaryFormat: boolean }) => Transport;
const transports: readonly (readonly [string, Make, "1.1" | "2", boolean])[] = [
  ["Connect, JSON, HTTP/1.1", (options) => createConnectTransport(options), "1.1", false],
  ["Connect, binary, HTTP/1.1", (options) => createConnectTransport(options), "1.1", true],
  ["Connect, JSON, HTTP/2", (options) => createConnectTransport(options), "2", false],
  ["Connect by GET, binary", (options) => createConnectTransport({ ...options, useHttpGet: true }), "1.1", true],
  ["gRPC, binary", ({ httpVersion: _, ...options }) => createGrpcTransport(options), "2", true],
  ["gRPC, JSON", ({ httpVersion: _, ...options }) => createGrpcTransport(options), "2", false],
  ["gRPC-Web, binary", (options) => createGrpcWebTransport(options), "1.1", true],
  ["gRPC-Web, JSON", (options) => createGrpcWebTransport(options), "1.1", false],
];

describe.each(share(transports, 2, 1))("large responses over %s", (_wire, make, httpVersion, useBinaryFormat) => {
  const transport = (): Transport => make({ baseUrl: service().base, httpVersion, useBinaryFormat });
  const headers = (): { headers: Record<string, string> } => ({ headers: { Authorization: `Bearer ${owner.key}` } });

  test("return contacts with many long notes completely [WIR-01]", async () => {
    const found = await createClient(ContactService, transport()).searchContacts({ query: "large" }, headers());
    expect(found.contacts.map(({ notesTimeline }) => notesTimeline.length)).toEqual(Array(contacts).fill(50));
    expect(found.contacts.flatMap(({ notesTimeline }) => notesTimeline).every(({ content }) => content === long)).toBe(
      true,
    );
    // The other fields are there as well.
    const [newest] = found.contacts;
    expect(newest).toMatchObject({ fullName: `Zoë Large ${contacts - 1}`, recentSessions: [] });
    expect(Number(newest?.createdAt?.seconds)).toBeGreaterThan(1_700_000_000);
  });

  test("return a session with many long notes and a long transcript completely [WIR-01]", async () => {
    const client = createClient(SessionService, transport());
    const detail = (await client.getSession({ sessionId: session }, headers())).session;
    expect(detail?.notes.map(({ position }) => position)).toEqual(
      Array.from({ length: notesOfSession }, (_, at) => at),
    );
    expect(detail?.notes.every(({ content }) => content === long)).toBe(true);
    expect(detail?.title).toBe("Large");
    const spoken = (await client.getSessionTranscript({ sessionId: session }, headers())).transcript;
    expect(spoken?.sessionId).toBe(session);
    expect(spoken?.transcript === transcript).toBe(true);
  });
});

test.each(["identity", "gzip"])(
  "REST returns large responses completely too, with Content-Length: %s",
  async (coding) => {
    for (const path of ["/v1/contacts?query=large", `/v1/sessions/${session}`, `/v1/sessions/${session}/transcript`]) {
      const response = await fetch(service().base + path, {
        headers: { Authorization: `Bearer ${owner.key}`, "Accept-Encoding": coding },
      });
      const { data } = (await response.json()) as { data: any };
      expect(Number(response.headers.get("content-length"))).toBeGreaterThan(1_000);
      if (path.includes("transcript")) expect(data.transcript === transcript).toBe(true);
      else if (path.includes("sessions/")) expect(data.notes.every((note: any) => note.content === long)).toBe(true);
      else
        expect(data.map((one: any) => one.notes_timeline.every((note: any) => note.content === long))).toEqual(
          Array(contacts).fill(true),
        );
    }
  },
);

test("a response that is written in pieces equals that of JSON.stringify", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
      expect(Buffer.concat(await jsonInPieces(value)).toString()).toBe(JSON.stringify(value));
    }),
    { numRuns: inForm(100, 500) },
  );
  const large = { a: [{ text: '🙂"\\'.repeat(900_000), none: undefined }, "x".repeat(1_500_000)], b: [], c: {} };
  const pieces = await jsonInPieces(large);
  expect(Buffer.concat(pieces).toString() === JSON.stringify(large)).toBe(true);
  expect(pieces.length).toBeGreaterThan(3);
});

test("clients that disconnect before a huge response is built free its slot [RTE-21]", async () => {
  const path = `/v1/sessions/${session}`;
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${owner.key}\r\n\r\n`;
  const { hostname, port } = new URL(service().base);
  for (let number = 0; number < 3 * maxHuge; number++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    // The client leaves at another moment each time, and has sent two requests at once.
    socket.write(request + request);
    await new Promise((resolve) => setTimeout(resolve, number * 5));
    socket.destroy();
  }
  await expect
    .poll(async () => {
      const response = await fetch(service().base + path, { headers: { Authorization: `Bearer ${owner.key}` } });
      await response.arrayBuffer();
      return response.status;
    })
    .toBe(200);
});
