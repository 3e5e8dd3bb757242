// POST /v1/contacts/{contact_id}/notes: the note that is appended, and the contact that it leaves alone.
import { expect, test } from "vitest";
import { counts, newClient, useService } from "../support/client.ts";
import { mismatches, timelineNote } from "../fixtures/clients/shapes.ts";

const service = useService();

test("an append is 201 with the timeline note of source api, which is the first of the timeline [CNT-01, CNT-02, CGT-10, SRC-07]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  await client.put.contactNotes({
    contact_id: id,
    content: "older",
    source: "import",
    created_at: "2026-01-01T00:00:00Z",
  });
  const { status, headers, body } = await client.post(`/v1/contacts/${id}/notes`, { content: "  Called\u0000 " });
  expect(status).toBe(201);
  expect(Object.keys(body)).toEqual(["data"]);
  expect(mismatches(timelineNote, body.data)).toEqual([]);
  expect(body.data).toMatchObject({ content: "  Called\u0000 ", source: "api" });
  expect(body.data.updated_at).toBe(body.data.created_at);
  expect(headers.get("location")).toBeNull();
  const read = await client.get(`/v1/contacts/${id}`);
  expect(read.body.data.notes_timeline).toMatchObject([body.data, { content: "older" }]);
  expect((await client.get("/v1/notes?query=called")).body.data).toMatchObject([
    { parent_id: id, parent_label: "Ann", note_type: "user_manual" },
  ]);
});

test("an append changes neither the contact's updated_at nor any other field of it [CNT-03]", async () => {
  const client = await newClient(service());
  const { body: created } = await client.post("/v1/contacts", { full_name: "Ann", email: "ann@example.com" });
  const { body: note } = await client.post(`/v1/contacts/${created.data.id}/notes`, { content: "Called" });
  const { body } = await client.get(`/v1/contacts/${created.data.id}`);
  expect(body.data).toEqual({ ...created.data, notes_timeline: [note.data] });
});

test("content is required, a string, and the only property; otherwise the append is 422 and writes nothing [CNT-11, CNT-12]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  const before = await counts(service());
  for (const body of [
    {},
    { content: null },
    { content: 1 },
    { content: ["c"] },
    { content: {} },
    { content: "" },
    { content: "c", source: "api" },
    { content: "c", created_at: null },
    { content: "c", contact_id: id },
  ]) {
    const response = await client.post(`/v1/contacts/${id}/notes`, body);
    expect(response.status, JSON.stringify(body)).toBe(422);
  }
  expect(await counts(service())).toEqual(before);
});

test("the body may escape every character, however long that makes it [CNT-14, VAL-04]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  const { status, body } = await service().rest(`/v1/contacts/${id}/notes`, {
    key: client.key,
    raw: `{"content":"${"\\ud83d\\ude00".repeat(10_000)}"}`,
  });
  expect(status).toBe(201);
  expect(body.data.content).toBe("😀".repeat(10_000));
});
