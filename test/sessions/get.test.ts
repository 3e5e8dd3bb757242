// GET /v1/sessions/{session_id} and its transcript: every field, and what may be null.
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";
import { mismatches, sessionDetail, transcript } from "../fixtures/clients/shapes.ts";

const service = useService();

test("a session with every value has exactly the fields of the detail [SGT-01, SGT-06, SGT-07, SGT-09, FMT-02, FMT-04]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann Lee", email: "ann@example.com" });
  const id = await client.put.session({
    contact_id: contact,
    title: "t",
    subtitle: "s",
    session_date: "2026-01-31T09:30:00Z",
    session_date_end: "2026-01-31T10:30:00Z",
    recording_status: "done",
    source: "calendar",
    conference_provider: "meet",
    conference_url: "https://meet.example/1",
    provider_doc_url: "https://docs.example/1",
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-02T00:00:00Z",
  });
  await client.put.sessionNotes({
    session_id: id,
    title: "nt",
    title_slug: "n-t",
    content: "c",
    position: 3,
    type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
  });
  const { status, body } = await client.get(`/v1/sessions/${id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    data: {
      id,
      title: "t",
      subtitle: "s",
      session_date: "2026-01-31T09:30:00.000Z",
      session_date_end: "2026-01-31T10:30:00.000Z",
      recording_status: "done",
      source: "calendar",
      conference_provider: "meet",
      conference_url: "https://meet.example/1",
      google_doc_url: "https://docs.example/1",
      created_at: "2026-01-01T00:00:00.000Z",
      updated_at: "2026-01-02T00:00:00.000Z",
      client: { id: contact, full_name: "Ann Lee", email: "ann@example.com" },
      notes: [{ title: "nt", title_slug: "n-t", content: "c", position: 3, type: "ai_predefined" }],
    },
  });
});

test("a session without values has the same fields, null or empty, and so has one whose client has no name [SGT-06, SGT-07, SGT-09, FMT-03]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ inferred_name: "Perhaps" });
  const [bare, nameless] = await client.put.sessions({}, { contact_id: contact });
  await client.put.sessionNotes({ session_id: nameless, type: "SESSION_NOTE_TYPE_USER_MANUAL" });
  const { body: first } = await client.get(`/v1/sessions/${bare}`);
  expect(mismatches(sessionDetail, first.data)).toEqual([]);
  expect(first.data).toMatchObject({
    client: null,
    notes: [],
    conference_url: null,
    google_doc_url: null,
    title: null,
    session_date: null,
  });
  const { body: second } = await client.get(`/v1/sessions/${nameless}`);
  expect(second.data.client).toEqual({ id: contact, full_name: null, email: null });
  expect(second.data.notes).toEqual([
    { title: null, title_slug: null, content: null, position: 0, type: "user_manual" },
  ]);
});

test("notes are in the order of their positions, also negative ones, and those with the same position in the order of writing [SGT-09]", async () => {
  const client = await newClient(service());
  const [id, other] = await client.put.sessions({}, {});
  const note = (content: string, position: number, day: number) => ({
    session_id: id,
    content,
    position,
    type: "SESSION_NOTE_TYPE_USER_TEMPLATE",
    created_at: `2026-01-0${day}T00:00:00Z`,
  });
  await client.put.sessionNotes(note("e", 7, 1), note("c", 2, 2), note("a", -1, 9), note("d", 2, 3), note("b", 0, 5), {
    session_id: other,
    content: "not mine",
    type: "SESSION_NOTE_TYPE_USER_MANUAL",
  });
  const { body } = await client.get(`/v1/sessions/${id}`);
  expect(body.data.notes.map((found: { content: string }) => found.content)).toEqual(["a", "b", "c", "d", "e"]);
});

test("returns each of the six types of notes in lower case [SGT-10, FMT-02]", async () => {
  const client = await newClient(service());
  const id = await client.put.session({});
  const types = ["USER_MANUAL", "AI_MEETING_PREP", "USER_TEMPLATE", "AI_PREDEFINED", "AI_ASSISTANT", "READER_COMMENT"];
  await client.put.sessionNotes(
    ...types.map((type, position) => ({ session_id: id, position, type: `SESSION_NOTE_TYPE_${type}` })),
  );
  const { body } = await client.get(`/v1/sessions/${id}`);
  expect(body.data.notes.map((note: { type: string }) => note.type)).toEqual([
    "user_manual",
    "ai_meeting_prep",
    "user_template",
    "ai_predefined",
    "ai_assistant",
    "reader_comment",
  ]);
  const rejected = await service().internalCall("records.ingest.v1.IngestService/UpsertSessionNotes", {
    account_id: client.id,
    notes: [{ session_id: id }],
  });
  expect(rejected.body.results).toMatchObject([
    { error: { reason: "REASON_INVALID_REQUEST", message: expect.stringMatching(/^type: /) } },
  ]);
});

test("DOC_PROVIDER names the field of the document's link, and an invalid name stops the start [SGT-08]", async () => {
  const client = await newClient(service());
  const id = await client.put.session({ provider_doc_url: "https://docs.example/1" });
  const notion = await service().another({ DOC_PROVIDER: "notion_2" });
  try {
    const { body } = await notion.rest(`/v1/sessions/${id}`, { key: client.key });
    expect(body.data.notion_2_doc_url).toBe("https://docs.example/1");
    expect(Object.keys(body.data).filter((name) => name.endsWith("_doc_url"))).toEqual(["notion_2_doc_url"]);
  } finally {
    await notion.stop();
  }
  for (const wrong of ["Google", "2docs", "a-b", "a".repeat(32)])
    await expect(service().another({ DOC_PROVIDER: wrong })).rejects.toThrow(/^DOC_PROVIDER: /);
});

test("a session without a transcript is 200 with null [STR-07, STR-01]", async () => {
  const client = await newClient(service());
  const id = await client.put.session({ title: "t" });
  const { status, body } = await client.get(`/v1/sessions/${id}/transcript`);
  expect([status, body]).toEqual([200, { data: { session_id: id, transcript: null, recording: null } }]);
});

test("a recording can exist before its text, and a text without a recording [STR-06, STR-07, STR-08]", async () => {
  const client = await newClient(service());
  const [early, late] = await client.put.sessions({}, {});
  const recording = randomId();
  await client.put.transcript({ session_id: early, recording: { id: recording } });
  await client.put.transcript({ session_id: late, transcript: "Hello." });
  expect((await client.get(`/v1/sessions/${early}/transcript`)).body.data).toEqual({
    session_id: early,
    transcript: null,
    recording: { id: recording, duration_seconds: null, recording_started_at: null, recording_ended_at: null },
  });
  expect((await client.get(`/v1/sessions/${late}/transcript`)).body.data).toEqual({
    session_id: late,
    transcript: "Hello.",
    recording: null,
  });
});

test("returns a transcript as it was stored, with exactly the fields of the specification [STR-01, STR-06, STR-08, FMT-04]", async () => {
  const client = await newClient(service());
  const id = await client.put.session({});
  const recording = randomId().toUpperCase();
  const text = `Zoë: 😀 \u0000 e\u0301 ${"Hello again. ".repeat(60_000)}`;
  await client.put.transcript({ session_id: id, transcript: "first draft" });
  await client.put.transcript({
    session_id: id,
    transcript: text,
    recording: {
      id: recording,
      duration_seconds: 1800.25,
      recording_started_at: "2026-01-31T09:30:00Z",
      recording_ended_at: "2026-01-31T10:00:00.250Z",
    },
  });
  const { body } = await client.get(`/v1/sessions/${id}/transcript`);
  expect(mismatches(transcript, body.data)).toEqual([]);
  expect(body.data.transcript === text).toBe(true);
  expect(body.data.recording).toEqual({
    id: recording.toLowerCase(),
    duration_seconds: 1800.25,
    recording_started_at: "2026-01-31T09:30:00.000Z",
    recording_ended_at: "2026-01-31T10:00:00.250Z",
  });
});

test("a transcript whose session is missing, as in a restored backup, is 404 [STR-03]", async () => {
  const client = await newClient(service());
  const id = await client.put.session({ title: "Kickoff" });
  await client.put.transcript({ session_id: id, transcript: "Hello." });
  await service()
    .app.client.db()
    .collection("sessions")
    .deleteOne({ title: "Kickoff", account_id: new UUID(client.id) });
  expect((await client.get(`/v1/sessions/${id}/transcript`)).status).toBe(404);
});

test("rejects a transcript of more than 4 MB, and stores the others of the batch [ING-04, ING-13]", async () => {
  const client = await newClient(service());
  const [longest = "", longer = ""] = await client.put.sessions({ title: "longest" }, { title: "longer" });
  // Two bytes each in UTF-8.
  const text = "é".repeat(2_000_000);
  const results = await client.put.send("PutTranscripts", "transcripts", [
    { session_id: longest, transcript: text },
    { session_id: longer, transcript: `${text}.` },
  ]);
  const message = "transcript: must be at most 4000000 bytes";
  expect(results).toMatchObject([{ id: longest }, { error: { reason: "REASON_INVALID_REQUEST", message } }]);
  expect((await client.get(`/v1/sessions/${longest}/transcript`)).body.data.transcript).toHaveLength(2_000_000);
  expect((await client.get(`/v1/sessions/${longer}/transcript`)).body.data.transcript).toBeNull();
});
