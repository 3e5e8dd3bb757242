import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "./support/service.ts";
import { startService } from "./support/service.ts";

let service: TestService;
beforeAll(async () => { service = await startService(); });
afterAll(async () => { await service.stop(); });

test("everything once", async () => {
  const a = await service.account();
  console.log(await service.rest("/v1/health"));
  const created = await service.rest("/v1/contacts", { key: a.key, body: { full_name: "José Álvarez", email: "jose@example.com", phone: "+49 (170) 123 45" } });
  console.log(created.status, created.text, created.headers.get("location"));
  const id = created.body.data.id;
  for (const i of [1, 2]) {
    const c = await service.rest("/v1/contacts", { key: a.key, body: { full_name: "Idem", email: null }, headers: { "Idempotency-Key": "k1" } });
    console.log(c.status, c.text, c.headers.get("idempotent-replayed"), i);
  }
  console.log((await service.rest("/v1/contacts", { key: a.key, body: { full_name: "Idem2" }, headers: { "Idempotency-Key": "k1" } })).text);
  console.log((await service.rest(`/v1/contacts/${id}/notes`, { key: a.key, body: { content: "Met about the budget" } })).text);
  console.log((await service.rest(`/v1/contacts/${id}`, { method: "PATCH", key: a.key, body: { phone: null, full_name: "Jose B" } })).text);
  console.log((await service.rest(`/v1/contacts/${id}`, { key: a.key })).text);
  for (const q of ["jose", "jo", "jose%20b", "zz", "budget", "--"]) {
    console.log(q, (await service.rest(`/v1/contacts?query=${q}`, { key: a.key })).text.slice(0, 200));
    console.log(q, (await service.rest(`/v1/notes?query=${q}`, { key: a.key })).text.slice(0, 300));
    console.log(q, (await service.rest(`/v1/sessions?query=${q}`, { key: a.key })).text.slice(0, 200));
  }
  console.log((await service.rest(`/v1/contacts?query=a&limit=x`, { key: a.key })).text);
  console.log((await service.rest(`/v1/contacts/${id}`, {})).text);
  console.log((await service.rest(`/v1/contacts`, { key: a.key, body: { full_name: 3, email: "x", foo: 1 } })).text);
  const ingest = await service.internalCall("records.ingest.v1.IngestService/UpsertSessions", { accountId: a.id, sessions: [{ title: "Kickoff", sessionDate: "2026-01-01T10:00:00Z", contactId: id, externalId: "s1" }] });
  console.log(ingest.status, ingest.text);
  const sid = ingest.body.results[0].id;
  console.log((await service.internalCall("records.ingest.v1.IngestService/PutTranscripts", { accountId: a.id, transcripts: [{ sessionId: sid, transcript: "Hello \u{1F600}", recording: { id: sid, durationSeconds: 3.5 } }] })).text);
  console.log((await service.rest(`/v1/sessions?query=jose%20kick`, { key: a.key })).text);
  console.log((await service.rest(`/v1/sessions/${sid}`, { key: a.key })).text);
  console.log((await service.rest(`/v1/sessions/${sid}/transcript`, { key: a.key })).text);
  console.log((await service.rest(`/v1/contacts/${id}`, { key: a.key })).text);
  const rpc = await fetch(`${service.base}/records.v1.ContactService/SearchContacts`, { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${a.key}` }, body: JSON.stringify({ query: "jose" }) });
  console.log(rpc.status, await rpc.text(), Object.fromEntries(rpc.headers));
  const bad = await fetch(`${service.base}/records.v1.ContactService/SearchContacts`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query: "jose" }) });
  console.log(bad.status, await bad.text(), Object.fromEntries(bad.headers));
  expect(1).toBe(1);
  console.log(service.logLines.filter((line) => !line.includes('"level":30')).join(""));
});
