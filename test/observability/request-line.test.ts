// The line of a request explains where its time went and who sent it.
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { exportAll, importAll } from "../support/streams.ts";
import { above, lineOf, linesOf } from "./request-lines.ts";

vi.setConfig({ testTimeout: 60_000 });

const service = useService();
let owner: TestAccount;
let token: string;

beforeAll(async () => {
  owner = await service().account();
  token = createHash("sha256").update(service().serviceToken).digest("hex").slice(0, 8);
});

describe("the cost of a request", () => {
  test("has the commands of a search, its time in MongoDB and in Redis, and the records in the response [OPS-25]", async () => {
    await ingestInto(service(), owner.id).contacts({ full_name: "Ann Lee" }, { full_name: "Ann Poe" });
    await service().rest("/v1/contacts?query=ann", { key: owner.key });
    const id = randomUUID();
    const { body } = await service().rest("/v1/contacts?query=ann", {
      key: owner.key,
      headers: { "X-Request-Id": id },
    });
    const line = await lineOf(id, service());
    expect(line).toMatchObject({
      db_commands: 1,
      db_ms: above(0),
      redis_ms: above(0),
      rows: (body.data as unknown[]).length,
    });
    expect(line["rows"]).toBe(2);
    expect(Number(line["db_ms"]) + Number(line["redis_ms"])).toBeLessThanOrEqual(Number(line["ms"]) + 1);
  });

  test("has each command of a transaction [OPS-25]", async () => {
    const id = randomUUID();
    await service().rest("/v1/contacts", {
      key: owner.key,
      body: { full_name: "Bo Day" },
      headers: { "X-Request-Id": id, "Idempotency-Key": randomUUID() },
    });
    // The key's look-up, the claim, the contact and the commit.
    expect(await lineOf(id, service())).toMatchObject({ status: 201, db_commands: 4, db_ms: above(0) });
  });

  test("has the time that a request waits for a slot [OPS-25]", async () => {
    const narrow = await service().another({ MAX_IN_FLIGHT: "1" });
    try {
      await narrow.rest("/v1/contacts?query=ann", { key: owner.key });
      await Promise.all(Array.from({ length: 20 }, () => narrow.rest("/v1/contacts?query=ann", { key: owner.key })));
      const [waited] = await linesOf((line) => Number(line["queue_ms"]) > 0, narrow);
      expect(waited).toMatchObject({ status: 200, route: "/v1/contacts" });
    } finally {
      await narrow.stop();
    }
  });
});

