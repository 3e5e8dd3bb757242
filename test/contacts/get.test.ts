// GET /v1/contacts/{contact_id}: every field of a contact, its timeline and its recent sessions.
import { expect, test } from "vitest";
import { hoursFromNow, newClient, useService } from "../support/client.ts";
import { contact, mismatches } from "../fixtures/clients/shapes.ts";

const service = useService();

test("a contact with every value has exactly the fields of the specification [CGT-01, CGT-06, CGT-10, CGT-12, FMT-02, FMT-04, FMT-05]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({
    full_name: "Ann Lee",
    email: "Ann@Example.com",
    phone: "+1",
    notes: "n",
    memory: "m",
    inferred_name: "Annie",
    created_at: "2026-01-31T09:30:00Z",
    updated_at: "2026-02-01T10:00:00.250+01:00",
  });
  const [note] = await client.put.contactNotes({
    contact_id: id,
    content: "Called",
    source: "import",
    created_at: "2026-02-01T00:00:00Z",
    updated_at: "2026-02-02T00:00:00Z",
  });
  const session = await client.put.session({
    contact_id: id,
    title: "t",
    subtitle: "s",
    session_date: "2026-02-03T00:00:00Z",
    recording_status: "done",
    source: "calendar",
  });
  const { status, body } = await client.get(`/v1/contacts/${id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    data: {
      id,
      full_name: "Ann Lee",
      email: "Ann@Example.com",
      phone: "+1",
      notes: "n",
      memory: "m",
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-02-01T09:00:00.250Z",
      notes_timeline: [
        {
          id: note,
          content: "Called",
          source: "import",
          created_at: "2026-02-01T00:00:00.000Z",
          updated_at: "2026-02-02T00:00:00.000Z",
        },
      ],
      recent_sessions: [
        { id: session, title: "t", subtitle: "s", session_date: "2026-02-03T00:00:00.000Z", recording_status: "done" },
      ],
      inferred_name: "Annie",
      archived_at: null,
    },
  });
});

test("a contact without values has the same fields, null or empty [CGT-06, CGT-07, FMT-03]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({});
  await client.put.session({ contact_id: id, session_date: "2026-02-03T00:00:00Z" });
  const { body } = await client.get(`/v1/contacts/${id}`);
  expect(mismatches(contact, body.data)).toEqual([]);
  expect(body.data).toMatchObject({
    full_name: null,
    email: null,
    phone: null,
    notes: null,
    memory: null,
    inferred_name: null,
    archived_at: null,
    notes_timeline: [],
  });
  expect(body.data.recent_sessions).toMatchObject([{ title: null, subtitle: null, recording_status: null }]);
});

test("an imported contact without a full_name shows its inferred_name [CGT-09]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ external_id: "crm-1", inferred_name: "Perhaps Ann" });
  const { body } = await client.get(`/v1/contacts/${id}`);
  expect(body.data).toMatchObject({ full_name: null, inferred_name: "Perhaps Ann" });
});

test("an archived contact is found by its id, with the time at which it was archived; that of an active one is null [CGT-08]", async () => {
  const client = await newClient(service());
  const [given, archived, active] = await client.put.contacts({ archived_at: "2026-01-02T03:04:05.678Z" }, {}, {});
  const before = Date.now();
  await client.put.archive(archived ?? "");
  const after = Date.now();
  const archivedAt = async (id: string | undefined): Promise<string | null> =>
    (await client.get(`/v1/contacts/${id}`)).body.data.archived_at;
  expect(await archivedAt(given)).toBe("2026-01-02T03:04:05.678Z");
  expect(await archivedAt(active)).toBeNull();
  const time = Date.parse((await archivedAt(archived)) ?? "");
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(after);
});

test("the timeline has the newest 50 notes of this contact, newest first [CGT-11]", async () => {
  const client = await newClient(service());
  const [id, other] = await client.put.contacts({}, {});
  const notes = Array.from({ length: 52 }, (_, index) => ({
    contact_id: id,
    content: `note ${index}`,
    source: "import",
    created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, 0, index)).toISOString(),
  }));
  const written = await client.put.contactNotes(...notes);
  await client.put.contactNotes({ contact_id: other, content: "not mine", source: "import" });
  const { body } = await client.get(`/v1/contacts/${id}`);
  expect(body.data.notes_timeline.map((note: { id: string }) => note.id)).toEqual(written.toReversed().slice(0, 50));
});

test("recent_sessions are the newest 5 past sessions of this contact, without future and undated ones [CGT-13]", async () => {
  const client = await newClient(service());
  const [id, other] = await client.put.contacts({}, {});
  const [, second, third, fourth, fifth, sixth] = await client.put.sessions(
    ...[-7, -6, -5, -4, -3, -2].map((hours) => ({ contact_id: id, session_date: hoursFromNow(hours) })),
    { contact_id: id, session_date: hoursFromNow(1) },
    { contact_id: id, session_date: hoursFromNow(24_000) },
    { contact_id: id },
    { contact_id: other, session_date: hoursFromNow(-1) },
    { session_date: hoursFromNow(-1) },
  );
  const { body } = await client.get(`/v1/contacts/${id}`);
  expect(body.data.recent_sessions.map((session: { id: string }) => session.id)).toEqual([
    sixth,
    fifth,
    fourth,
    third,
    second,
  ]);
});
