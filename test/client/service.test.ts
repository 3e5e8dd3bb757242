// The client against a real service: every operation, all pages, and one contact however often the connection breaks.
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { RecordsClient } from "../../client/src/index.ts";
import { counts, everyOf, newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";
import {
  contact,
  foundNote,
  health,
  mismatches,
  sessionDetail,
  sessionSummary,
  timelineNote,
  transcript,
} from "../fixtures/clients/shapes.ts";

const service = useService();
const throttled = useService({ RATE_LIMIT: "2", RATE_BURST: "2" });

test("every operation returns what the service sends, in the shape of the service", async () => {
  const { records: client, put } = await newClient(service());
  const created = await client.contacts.create({ full_name: "Zoë Martin", email: "zoe@example.org", phone: null });
  expect(mismatches(contact, created)).toEqual([]);
  const note = await client.contacts.appendNote(created.id, { content: "Likes tea" });
  expect(mismatches(timelineNote, note)).toEqual([]);
  const updated = await client.contacts.update(created.id, { phone: "+33 1 99", email: null });
  expect(updated).toMatchObject({
    id: created.id,
    full_name: "Zoë Martin",
    phone: "+33 1 99",
    email: null,
    notes_timeline: [note],
  });
  expect(await client.contacts.get(created.id)).toEqual(updated);
  expect(await client.contacts.search({ query: "zoe mar" })).toEqual([updated]);

  const id = await put.session({ contact_id: created.id, title: "Kick-off", session_date: "2026-03-01T09:00:00Z" });
  await put.sessionNotes({
    session_id: id,
    title: "Plan",
    content: "Tea first",
    position: 0,
    type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
  });
  await put.transcript({ session_id: id, transcript: "Zoë: hello" });
  const list = await client.sessions.list({ query: "kick", from: "2026-03-01", to: "2026-03-01" });
  expect(list.data.flatMap((session) => mismatches(sessionSummary, session))).toEqual([]);
  expect([list.data.map((session) => session.id), list.pagination]).toEqual([
    [id],
    { limit: 10, offset: 0, has_more: false, next_offset: null },
  ]);
  const session = await client.sessions.get(id);
  expect(mismatches(sessionDetail, session)).toEqual([]);
  expect(session.notes).toMatchObject([{ title: "Plan", type: "ai_predefined" }]);
  const said = await client.sessions.transcript(id);
  expect([mismatches(transcript, said), said.transcript]).toEqual([[], "Zoë: hello"]);
  const found = await client.notes.search({ query: "tea" });
  expect(found.data.flatMap((one) => mismatches(foundNote, one))).toEqual([]);
  expect(found.data.map(({ kind }) => kind).sort()).toEqual(["contact", "session"]);
  expect(mismatches(health, await new RecordsClient({ baseUrl: service().base }).health())).toEqual([]);
});

test("rejections have the service's message and the request id of the response", async () => {
  const { records: client } = await newClient(service());
  const { records: reader } = await newClient(service(), "read_only");
  const error = { name: "RecordsError", requestId: expect.stringMatching(/^[A-Za-z0-9._-]{1,128}$/) };
  await expect(client.contacts.get(randomId())).rejects.toMatchObject({ ...error, status: 404 });
  await expect(client.contacts.search({ query: "a" })).rejects.toMatchObject({
    ...error,
    status: 422,
    details: [{ field: "query" }],
  });
  await expect(reader.contacts.create({ full_name: "Ann" })).rejects.toMatchObject({
    ...error,
    status: 403,
    code: "403",
  });
  await expect(new RecordsClient({ baseUrl: service().base }).sessions.list()).rejects.toMatchObject({
    ...error,
    status: 401,
  });
});

test("all() returns every record of every page once, in the order of the list, and requests no unnecessary page", async () => {
  const { records: client, put, key } = await newClient(service());
  const person = await put.contact({ full_name: "Ann" });
  await put.sessions(
    ...Array.from({ length: 61 }, (_, index) => ({
      title: "Tie",
      session_date: new Date(Date.UTC(2026, 0, 1 + (index % 30))).toISOString(),
    })),
  );
  await put.contactNotes(
    ...Array.from({ length: 30 }, (_, index) => ({ contact_id: person, content: `Budget ${index}`, source: "import" })),
  );
  const ids = await idsOf(client.sessions.all());
  expect(new Set(ids).size).toBe(61);
  const pages = await Promise.all([0, 25, 50].map((offset) => client.sessions.list({ limit: 25, offset })));
  expect(ids).toEqual(pages.flatMap(({ data }) => data.map(({ id }) => id)));
  expect(await idsOf(client.sessions.all({ query: "tie", limit: 7, offset: 5 }))).toEqual(ids.slice(5));
  expect(new Set((await everyOf(client.notes.all({ query: "budget" }))).map(({ content }) => content)).size).toBe(30);
  expect(await everyOf(client.sessions.all({ query: "nowhere" }))).toEqual([]);

  let requests = 0;
  const counting = new RecordsClient({
    baseUrl: service().base,
    apiKey: key,
    fetch: (url, init) => (requests++, fetch(url, init)),
  });
  for await (const { id } of counting.sessions.all({ limit: 20 })) if (id === ids[30]) break;
  expect(requests).toBe(2);
});

test("a create whose responses are lost writes one contact, and an append one note", async () => {
  const { key } = await newClient(service());
  const wire = await losingResponses(new URL(service().base), 2);
  const before = await counts(service());
  const client = new RecordsClient({ baseUrl: wire.url, apiKey: key, random: () => 0 });
  const created = await client.contacts.create({ full_name: "Ann", email: "ann@example.com" });
  expect(wire.lost()).toBe(2);
  wire.lose(2);
  await client.contacts.appendNote(created.id, { content: "Called" });
  expect(wire.lost()).toBe(4);
  const after = await counts(service());
  expect([
    (after["contacts"] ?? 0) - (before["contacts"] ?? 0),
    (after["notes"] ?? 0) - (before["notes"] ?? 0),
  ]).toEqual([1, 1]);
  wire.lose(1);
  await expect(client.contacts.update(created.id, { full_name: "Bo" })).rejects.toMatchObject({ code: "unreachable" });
  expect(await client.contacts.get(created.id)).toMatchObject({
    full_name: "Bo",
    notes_timeline: [{ content: "Called" }],
  });
});

test("a walk that exceeds the rate limit is slowed down and loses nothing", async () => {
  const { key, put } = await newClient(throttled());
  await put.sessions(...Array.from({ length: 5 }, () => ({ title: "Tie" })));
  let rejected = 0;
  const client = new RecordsClient({
    baseUrl: throttled().base,
    apiKey: key,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (response.status === 429) rejected++;
      return response;
    },
  });
  expect(new Set(await idsOf(client.sessions.all({ limit: 1 }))).size).toBe(5);
  expect(rejected).toBeGreaterThan(0);
});

async function idsOf(items: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  return (await everyOf(items)).map(({ id }) => id);
}

/**
 * A wire to the service that lets requests through and breaks the connection when the response comes, so many times.
 */
async function losingResponses(
  to: URL,
  times: number,
): Promise<{ url: string; lose(more: number): void; lost(): number }> {
  let left = times;
  let lost = 0;
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    far.on("data", (respond) => {
      if (left === 0) return void near.write(respond);
      left--;
      lost++;
      near.resetAndDestroy();
      far.destroy();
    });
    near.on("data", (request) => void far.write(request));
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const)
      end.on("close", () => other.destroy()).on("error", () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose: (more) => (left = more),
    lost: () => lost,
  };
}
