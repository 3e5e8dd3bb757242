// Every wire can show each record that binary gRPC accepts: random messages from the descriptors of ingest.
import type { DescMessage } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ItemResult } from "../../src/gen/records/ingest/v1/items_pb.ts";
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../../src/gen/records/ingest/v1/items_pb.ts";
import { useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { randomId } from "../fixtures/service/service.ts";
import {
  contact,
  foundNote,
  mismatches,
  sessionDetail,
  sessionSummary,
  transcript,
} from "../fixtures/clients/shapes.ts";
import type { Shape } from "../fixtures/clients/shapes.ts";
import { exportAll, importAll, ingestClient } from "../support/streams.ts";
import { endpoints, openWires } from "../fixtures/clients/wires.ts";
import type { Rpc } from "../fixtures/clients/wires.ts";
import type { Holder } from "../mcp/tools/set-up.ts";
import { call, holderOf } from "../mcp/tools/set-up.ts";
import { arbitraryOf } from "./arbitrary-message.ts";
import { inForm } from "../support/form.ts";

const fixture = useSignInFixture({ RATE_LIMIT: "100000", RATE_BURST: "100000" });
let holder: Holder;
let open: ReturnType<typeof openWires>;
beforeAll(async () => {
  holder = await holderOf(fixture());
  open = openWires(fixture().service);
});
afterAll(() => open.close());

/** Reads that must succeed for an account with these records. */
const reads = (contactId: string, sessionId: string): readonly (readonly [Rpc, Record<string, unknown>])[] => [
  ["GetContact", { contact_id: contactId }],
  ["GetSession", { session_id: sessionId }],
  ["GetSessionTranscript", { session_id: sessionId }],
  ["ListSessions", { contact_id: contactId }],
  ["ListSessions", { limit: 25 }],
  ["SearchContacts", { query: "budget" }],
  ["SearchNotes", { query: "budget" }],
];
const shapes: Partial<Record<Rpc, Shape>> = {
  GetContact: contact,
  GetSession: sessionDetail,
  GetSessionTranscript: transcript,
  ListSessions: sessionSummary,
  SearchContacts: contact,
  SearchNotes: foundNote,
};
const tools: Partial<Record<Rpc, string>> = {
  GetContact: "get_contact",
  GetSession: "get_session",
  GetSessionTranscript: "get_session_transcript",
  ListSessions: "list_sessions",
  SearchContacts: "search_contacts",
  SearchNotes: "search_notes",
};

async function isShown(rpc: Rpc, request: Record<string, unknown>): Promise<void> {
  const outcomes = await Promise.all(open.wires.map((wire) => wire.call({ rpc, key: holder.key, request })));
  const [rest] = outcomes;
  for (const outcome of outcomes)
    expect({ rpc, message: outcome.message, body: outcome.body }).toEqual({
      rpc,
      message: undefined,
      body: rest?.body,
    });
  const { data } = rest?.body as { data: unknown };
  const { many } = endpoints[rpc] as { many?: boolean };
  for (const one of many === true ? (data as unknown[]) : [data])
    expect(mismatches(shapes[rpc] as Shape, one)).toEqual([]);
  const reported = await call(holder, tools[rpc] ?? "", request);
  expect(reported.isError ?? false, `${rpc}: ${reported.text}`).toBe(false);
}

const counts = { accepted: 0, rejected: 0 };

/** Counts results: a run that accepts or rejects nothing proves nothing. */
function accepted(results: readonly ItemResult[]): void {
  for (const { error } of results) counts[error === undefined ? "accepted" : "rejected"]++;
}

test("every wire, tool and export shows all records that binary gRPC accepts, and an import accepts the export [ING-09, ING-10]", async () => {
  const ids = { contact: randomId(), session: randomId() };
  const { accountId } = holder;
  const list = (schema: DescMessage, ownIds: fc.Arbitrary<string>) =>
    fc.array(arbitraryOf(schema, ownIds), { minLength: 4, maxLength: 8 });
  const either = fc.constantFrom(ids.contact, ids.session);
  const round = fc.record({
    contacts: list(ContactItemSchema, fc.oneof(fc.constant(ids.contact), fc.uuid())),
    sessions: list(SessionItemSchema, fc.oneof(either, fc.uuid())),
    transcripts: list(TranscriptItemSchema, fc.constant(ids.session)),
    sessionNotes: list(SessionNoteItemSchema, fc.oneof(fc.constant(ids.session), fc.uuid())),
    contactNotes: list(ContactNoteItemSchema, fc.oneof(fc.constant(ids.contact), fc.uuid())),
  });
  const ingest = ingestClient(fixture().service);
  await ingest.upsertContacts({ accountId, contacts: [{ id: ids.contact, fullName: "Budget" }] });
  await ingest.upsertSessions({ accountId, sessions: [{ id: ids.session, contactId: ids.contact }] });
  await fc.assert(
    fc.asyncProperty(round, async (records) => {
      accepted((await ingest.upsertContacts({ accountId, contacts: records.contacts as never })).results);
      accepted((await ingest.upsertSessions({ accountId, sessions: records.sessions as never })).results);
      accepted((await ingest.putTranscripts({ accountId, transcripts: records.transcripts as never })).results);
      accepted((await ingest.upsertSessionNotes({ accountId, notes: records.sessionNotes as never })).results);
      accepted((await ingest.upsertContactNotes({ accountId, notes: records.contactNotes as never })).results);
      for (const [rpc, request] of reads(ids.contact, ids.session)) await isShown(rpc, request);
      const exported = await exportAll(fixture().service, accountId);
      const reported = await importAll(fixture().service, { accountId, importId: randomId(), records: exported });
      expect(reported.flatMap(({ rejections }) => rejections.map(({ error }) => error?.message))).toEqual([]);
      expect(await exportAll(fixture().service, accountId)).toEqual(exported);
    }),
    { numRuns: inForm(5, 40) },
  );
  expect(Math.min(counts.accepted, counts.rejected)).toBeGreaterThan(5);
}, 600_000);

const someId = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const wrongTimes = [
  { seconds: -62_135_596_801n, nanos: 0 },
  { seconds: 253_402_300_800n, nanos: 0 },
  { seconds: 2n ** 62n, nanos: 0 },
  { seconds: 0n, nanos: -1 },
  { seconds: 0n, nanos: 1_000_000_000 },
].map((time) => create(TimestampSchema, time));

test("a time that some wire cannot show fails only its own item, in a batch and in an import [ING-09]", async () => {
  const { accountId } = holder;
  const ingest = ingestClient(fixture().service);
  const message = "must be a time from the year 1 to 9999, with nanos from 0 to 999999999";
  for (const time of wrongTimes) {
    for (const field of ["createdAt", "updatedAt", "archivedAt"]) {
      const { results } = await ingest.upsertContacts({
        accountId,
        contacts: [{ fullName: "Right" }, { [field]: time }],
      });
      const name = field.replace("At", "_at");
      expect(results.map(({ error }) => error?.message)).toEqual([undefined, `${name}: ${message}`]);
    }
  }
  const [time] = wrongTimes;
  const { results } = await ingest.putTranscripts({
    accountId,
    transcripts: [{ sessionId: someId, recording: { id: someId, recordingEndedAt: time as never } }],
  });
  expect(results[0]?.error?.message).toBe(`recording.recording_ended_at: ${message}`);
  const records = [
    { record: { case: "contact" as const, value: create(ContactItemSchema, { createdAt: time as never }) } },
  ];
  const reported = [];
  for await (const response of ingest.import(
    (async function* () {
      yield { accountId, records };
    })(),
  ))
    reported.push(...response.rejections);
  expect(reported.map(({ error }) => error?.message)).toEqual([`created_at: ${message}`]);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -0.001])(
  "rejects a recording of %d seconds [ING-10]",
  async (durationSeconds) => {
    const { results } = await ingestClient(fixture().service).putTranscripts({
      accountId: holder.accountId,
      transcripts: [{ sessionId: someId, recording: { id: someId, durationSeconds } }],
    });
    expect(results[0]?.error?.message).toMatch(/^recording\.duration_seconds: must be/);
  },
);

test("stores an empty optional text as null, and rejects an empty id or external id [ING-11]", async () => {
  const { put } = holder;
  const empty = { full_name: "", email: "", phone: "", notes: "", memory: "", inferred_name: "" };
  const contactId = await put.contact(empty);
  const session = await put.session({
    contact_id: contactId,
    title: "",
    subtitle: "",
    recording_status: "",
    source: "",
    conference_provider: "",
    conference_url: "",
    provider_doc_url: "",
  });
  await put.transcript({ session_id: session, transcript: "" });
  await put.sessionNotes({
    session_id: session,
    title: "",
    title_slug: "",
    content: "",
    type: "SESSION_NOTE_TYPE_USER_MANUAL",
  });
  await put.contactNotes({ contact_id: contactId, content: "unlabelled", source: "import" });
  const { service } = fixture();
  const get = async (path: string) => (await service.rest(path, { key: holder.key })).body.data;
  for (const value of Object.values({
    ...(await get(`/v1/contacts/${contactId}`)),
    ...(await get(`/v1/sessions/${session}`)),
    ...(await get(`/v1/sessions/${session}/transcript`)),
  }))
    expect(value).not.toBe("");
  expect((await get(`/v1/sessions/${session}`)).notes).toEqual([
    { title: null, title_slug: null, content: null, position: 0, type: "user_manual" },
  ]);
  expect((await get("/v1/notes?query=unlabelled"))[0].parent_label).toBeNull();
  for (const wrong of [{ id: "" }, { external_id: "" }])
    expect((await put.send("UpsertContacts", "contacts", [wrong]))[0]?.error?.reason).toBe("REASON_INVALID_REQUEST");
});
