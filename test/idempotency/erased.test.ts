// Deleting a record erases the responses that are stored for its idempotency keys.
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient } from "../support/client.ts";
import type { RestResponse, TestService } from "../fixtures/service/service.ts";
import { recordsOf } from "../fixtures/records/stored.ts";
import { useTwoInstances } from "./two-instances.ts";

const { service, other, redis } = useTwoInstances();

const secret = "Erased Person";

function create(client: Client, key: string, full_name = secret, at: TestService = service()): Promise<RestResponse> {
  return at.rest("/v1/contacts", { key: client.key, body: { full_name }, headers: { "Idempotency-Key": key } });
}

function append(client: Client, key: string, contactId: string, content = secret): Promise<RestResponse> {
  return client.post(`/v1/contacts/${contactId}/notes`, { content }, { "Idempotency-Key": key });
}

async function remove(client: Client, names: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const { body } = await service().internalCall("records.ingest.v1.IngestService/DeleteRecords", {
    account_id: client.id,
    ...names,
  });
  for (const { error } of body.results as { error?: unknown }[]) expect(error).toBeUndefined();
}

/** Everything that is kept in Redis for the keys of an account. */
async function keptInRedis(client: Client): Promise<string> {
  const names = await redis().keys(`idempotency:${client.id}:*`);
  const values = (await Promise.all(names.map((name) => redis().get(name)))).map((value) => value ?? "");
  const decoded = values.map((value) =>
    value
      .split(",")
      .map((part) => Buffer.from(part, "base64").toString())
      .join(),
  );
  return [...values, ...decoded].join("\n");
}

/** Everything that is kept for the keys of an account, in MongoDB and in Redis. */
async function kept(client: Client): Promise<string> {
  const claims = await service()
    .app.client.db()
    .collection("idempotency")
    .find({ "_id.account_id": new UUID(client.id) })
    .toArray();
  const binary = claims.map(({ message }) => Buffer.from((message as { buffer: Uint8Array }).buffer).toString());
  return [JSON.stringify(claims), ...binary, await keptInRedis(client)].join("\n");
}

const deletedMessage =
  "The record of this Idempotency-Key was deleted after the first request. Use a new key to create another record.";

test("deleting a contact erases its stored responses; its keys then return 404 on every instance and create nothing [IDM-21, IDM-22]", async () => {
  const client = await newClient(service());
  const { id } = (await create(client, "c")).body.data;
  const note = await append(client, "n", id);
  expect([note.status, (await create(client, "other", "Someone else")).status]).toEqual([201, 201]);
  expect(await kept(client)).toContain(secret);
  await expect.poll(() => keptInRedis(client)).toContain(secret);
  await remove(client, { contact_ids: [id] });
  expect(await kept(client)).not.toContain(secret);
  expect(await kept(client)).not.toContain(note.body.data.id);
  for (const at of [service(), other()]) {
    for (const again of [await create(client, "c", secret, at), await create(client, "c", secret, at)]) {
      expect([again.status, again.body.error, again.headers.get("idempotent-replayed")]).toEqual([
        404,
        { code: "404", message: deletedMessage, reason: "NOT_FOUND" },
        null,
      ]);
    }
  }
  expect((await append(client, "n", id)).body.error.message).toBe(deletedMessage);
  expect((await create(client, "c", "Another")).status).toBe(409);
  expect((await create(client, "other", "Someone else")).headers.get("idempotent-replayed")).toBe("true");
  expect(await recordsOf(service().app.client, client)).toEqual({ contacts: 1, notes: 0, claims: 3 });
});

test("deleting a note erases only its own response [IDM-21]", async () => {
  const client = await newClient(service());
  const { id } = (await create(client, "c", "Ann")).body.data;
  const note = (await append(client, "n", id)).body.data;
  await append(client, "m", id, "another");
  await remove(client, { note_ids: [note.id] });
  expect(await kept(client)).not.toContain(secret);
  expect((await append(client, "n", id)).status).toBe(404);
  expect((await append(client, "m", id, "another")).headers.get("idempotent-replayed")).toBe("true");
  expect((await create(client, "c", "Ann")).headers.get("idempotent-replayed")).toBe("true");
});

