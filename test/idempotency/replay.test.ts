// One key, one write: what is replayed, how exactly, and what a key does not cover.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { RestResponse } from "../fixtures/service/service.ts";
import { archive, recordsOf } from "../fixtures/records/stored.ts";
import { repeated, useKeyedRequests } from "./keyed.ts";

const { service, other, redis, create, append } = useKeyedRequests();

test("two equal requests without a key write twice [IDM-01]", async () => {
  const account = await service().account();
  const first = await create(account, undefined, { full_name: "Twice" });
  const second = await create(account, undefined, { full_name: "Twice" });
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.body.data.id).not.toBe(second.body.data.id);
  for (const response of [first, second]) expect(response.headers.has("idempotent-replayed")).toBe(false);
  await append(account, undefined, first.body.data.id, "again");
  await append(account, undefined, first.body.data.id, "again");
  expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 2, notes: 2, claims: 0 });
});

test.each([
  ["one character", "k"],
  ["the first and the last allowed character", "!~"],
  ["128 characters", "x".repeat(128)],
  ["characters with a meaning elsewhere", "$a.b/\"c\\;,{}%00'"],
])("a key of %s is accepted and replays [IDM-02, IDM-03, IDM-04]", async (_name, key) => {
  const account = await service().account();
  const first = await create(account, key, { full_name: "Kim" });
  const second = await create(account, key, { full_name: "Kim" }, other());
  expect([first.status, second.status, second.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"]);
  expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test.each(["from Redis", "from MongoDB"])(
  "a replay %s repeats status, body and headers byte for byte, on every instance, with a request id of its own [IDM-05, IDM-06]",
  async (source) => {
    const account = await service().account();
    const body = { full_name: "Zoë 🙂 \u0000 Ünal", email: "Zoe@Example.com", phone: "+49 30 1234" };
    const made = await create(account, "k", body);
    const { id } = made.body.data;
    const note = await append(account, "n", id, "  a\nnote  ");
    expect([made.headers.get("location"), note.headers.get("location")]).toEqual([`/v1/contacts/${id}`, null]);
    for (const at of [service(), other()]) {
      if (source === "from MongoDB") await redis().flushall();
      const headers = { "Idempotency-Key": "k", "X-Request-Id": `of-${at.base.slice(-5)}` };
      const again = await at.rest("/v1/contacts", { key: account.key, body, headers });
      expect(repeated(again)).toEqual(repeated(made));
      expect([again.headers.get("idempotent-replayed"), again.headers.get("x-request-id")]).toEqual([
        "true",
        headers["X-Request-Id"],
      ]);
      const noted = await at.rest(`/v1/contacts/${id}/notes`, {
        key: account.key,
        body: { content: "  a\nnote  " },
        headers: { "Idempotency-Key": "n" },
      });
      expect(repeated(noted)).toEqual(repeated(note));
      expect(noted.headers.get("idempotent-replayed")).toBe("true");
    }
    expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 1, claims: 2 });
  },
);

test.each([true, false])(
  "replays the first response after the contact was changed and archived; Redis flushed: %s [IDM-07, IDM-20]",
  async (flushed) => {
    const account = await service().account();
    const made = await create(account, "k", { full_name: "Before", email: "before@example.com" });
    const { id } = made.body.data;
    const noted = await append(account, "n", id, "kept");
    const changed = await service().rest(`/v1/contacts/${id}`, {
      method: "PATCH",
      key: account.key,
      body: { full_name: "After", email: null },
    });
    expect(changed.status).toBe(200);
    if (flushed) await redis().flushall();
    expect(repeated(await create(account, "k", { full_name: "Before", email: "before@example.com" }))).toEqual(
      repeated(made),
    );
    await archive(service().app.client, id);
    if (flushed) await redis().flushall();
    expect(repeated(await create(account, "k", { full_name: "Before", email: "before@example.com" }))).toEqual(
      repeated(made),
    );
    expect(repeated(await append(account, "n", id, "kept"))).toEqual(repeated(noted));
    expect((await append(account, "new", id, "kept")).status).toBe(409);
    expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 1, claims: 2 });
  },
);

