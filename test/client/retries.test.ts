// What the client does when a call fails: which calls it repeats, after which wait, and which error it throws.
import { expect, test } from "vitest";
import type { RecordsClientOptions } from "../../client/src/index.ts";
import { RecordsClient } from "../../client/src/index.ts";
import type { TestClock } from "./scripted.ts";
import { respond, failure, reset, scripted, silence, testClock } from "./scripted.ts";

const id = "b5d7e64e-c92f-4439-bb41-1662fbfa63ea";
const created = respond(201, { data: { id } });
const found = respond(200, { data: [] });
const throttled = failure(429, "Too many requests.", { "Retry-After": "2" });
const away = failure(503, "MongoDB cannot respond.");

function clientOf(
  baseUrl: string,
  options: Partial<RecordsClientOptions> = {},
): { client: RecordsClient; clock: TestClock } {
  const clock = testClock();
  return {
    clock,
    client: new RecordsClient({
      baseUrl,
      apiKey: "rec_test",
      clock,
      fetch: clock.fetch,
      random: () => 0.5,
      ...options,
    }),
  };
}

test("after 429 it waits as long as Retry-After says and sends the same request with the same key", async () => {
  const { url, seen } = await scripted(throttled, throttled, created);
  const { client, clock } = clientOf(url);
  expect(await client.contacts.create({ full_name: "Ann" })).toEqual({ id });
  expect(clock.waited).toEqual([2_125, 2_125]);
  const keys = seen.map(({ headers }) => headers["idempotency-key"]);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(seen.map(({ body }) => body)).toEqual(Array(3).fill('{"full_name":"Ann"}'));
});

test("two creates have two keys, and a key that the caller sets is sent unchanged", async () => {
  const { url, seen } = await scripted(created);
  const { client } = clientOf(url);
  await client.contacts.create({ full_name: "Ann" });
  await client.contacts.create({ full_name: "Ann" });
  await client.contacts.create({ full_name: "Ann" }, { idempotencyKey: "order-42" });
  await client.contacts.appendNote(id, { content: "Called" }, { idempotencyKey: "call-7" });
  const [first, second, ...own] = seen.map(({ headers }) => headers["idempotency-key"]);
  expect(first).not.toBe(second);
  expect(own).toEqual(["order-42", "call-7"]);
});

test.each([
  ["a read", (client: RecordsClient) => client.contacts.search({ query: "ann" }), found],
  ["a create", (client: RecordsClient) => client.contacts.create({ full_name: "Ann" }), created],
  ["an append", (client: RecordsClient) => client.contacts.appendNote(id, { content: "Called" }), created],
])("repeats %s after 503, 502 and a broken connection, and doubles each wait", async (_name, call, success) => {
  const { url, seen } = await scripted(away, failure(502, "Bad gateway"), reset, success);
  const { client, clock } = clientOf(url);
  await call(client);
  expect(seen).toHaveLength(4);
  expect(clock.waited).toEqual([100, 200, 400]);
  expect(new Set(seen.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
});

test.each([
  ["503", away, { status: 503, code: "503" }],
  ["a broken connection", reset, { status: undefined, code: "unreachable" }],
])("does not repeat an update after %s: it may have been carried out", async (_name, step, error) => {
  const { url, seen } = await scripted(step, respond(200, { data: { id } }));
  const { client } = clientOf(url);
  await expect(client.contacts.update(id, { full_name: "Bo" })).rejects.toMatchObject({
    name: "RecordsError",
    ...error,
  });
  expect(seen).toHaveLength(1);
});

test("repeats an update after 429, which is returned before anything is done, and sends no key", async () => {
  const { url, seen } = await scripted(throttled, respond(200, { data: { id } }));
  const { client } = clientOf(url);
  await client.contacts.update(id, { email: null });
  expect(seen.map(({ method, url: path, body }) => [method, path, body])).toEqual(
    Array(2).fill(["PATCH", `/v1/contacts/${id}`, '{"email":null}']),
  );
  expect(seen[0]?.headers).not.toHaveProperty("idempotency-key");
});

test.each([400, 401, 403, 404, 405, 409, 422, 500])("does not retry after status %i", async (status) => {
  const { url, seen } = await scripted(failure(status, "No."), found);
  await expect(clientOf(url).client.contacts.search({ query: "ann" })).rejects.toMatchObject({
    status,
    message: "No.",
  });
  expect(seen).toHaveLength(1);
});

test("makes at most 10 attempts by default, which outlast an election of 12 seconds, and reports the last failure", async () => {
  const { url, seen } = await scripted(away);
  const { client, clock } = clientOf(url);
  await expect(client.health()).rejects.toMatchObject({ status: 503, message: "MongoDB cannot respond." });
  expect(seen).toHaveLength(10);
  expect(clock.waited.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(12_000);
  await expect(clientOf(url, { maxAttempts: 1 }).client.health()).rejects.toMatchObject({ status: 503 });
  expect(seen).toHaveLength(11);
});

test("does not wait for an attempt that would exceed the time limit of the call", async () => {
  const { url, seen } = await scripted(failure(429, "Too many requests.", { "Retry-After": "60" }), found);
  const { client, clock } = clientOf(url);
  await expect(client.sessions.list()).rejects.toMatchObject({ status: 429, retryAfter: 60 });
  expect([seen.length, clock.waited]).toEqual([1, []]);
});

test("gives up an attempt without a response after 10 seconds and repeats it, until the time limit of the call", async () => {
  const { url, seen } = await scripted(silence);
  const { client, clock } = clientOf(url, { maxAttempts: 9, timeout: 25_000 });
  const call = client.health();
  void call.catch(() => undefined);
  for (const attempt of [1, 2, 3]) {
    await expect.poll(() => seen.length).toBe(attempt);
    clock.pass(10_000);
  }
  await expect(call).rejects.toMatchObject({
    status: undefined,
    code: "timeout",
    message: "No response arrived within 4700 ms.",
  });
  expect(seen).toHaveLength(3);
  expect(clock.timers()).toBe(0);
});

test("a caller can end a call while it runs or waits, and gets the reason", async () => {
  const { url, seen } = await scripted(silence, throttled);
  const { client } = clientOf(url, { clock: { ...testClock(), after: () => () => undefined } });
  const running = new AbortController();
  const first = client.contacts.update(id, { full_name: "Ann" }, { signal: running.signal });
  void first.catch(() => undefined);
  await expect.poll(() => seen.length).toBe(1);
  running.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");

  const waiting = new AbortController();
  const second = client.contacts.create({ full_name: "Ann" }, { signal: waiting.signal });
  void second.catch(() => undefined);
  await expect.poll(() => seen.length).toBe(2);
  waiting.abort();
  await expect(second).rejects.toMatchObject({ name: "AbortError" });

  await expect(client.health({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  expect(seen).toHaveLength(2);
});

test("leaves no timer and no listener on the caller's signal after a call", async () => {
  const { url } = await scripted(away, found);
  const { client, clock } = clientOf(url);
  const { signal } = new AbortController();
  const listening = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  let added = 0;
  signal.addEventListener = (type: string, listener: (event: Event) => void) => {
    added++;
    listening.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: (event: Event) => void) => {
    listening.delete(listener);
    remove(type, listener);
  };
  await client.contacts.search({ query: "ann" }, { signal });
  expect([added, listening.size, clock.timers()]).toEqual([3, 0, 0]);
});
