// What the log has of a request, and what it never has: queries, bodies, keys, credentials, whatever a caller
// chose.
import { beforeAll, expect, test } from "vitest";
import { newSecret } from "../../src/api-keys/secret.ts";
import { until } from "../../src/embedded/wait.ts";
import { grpcCall } from "../fixtures/clients/http2-call.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { exchange } from "../fixtures/clients/raw.ts";

const service = useService();
let owner: TestAccount;

beforeAll(async () => {
  owner = await service().account();
});

/** A text for every place where a caller may put one. */
const marker = "Zebrafinch";

async function settled(count: number): Promise<void> {
  await until(
    () =>
      Promise.resolve(
        service().logLines.filter((line) => /"(request|an HTTP message was rejected)"/.test(line)).length >= count,
      ),
    AbortSignal.timeout(5_000),
  );
}

test("a request is one line with its id, listener, wire, method, route, rpc, account, key prefix, address, status and times, and nothing else [FMT-06]", async () => {
  const before = service().logLines.length;
  await service().rest("/v1/contacts?query=ann", { key: owner.key, headers: { "X-Request-Id": "one-line" } });
  await until(() => Promise.resolve(service().logLines.length > before), AbortSignal.timeout(5_000));
  const lines = service()
    .logLines.slice(before)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toEqual([
    {
      level: 30,
      time: expect.anything(),
      id: "one-line",
      listener: "public",
      wire: "rest",
      method: "GET",
      route: "/v1/contacts",
      rpc: "records.v1.ContactService/SearchContacts",
      account: owner.id,
      key: owner.key.slice(0, 8),
      address: "127.0.0.1",
      status: 200,
      ms: expect.any(Number),
      redis_ms: expect.any(Number),
      db_ms: expect.any(Number),
      db_commands: expect.any(Number),
      rows: 0,
      msg: "request",
    },
  ]);
});

test("a request that the HTTP parser rejects has a line too, with the id of its response [FMT-06, ERR-08]", async () => {
  const before = service().logLines.length;
  const { responses } = await exchange(service().base, `GET /v1/${marker} HTTP/9.9\r\nHost: localhost\r\n\r\n`);
  expect(
    service()
      .logLines.slice(before)
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([
    {
      id: responses[0]?.headers.get("x-request-id"),
      listener: "public",
      status: 400,
      msg: "an HTTP message was rejected",
    },
  ]);
});

test("no line contains a query, a body, a key, a credential, or a part of a path that the caller chose [KEY-03, ERR-07]", async () => {
  const before = service().logLines.filter((line) => /"(request|an HTTP message was rejected)"/.test(line)).length;
  const { key } = owner;
  const unknown = newSecret();
  const { body } = await service().rest("/v1/contacts", {
    key,
    body: { full_name: `${marker} One`, email: `${marker}@example.com`, phone: "+1 415 555 0199" },
    headers: { "Idempotency-Key": `${marker}-1` },
  });
  const { id } = body.data as { id: string };
  const calls = [
    service().rest(`/v1/contacts?query=${marker}`, { key }),
    service().rest(`/v1/contacts?query=${marker}`, { key: unknown }),
    service().rest(`/v1/contacts/${marker}`, { key }),
    service().rest(`/v1/contacts/${key}`, { key }),
    service().rest(`/v1/contacts/${unknown}`),
    service().rest(`/v1/contacts/${id}`, { key }),
    service().rest(`/v1/${marker}/${id}`, { key }),
    service().rest(`/v1/${marker}`),
    service().rest(`/${marker}`),
    service().rest(`/records.${marker}/${marker}`),
    service().rest(`/v1/contacts/${marker}`, { method: "DELETE" }),
    service().rest(`/v1/sessions?from=${marker}`, { key }),
    service().rest("/v1/contacts", { key, body: { full_name: `${marker} Two`, email: `${marker}@example.com` } }),
    service().rest("/v1/contacts", { key, body: { [marker]: marker } }),
    service().rest("/v1/contacts", { key, raw: `{"${marker}` }),
    service().rest(`/v1/contacts/${id}`, { key, method: "PATCH", body: { phone: marker } }),
    service().rest(`/v1/contacts/${id}/notes`, {
      key,
      body: { content: marker },
      headers: { "Idempotency-Key": `${marker}-2` },
    }),
    service().rest("/v1/sessions", {
      headers: {
        Authorization: `Basic ${marker}`,
        Cookie: `session=${marker}`,
        "X-Forwarded-For": marker,
        "User-Agent": marker,
        Referer: marker,
      },
    }),
    service().internalCall("records.ingest.v1.IngestService/UpsertContacts", {
      account_id: owner.id,
      contacts: [{ full_name: marker, external_id: marker, email: `${marker}@example.com` }],
    }),
    service().internalCall(
      "records.v1.ContactService/SearchContacts",
      { query: marker },
      { "records-account-id": marker },
    ),
    service().internalCall(`records.${marker}/Call`, {}),
    service().internalCall(
      "records.admin.v1.AccountService/CreateAccount",
      { email: `${marker}@example.com` },
      { Authorization: `Bearer ${marker}` },
    ),
    grpcCall(service().base, "records.v1.ContactService/SearchContacts", Buffer.from(`\x0a\x0a${marker}`), {
      authorization: `Bearer ${key}`,
    }),
    grpcCall(service().base, "records.v1.ContactService/SearchContacts", Buffer.from(marker), {
      authorization: `Bearer ${key}`,
    }),
    exchange(service().base, `GET /${marker} HTTP/1.1\r\nHost: ${marker}\r\nHost: b\r\n\r\n`),
    exchange(service().base, `POST /${marker} HTTP/1.1\r\nHost: a\r\nExpect: ${marker}\r\nContent-Length: 0\r\n\r\n`),
  ];
  await Promise.all(calls);
  await settled(before + calls.length + 1);
  const log = service().logLines.join("\n");
  for (const secret of [
    marker,
    key,
    unknown,
    key.slice(8),
    service().serviceToken,
    id,
    "555 0199",
    "Bearer",
    "Basic",
  ]) {
    expect(log.toLowerCase().includes(secret.toLowerCase()), secret).toBe(false);
  }
});