test("a client that closes the connection once it has its rejection is logged with that status [OPS-25, ERR-08]", async () => {
  const id = randomUUID();
  const socket = connect(Number(new URL(service().base).port), "127.0.0.1");
  const headers = [
    `Authorization: Bearer ${owner.key}`,
    `X-Request-Id: ${id}`,
    "Content-Type: text/plain",
    "Content-Length: 9",
    "Expect: 100-continue",
  ];
  socket.write(`POST /v1/contacts HTTP/1.1\r\nHost: a\r\n${headers.join("\r\n")}\r\n\r\n`);
  const [received] = (await once(socket, "data")) as [Buffer];
  expect(received.toString()).toMatch(/^HTTP\/1.1 422 .*"}]}}$/s);
  socket.destroy();
  expect(await lineOf(id, service())).toMatchObject({ status: 422, route: "/v1/contacts" });
});

describe("the caller in the line", () => {
  test("is the client's address for a public request [OPS-25]", async () => {
    const id = randomUUID();
    await service().rest("/v1/health", { headers: { "X-Request-Id": id } });
    expect(await lineOf(id, service())).toMatchObject({ address: "127.0.0.1" });
  });

  test.each([
    ["truncated", "198.51.100.0/24", "2001:db8:1::/48"],
    ["none", undefined, undefined],
    ["full", "198.51.100.7", "2001:db8:1:2::3"],
  ])("with LOG_ADDRESSES=%s is an address as %s and %s [OPS-25]", async (setting, ipv4, ipv6) => {
    const proxied = await service().another({ LOG_ADDRESSES: setting, TRUST_PROXY: "1" });
    try {
      for (const [sent, shown] of [
        ["198.51.100.7", ipv4],
        ["2001:db8:1:2::3", ipv6],
      ] as const) {
        const id = randomUUID();
        await proxied.rest("/v1/health", { headers: { "X-Request-Id": id, "X-Forwarded-For": sent } });
        expect((await lineOf(id, proxied))["address"]).toBe(shown);
      }
      expect(proxied.logLines.join("").includes("198.51.100.7")).toBe(setting === "full");
    } finally {
      await proxied.stop();
    }
  });

  test.each([
    ["records.admin.v1.AccountService/GetAccount", () => ({ account_id: owner.id }), {}],
    ["records.admin.v1.AccountService/SetBetaEnrolment", () => ({ account_id: owner.id, enrolled: true }), {}],
    [
      "records.ingest.v1.IngestService/ArchiveContacts",
      () => ({ account_id: owner.id, contact_ids: [randomUUID()] }),
      {},
    ],
    ["records.v1.ContactService/SearchContacts", () => ({ query: "ann" }), { "records-account-id": "owner" }],
  ])("is the service token and the account for an internal call of %s [OPS-25]", async (rpc, message, headers) => {
    const id = randomUUID();
    const named = Object.fromEntries(Object.keys(headers).map((name) => [name, owner.id]));
    await service().internalCall(rpc, message(), { ...named, "X-Request-Id": id });
    expect(await lineOf(id, service())).toMatchObject({
      listener: "internal",
      service_token: token,
      account: owner.id,
      address: "127.0.0.1",
    });
  });

  test("includes the account that a call creates, and the account of a key that a call revokes [OPS-25]", async () => {
    const [creation, revocation] = [randomUUID(), randomUUID()];
    const { body } = await service().internalCall(
      "records.admin.v1.AccountService/CreateAccount",
      { email: `${randomUUID()}@example.com` },
      { "X-Request-Id": creation },
    );
    expect(await lineOf(creation, service())).toMatchObject({ account: body.account.id });
    const { id, key } = await service().account();
    await service().internalCall(
      "records.admin.v1.AccountService/RevokeApiKey",
      { key: key.slice(0, 8), reason: "a test" },
      { "X-Request-Id": revocation },
    );
    expect(await lineOf(revocation, service())).toMatchObject({ account: id });
  });

  test("is only the service token for an internal call without an account, and never a wrong token [OPS-25]", async () => {
    const [right, wrong] = [randomUUID(), randomUUID()];
    await service().internalCall("records.admin.v1.InterfaceService/GetState", {}, { "X-Request-Id": right });
    await service().internalCall(
      "records.admin.v1.InterfaceService/GetState",
      {},
      { "X-Request-Id": wrong, Authorization: "Bearer wrong" },
    );
    expect(await lineOf(right, service())).toMatchObject({ service_token: token });
    expect(await lineOf(right, service())).not.toHaveProperty("account");
    expect(await lineOf(wrong, service())).not.toHaveProperty("service_token");
  });

  test("is the service token and the account for an import and an export, with the number of records [OPS-25]", async () => {
    const { id } = await service().account();
    await importAll(service(), {
      accountId: id,
      records: [{ contact: { full_name: "Ann" } }, { contact: { full_name: "Bo" } }, { contact: { full_name: "Cy" } }],
    });
    await exportAll(service(), id);
    const lines = await linesOf(({ account, rpc }) => account === id && String(rpc).endsWith("port"), service());
    await until(
      async () =>
        (await linesOf(({ account, rpc }) => account === id && String(rpc).endsWith("port"), service())).length === 2,
      AbortSignal.timeout(5_000),
    );
    for (const line of await linesOf(({ account }) => account === id, service()))
      expect(line).toMatchObject({ service_token: token, rows: 3, db_ms: above(0) });
    expect(lines.length).toBeGreaterThan(0);
  });
});