test("a create whose email another contact has taken since replays the first response, not 409 [IDM-07]", async () => {
  const account = await service().account();
  const made = await create(account, "k", { full_name: "Early", email: "one@example.com" });
  await archive(service().app.client, made.body.data.id);
  expect((await create(account, undefined, { full_name: "Late", email: "one@example.com" })).status).toBe(201);
  await redis().flushall();
  expect(repeated(await create(account, "k", { full_name: "Early", email: "one@example.com" }))).toEqual(
    repeated(made),
  );
});

test("whitespace, property order, escapes, null for an absent value and the case of the path's id do not change the request [IDM-08]", async () => {
  const account = await service().account();
  const spellings = [
    `{"full_name":"Ana","email":"a@example.com"}`,
    `{ "email" : "a@example.com",\n "full_name" : "Ana" }`,
    `{"full_name":"Ana","email":"a@example.com","phone":null}`,
    `{"full_name":"\\u0041na","email":"a@example\\u002ecom"}`,
  ];
  const texts = [];
  for (const raw of spellings) {
    const response = await service().rest("/v1/contacts", {
      key: account.key,
      raw,
      headers: { "Idempotency-Key": "k" },
    });
    expect(response.status, raw).toBe(201);
    texts.push(response.text);
  }
  expect(new Set(texts).size).toBe(1);
  const { id } = JSON.parse(texts[0] ?? "").data;
  const noted = await append(account, "n", id, "x");
  expect((await append(account, "n", id.toUpperCase(), "x")).text).toBe(noted.text);
  expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 1, claims: 2 });
});

test.each([true, false])(
  "another body, operation or path under the same key is 409, and nothing is written; Redis flushed: %s [IDM-10]",
  async (flushed) => {
    const account = await service().account();
    const contact = (await create(account, "c", { full_name: "Ana", email: "ana@example.com" })).body.data;
    const second = (await create(account, "d", { full_name: "Bob" })).body.data;
    await append(account, "n", contact.id, "first");
    const attempts: (() => Promise<RestResponse>)[] = [
      () => create(account, "c", { full_name: "Ann", email: "ana@example.com" }),
      () => create(account, "c", { full_name: "Ana" }),
      () => create(account, "c", { full_name: "Ana", email: "ana@example.com", phone: "+1 555" }),
      () => create(account, "c", { full_name: "Ana", email: "Ana@example.com" }),
      () => create(account, "n", { full_name: "first" }),
      () => append(account, "c", contact.id, "first"),
      () => append(account, "n", contact.id, "first "),
      () => append(account, "n", second.id, "first"),
    ];
    for (const attempt of attempts) {
      if (flushed) await redis().flushall();
      const response = await attempt();
      expect([response.status, response.body.error.code]).toEqual([409, "409"]);
      expect(response.headers.has("idempotent-replayed")).toBe(false);
    }
    expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 2, notes: 1, claims: 3 });
  },
);

test("a 4xx response frees the key, for the same request and for another [IDM-12]", async () => {
  const account = await service().account();
  const taken = (await create(account, undefined, { full_name: "Holder", email: "held@example.com" })).body.data;
  expect((await create(account, "a", { full_name: "" })).status).toBe(422);
  expect((await create(account, "a", { full_name: "New", email: "HELD@example.com" })).status).toBe(409);
  await service().rest(`/v1/contacts/${taken.id}`, { method: "PATCH", key: account.key, body: { email: null } });
  const made = await create(account, "a", { full_name: "New", email: "HELD@example.com" });
  expect([made.status, made.headers.has("idempotent-replayed")]).toEqual([201, false]);
  const id = randomUUID();
  expect((await append(account, "b", id, "x")).status).toBe(404);
  expect((await append(account, "b", taken.id, "x")).status).toBe(201);
  await archive(service().app.client, taken.id);
  expect((await append(account, "c", taken.id, "y")).status).toBe(409);
  expect((await create(account, "c", { full_name: "Third" })).status).toBe(201);
  expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 3, notes: 1, claims: 3 });
});