test("archiving a contact keeps its stored responses [IDM-07]", async () => {
  const client = await newClient(service());
  const { id } = (await create(client, "c")).body.data;
  await client.put.archive(id);
  expect((await create(client, "c")).headers.get("idempotent-replayed")).toBe("true");
});

test("erases stored responses of the previous release, which do not name their records [IDM-21]", async () => {
  const client = await newClient(service());
  const { id } = (await create(client, "c")).body.data;
  await append(client, "n", id);
  await create(client, "other", "Someone else");
  await service()
    .app.client.db()
    .collection("idempotency")
    .updateMany({ "_id.account_id": new UUID(client.id) }, { $unset: { records: "" } });
  await redis().flushall();
  await remove(client, { contact_ids: [id] });
  expect(await kept(client)).not.toContain(secret);
  expect([(await create(client, "c")).status, (await append(client, "n", id)).status]).toEqual([404, 404]);
  expect((await create(client, "other", "Someone else")).status).toBe(201);
});

test("does not keep a response in Redis whose record is deleted while Redis stores it [IDM-21, IDM-22]", async () => {
  const client = await newClient(service());
  for (let round = 0; round < 10; round++) {
    const { id } = (await create(client, `k${round}`)).body.data;
    await redis().del(`idempotency:${client.id}:k${round}`);
    // Replays read the response from MongoDB and store it in Redis during the deletion.
    const [, ...replays] = await Promise.all([
      remove(client, { contact_ids: [id] }),
      create(client, `k${round}`),
      create(client, `k${round}`, secret, other()),
    ]);
    for (const { status } of replays) expect([201, 404]).toContain(status);
    expect((await create(client, `k${round}`)).status).toBe(404);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await kept(client)).not.toContain(secret);
  expect((await recordsOf(service().app.client, client)).contacts).toBe(0);
});

test("a create happens once, even if it is retried while its record is deleted [IDM-22]", async () => {
  const client = await newClient(service());
  const seen = new Set<string>();
  for (let round = 0; round < 10; round++) {
    const repeat = async (): Promise<void> => {
      const { status, body } = await create(
        client,
        `r${round}`,
        `${secret} ${round}`,
        Math.random() < 0.5 ? service() : other(),
      );
      if (status === 201) seen.add(`${round} ${body.data.id}`);
      else expect(status).toBe(404);
    };
    const deleteIt = async (): Promise<void> => {
      const { body } = await create(client, `r${round}`, `${secret} ${round}`);
      seen.add(`${round} ${body.data.id}`);
      await remove(client, { contact_ids: [body.data.id] });
    };
    await Promise.all([deleteIt(), repeat(), repeat(), repeat()]);
  }
  expect(seen.size).toBe(10);
  expect((await recordsOf(service().app.client, client)).contacts).toBe(0);
});

test.each(["garbage", "[1,2,3]", "{}", '["AAAA","AAAA","{}"]', '["AAAA","AAAA","{}","AAAA"]', "null", ""])(
  "a foreign value in Redis counts as absent: %s [IDM-23]",
  async (value) => {
    const client = await newClient(service());
    await redis().set(`idempotency:${client.id}:g`, value);
    const first = await create(client, "g", "Ann");
    await redis().set(`idempotency:${client.id}:g`, value);
    const again = await create(client, "g", "Ann");
    expect([first.status, again.status, again.headers.get("idempotent-replayed"), again.text]).toEqual([
      201,
      201,
      "true",
      first.text,
    ]);
    // The response replaces it.
    await expect.poll(() => redis().get(`idempotency:${client.id}:g`)).not.toBe(value);
  },
);

test("a value of another type counts as absent, and Redis as available [IDM-23]", async () => {
  const client = await newClient(service());
  await redis().rpush(`idempotency:${client.id}:g`, "garbage");
  expect((await create(client, "g", "Ann")).status).toBe(201);
  expect((await create(client, "g", "Ann")).headers.get("idempotent-replayed")).toBe("true");
  await expect.poll(() => redis().type(`idempotency:${client.id}:g`)).toBe("string");
});
