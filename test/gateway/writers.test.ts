// The REST bodies of every message, to the byte (contract §2.1, §2.10).
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { createRenderBody } from "../../src/http/response.ts";
import type { table } from "../../src/http/route.ts";
import { ArchiveContactsResponseSchema, IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import {
  AppendContactNoteResponseSchema,
  ContactService,
  GetContactResponseSchema,
  SearchContactsResponseSchema,
} from "../../src/gen/records/v1/contacts_pb.ts";
import { CheckHealthResponseSchema, HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { NoteService, SearchNotesResponseSchema } from "../../src/gen/records/v1/notes_pb.ts";
import {
  GetSessionResponseSchema,
  GetSessionTranscriptResponseSchema,
  ListSessionsResponseSchema,
  SessionService,
} from "../../src/gen/records/v1/sessions_pb.ts";

const at = { seconds: 1_769_851_800n, nanos: 5_000_000 };
const time = '"2026-01-31T09:30:00.005Z"';
const renderBody = createRenderBody("google");

function rendered<Output extends DescMessage>(
  rpc: (typeof table)[number]["rpc"],
  schema: Output,
  init: MessageInitShape<Output>,
  render = renderBody,
): string {
  return render(rpc, create(schema, init));
}

test("writes a contact without values with null and empty lists [FMT-02, FMT-03, CGT-06]", () => {
  expect(
    rendered(ContactService.method.getContact, GetContactResponseSchema, {
      contact: { id: "c", createdAt: at, updatedAt: at },
    }),
  ).toBe(
    `{"data":{"id":"c","full_name":null,"email":null,"phone":null,"notes":null,"memory":null,"created_at":${time},"updated_at":${time},"notes_timeline":[],"recent_sessions":[],"inferred_name":null,"archived_at":null}}`,
  );
});

test("writes a contact with every value, in a list without pagination [CSR-01, CGT-10, CGT-12]", () => {
  const contact = {
    id: "c",
    fullName: 'Ann \u0000"é😀',
    email: "",
    phone: "p",
    notes: "n",
    memory: "m",
    createdAt: at,
    updatedAt: at,
    inferredName: "i",
    archivedAt: at,
    notesTimeline: [{ id: "t", content: "x", source: "api", createdAt: at, updatedAt: at }],
    recentSessions: [{ id: "s" }, { id: "r", title: "t", subtitle: "u", sessionDate: at, recordingStatus: "done" }],
  };
  expect(rendered(ContactService.method.searchContacts, SearchContactsResponseSchema, { contacts: [contact] })).toBe(
    `{"data":[{"id":"c","full_name":"Ann \\u0000\\"é😀","email":"","phone":"p","notes":"n","memory":"m","created_at":${time},"updated_at":${time},` +
      `"notes_timeline":[{"id":"t","content":"x","source":"api","created_at":${time},"updated_at":${time}}],` +
      `"recent_sessions":[{"id":"s","title":null,"subtitle":null,"session_date":null,"recording_status":null},{"id":"r","title":"t","subtitle":"u","session_date":${time},"recording_status":"done"}],` +
      `"inferred_name":"i","archived_at":${time}}]}`,
  );
});

test("rejects an rpc that REST does not offer", () => {
  expect(() => renderBody(IngestService.method.archiveContacts, create(ArchiveContactsResponseSchema))).toThrow(
    "records.ingest.v1.IngestService.ArchiveContacts has no REST route",
  );
});

test("writes a timeline note with its times in milliseconds", () => {
  expect(
    rendered(ContactService.method.appendContactNote, AppendContactNoteResponseSchema, {
      note: { id: "t", content: "x", source: "api", createdAt: at, updatedAt: at },
    }),
  ).toBe(`{"data":{"id":"t","content":"x","source":"api","created_at":${time},"updated_at":${time}}}`);
});

test("writes the pagination of a session list next to data [PAG-01, SLS-05, SLS-06]", () => {
  const sessions = [
    { id: "s" },
    {
      id: "r",
      title: "t",
      subtitle: "u",
      sessionDate: at,
      sessionDateEnd: at,
      recordingStatus: "d",
      source: "o",
      conferenceProvider: "z",
      client: { id: "c", fullName: "A" },
    },
  ];
  expect(
    rendered(SessionService.method.listSessions, ListSessionsResponseSchema, {
      sessions,
      pagination: { limit: 2, offset: 4, hasMore: true, nextOffset: 6 },
    }),
  ).toBe(
    '{"data":[{"id":"s","title":null,"subtitle":null,"session_date":null,"session_date_end":null,"recording_status":null,"source":null,"conference_provider":null,"client":null},' +
      `{"id":"r","title":"t","subtitle":"u","session_date":${time},"session_date_end":${time},"recording_status":"d","source":"o","conference_provider":"z","client":{"id":"c","full_name":"A"}}],` +
      '"pagination":{"limit":2,"offset":4,"has_more":true,"next_offset":6}}',
  );
});

test("the last page has next_offset null [PAG-02]", () => {
  expect(
    rendered(NoteService.method.searchNotes, SearchNotesResponseSchema, {
      pagination: { limit: 15, offset: 0, hasMore: false },
    }),
  ).toBe('{"data":[],"pagination":{"limit":15,"offset":0,"has_more":false,"next_offset":null}}');
});

test("names a session's document field after the provider, and writes the types of its notes in lower case", () => {
  const session = {
    id: "s",
    createdAt: at,
    updatedAt: at,
    client: { id: "c" },
    providerDocUrl: "https://d",
    notes: [
      { position: 0, type: 2 },
      { title: "t", titleSlug: "u", content: "x", position: -1, type: 6 },
    ],
  } as const;
  const body = (name: string): string =>
    '{"data":{"id":"s","title":null,"subtitle":null,"session_date":null,"session_date_end":null,"recording_status":null,"source":null,"conference_provider":null,' +
    `"client":{"id":"c","full_name":null,"email":null},"conference_url":null,"${name}":"https://d","created_at":${time},"updated_at":${time},` +
    '"notes":[{"title":null,"title_slug":null,"content":null,"position":0,"type":"ai_meeting_prep"},{"title":"t","title_slug":"u","content":"x","position":-1,"type":"reader_comment"}]}}';
  const { getSession } = SessionService.method;
  expect(rendered(getSession, GetSessionResponseSchema, { session: { ...session, notes: [...session.notes] } })).toBe(
    body("google_doc_url"),
  );
  expect(
    rendered(
      getSession,
      GetSessionResponseSchema,
      { session: { ...session, notes: [...session.notes] } },
      createRenderBody("acme_2"),
    ),
  ).toBe(body("acme_2_doc_url"));
});

test("writes a transcript with a recording, and with null in place of a missing one", () => {
  const { getSessionTranscript } = SessionService.method;
  expect(rendered(getSessionTranscript, GetSessionTranscriptResponseSchema, { transcript: { sessionId: "s" } })).toBe(
    '{"data":{"session_id":"s","transcript":null,"recording":null}}',
  );
  const recording = { id: "r", durationSeconds: 61.5, recordingStartedAt: at };
  expect(
    rendered(getSessionTranscript, GetSessionTranscriptResponseSchema, {
      transcript: { sessionId: "s", transcript: "", recording },
    }),
  ).toBe(
    `{"data":{"session_id":"s","transcript":"","recording":{"id":"r","duration_seconds":61.5,"recording_started_at":${time},"recording_ended_at":null}}}`,
  );
});

test("writes a note of a search with null for missing values, and has_more false without more pages", () => {
  const notes = [
    { kind: 1, parentId: "c", content: "x", truncated: true },
    { kind: 2, parentId: "s", parentLabel: "t", noteType: "user_manual", content: "", createdAt: at },
  ] as const;
  expect(
    rendered(NoteService.method.searchNotes, SearchNotesResponseSchema, {
      notes: [...notes],
      pagination: { limit: 2, offset: 2_147_483_647 },
    }),
  ).toBe(
    '{"data":[{"kind":"contact","parent_id":"c","parent_label":null,"note_type":null,"content":"x","truncated":true,"created_at":null},' +
      `{"kind":"session","parent_id":"s","parent_label":"t","note_type":"user_manual","content":"","truncated":false,"created_at":${time}}],` +
      '"pagination":{"limit":2,"offset":2147483647,"has_more":false,"next_offset":null}}',
  );
});

test.each([
  [1, "ok"],
  [2, "degraded"],
  [3, "disabled"],
] as const)("writes health %i as %s [HLT-02]", (status, name) => {
  expect(
    rendered(HealthService.method.checkHealth, CheckHealthResponseSchema, { health: { status, version: "1.0.0" } }),
  ).toBe(`{"data":{"status":"${name}","version":"1.0.0"}}`);
});

test.each([
  [0n, 0, "1970-01-01T00:00:00.000Z"],
  [1_769_851_800n, 999_999_999, "2026-01-31T09:30:00.999Z"],
  [-1n, 999_000_000, "1969-12-31T23:59:59.999Z"],
  [-62_135_596_800n, 0, "0001-01-01T00:00:00.000Z"],
  [253_402_300_799n, 999_999_999, "9999-12-31T23:59:59.999Z"],
])("writes %d seconds and %i nanoseconds as %s [FMT-04]", (seconds, nanos, text) => {
  const instant = { seconds, nanos };
  expect(
    JSON.parse(
      rendered(ContactService.method.getContact, GetContactResponseSchema, {
        contact: { createdAt: instant, updatedAt: instant },
      }),
    ),
  ).toMatchObject({ data: { created_at: text } });
});
