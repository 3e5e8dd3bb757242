// POST /v1/contacts/{contact_id}/notes: the note that is appended, and the contact that it leaves alone.
import { expect, test } from "vitest";
import { counts, newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";
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

test("1 and 10000 characters are accepted, 0 and 10001 are 422 [CNT-13, CNT-14]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  for (const [content, status] of [
    ["", 422],
    ["c", 201],
    ["c".repeat(10_000), 201],
    ["c".repeat(10_001), 422],
    ["\ud83d\ude00".repeat(10_000), 201],
    ["\ud83d\ude00".repeat(10_001), 422],
  ] as const) {
    const response = await client.post(`/v1/contacts/${id}/notes`, { content });
    expect(response.status, `${[...content].length} characters`).toBe(status);
    if (status === 201) expect(response.body.data.content).toBe(content);
  }
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

test("an append to an archived contact is 409, and writes nothing [CNT-07]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  await client.put.archive(id);
  const before = await counts(service());
  const { status, body } = await client.post(`/v1/contacts/${id}/notes`, { content: "c" });
  expect(status).toBe(409);
  expect(body.error).toEqual({
    code: "409",
    message: "The contact is archived, so it cannot be changed. Only the operator can restore it.",
    reason: "CONTACT_ARCHIVED",
  });
  expect(await counts(service())).toEqual(before);
  await client.put.restore(id);
  expect((await client.post(`/v1/contacts/${id}/notes`, { content: "c" })).status).toBe(201);
});

test("a read-only key is 403, no key 401, an unknown contact 404, and an invalid id 422; none of them writes [CNT-04, CNT-05, CNT-06, CNT-08]", async () => {
  const reader = await newClient(service(), "read_only");
  const writer = await newClient(service());
  const id = await reader.put.contact({ full_name: "Ann" });
  const before = await counts(service());
  const body = { content: "c" };
  expect((await reader.post(`/v1/contacts/${id}/notes`, body)).status).toBe(403);
  expect((await service().rest(`/v1/contacts/${id}/notes`, { body })).status).toBe(401);
  expect((await writer.post(`/v1/contacts/${randomId()}/notes`, body)).status).toBe(404);
  expect((await writer.post("/v1/contacts/ann/notes", body)).status).toBe(422);
  expect(await counts(service())).toEqual(before);
});