test("a 503 response because writes are paused frees the key [IDM-12]", async () => {
  const account = await service().account();
  const pause = (enabled: boolean) =>
    service().internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled, reason: "test" });
  await pause(false);
  const rejected = await create(account, "p", { full_name: "Ana" });
  await pause(true);
  // The other instance may have seen the pause, and learns within a second that it is over.
  await expect
    .poll(() => create(account, undefined, { full_name: "Any" }, other()).then(({ status }) => status), {
      timeout: 5_000,
    })
    .toBe(201);
  const made = await create(account, "p", { full_name: "Bea" });
  expect([rejected.status, made.status, made.body.data.full_name]).toEqual([503, 201, "Bea"]);
});

test("the 403 of a read-only key stores nothing of the idempotency key [IDM-12]", async () => {
  const account = await service().account("read_only");
  expect((await create(account, "r", { full_name: "Ana" })).status).toBe(403);
  expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 0, notes: 0, claims: 0 });
  expect(await redis().keys(`idempotency:${account.id}:*`)).toEqual([]);
});

test.each([true, false])(
  "a new API key of the account replays what the old one wrote; Redis flushed: %s [IDM-13]",
  async (flushed) => {
    const account = await service().account();
    const made = await create(account, "k", { full_name: "Ana" });
    const { apiKeys, accounts } = service().app.services;
    const { _id } =
      (await accounts.list(10_000, 0, undefined)).find((one) => one._id.toHexString() === account.id) ??
      expect.fail("no account");
    await apiKeys.revoke(_id);
    const { secret } = await apiKeys.create(_id, "read_write");
    if (flushed) await redis().flushall();
    expect((await create(account, "k", { full_name: "Ana" })).status).toBe(401);
    const again = await create({ ...account, key: secret }, "k", { full_name: "Ana" }, other());
    expect(repeated(again)).toEqual(repeated(made));
    expect((await create({ ...account, key: secret }, "k", { full_name: "Bea" })).status).toBe(409);
  },
);

test("GET and PATCH ignore the header, whatever its value [IDM-14]", async () => {
  const account = await service().account();
  const { id } = (await create(account, "k", { full_name: "Ana" })).body.data;
  const patch = (full_name: string, key: string) =>
    service().rest(`/v1/contacts/${id}`, {
      method: "PATCH",
      key: account.key,
      body: { full_name },
      headers: { "Idempotency-Key": key },
    });
  const names = [
    await patch("Bea", "k"),
    await patch("Cleo", "k"),
    await patch("Cleo", "not a key"),
    await patch("Dora", "x".repeat(500)),
  ];
  expect(names.map(({ status, body }) => [status, body.data.full_name])).toEqual([
    [200, "Bea"],
    [200, "Cleo"],
    [200, "Cleo"],
    [200, "Dora"],
  ]);
  for (const response of names) expect(response.headers.has("idempotent-replayed")).toBe(false);
  const got = await service().rest(`/v1/contacts/${id}`, {
    key: account.key,
    headers: { "Idempotency-Key": "not a key" },
  });
  expect([got.status, got.body.data.full_name]).toEqual([200, "Dora"]);
  expect((await recordsOf(service().app.client, account)).claims).toBe(1);
});

test("two accounts use the same key independently [ISO-06]", async () => {
  const [one, two] = [await service().account(), await service().account()];
  const first = await create(one, "same", { full_name: "Ana" });
  const second = await create(two, "same", { full_name: "Ana" });
  const third = await create(two, "same", { full_name: "Bea" });
  expect([first.status, second.status, third.status]).toEqual([201, 201, 409]);
  expect(first.body.data.id).not.toBe(second.body.data.id);
  expect((await create(one, "same", { full_name: "Ana" })).text).toBe(first.text);
  for (const account of [one, two])
    expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});
