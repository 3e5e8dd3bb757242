// The four operations on the API key: what they return, and in what state (contract §7.2 to §7.4).
import { expect, test } from "vitest";
import { counts, useService } from "../support/client.ts";
import { newUser } from "../support/user.ts";
import type { RestResponse } from "../fixtures/service/service.ts";

const service = useService();
const secretForm = /^rec_[0-9A-Za-z]{49}$/;
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const timestampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const valid = async (key: string): Promise<number> => (await service().rest("/v1/contacts?query=ann", { key })).status;

function expectIssued({ status, body, headers }: RestResponse, access: string): void {
  expect(status).toBe(201);
  expect(Object.keys(body)).toEqual(["data"]);
  expect(Object.keys(body.data).sort()).toEqual(["access", "created_at", "id", "key", "prefix"]);
  expect(body.data).toMatchObject({
    id: expect.stringMatching(uuidForm),
    key: expect.stringMatching(secretForm),
    access,
    created_at: expect.stringMatching(timestampForm),
  });
  expect(body.data.prefix).toBe(body.data.key.slice(0, 8));
  expect(headers.get("cache-control")).toBe("no-store");
}

test("creating a key returns 201 with exactly its id, secret, prefix, access and time, and the key works [KEY-04]", async () => {
  const user = await newUser(service());
  const created = await user.call("/v1/api-key", { method: "POST" });
  expectIssued(created, "read_write");
  expect(await valid(created.body.data.key)).toBe(200);
});

test.each([
  ["no body", {}, "read_write"],
  ["an empty object", { body: {} }, "read_write"],
  ["read_write", { body: { access: "read_write" } }, "read_write"],
  ["read_only", { body: { access: "read_only" } }, "read_only"],
])("a key is created with %s [KEY-05]", async (_name, call, access) => {
  const user = await newUser(service());
  const created = await user.call("/v1/api-key", { method: "POST", ...call });
  expectIssued(created, access);
  const write = await service().rest("/v1/contacts", { key: created.body.data.key, body: { full_name: "Bo" } });
  expect(write.status).toBe(access === "read_only" ? 403 : 201);
});

test.each([
  ["another access", { body: { access: "admin" } }, "access"],
  ["the access in upper case", { body: { access: "READ_ONLY" } }, "access"],
  ["an unset access", { body: { access: "unspecified" } }, "access"],
  ["a number", { body: { access: 1 } }, "access"],
  // It must not give more rights than the caller meant.
  ["a null access", { body: { access: null } }, "access"],
  ["an unknown property", { body: { acces: "read_only" } }, "acces"],
  ["an array", { body: [] }, ""],
  ["text that is not JSON", { raw: "access=read_only" }, ""],
])("a body with %s is 422 and creates nothing [KEY-05]", async (_name, call, field) => {
  const user = await newUser(service());
  const before = await counts(service());
  for (const path of ["/v1/api-key", "/v1/api-key/rotate"]) {
    const rejected = await user.call(path, { method: "POST", ...call });
    expect(rejected.status).toBe(422);
    expect(rejected.body.error.details[0].field).toBe(field);
  }
  expect(await counts(service())).toEqual(before);
});

test("an account has one active key: a second creation is 409 and leaves the first [KEY-06]", async () => {
  const user = await newUser(service());
  const { body } = await user.call("/v1/api-key", { method: "POST" });
  const again = await user.call("/v1/api-key", { method: "POST", body: { access: "read_only" } });
  expect(again.status).toBe(409);
  expect(again.body.error).toEqual({
    code: "409",
    message: "The account already has an API key. Rotate it, or revoke it first.",
    reason: "API_KEY_EXISTS",
  });
  expect(await valid(body.data.key)).toBe(200);
});

test("exactly one of twenty creations at once on two instances succeeds [KEY-06]", async () => {
  const user = await newUser(service());
  const other = await service().another();
  try {
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        user.call("/v1/api-key", { method: "POST" }, at % 2 === 0 ? service() : other),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    const key = responses.find(({ status }) => status === 201)?.body.data.key as string;
    expect(await valid(key)).toBe(200);
  } finally {
    await other.stop();
  }
});

test("getting the key returns exactly its id, prefix, access and times, and never the secret [KEY-11, KEY-07]", async () => {
  const user = await newUser(service());
  const { key, id, prefix, created_at } = (
    await user.call("/v1/api-key", { method: "POST", body: { access: "read_only" } })
  ).body.data;
  const shown = await user.call("/v1/api-key");
  expect(shown.status).toBe(200);
  expect(shown.body).toEqual({ data: { id, prefix, access: "read_only", created_at, last_used_at: null } });
  await valid(key);
  const used = await user.call("/v1/api-key");
  expect(used.body.data.last_used_at).toMatch(timestampForm);
  for (const response of [shown, used, await user.call("/v1/audit-log")]) expect(response.text).not.toContain(key);
});

test("rotating returns 201 in the same shape and keeps the access unless the body sets it [KEY-08]", async () => {
  const user = await newUser(service());
  const first = (await user.call("/v1/api-key", { method: "POST", body: { access: "read_only" } })).body.data;
  const second = await user.call("/v1/api-key/rotate", { method: "POST" });
  expectIssued(second, "read_only");
  const third = await user.call("/v1/api-key/rotate", { method: "POST", body: { access: "read_write" } });
  expectIssued(third, "read_write");
  expect(new Set([first.id, second.body.data.id, third.body.data.id]).size).toBe(3);
  expect([await valid(first.key), await valid(second.body.data.key), await valid(third.body.data.key)]).toEqual([
    401, 401, 200,
  ]);
});

test("revoking returns 200 with exactly the id and the time; the key then gets 401 [KEY-10]", async () => {
  const user = await newUser(service());
  const { key, id } = (await user.call("/v1/api-key", { method: "POST" })).body.data;
  const revoked = await user.call("/v1/api-key", { method: "DELETE" });
  expect(revoked.status).toBe(200);
  expect(revoked.body).toEqual({ data: { id, revoked_at: expect.stringMatching(timestampForm) } });
  expect(await valid(key)).toBe(401);
  expectIssued(await user.call("/v1/api-key", { method: "POST" }), "read_write");
});

test.each([
  ["GET", "/v1/api-key"],
  ["DELETE", "/v1/api-key"],
  ["POST", "/v1/api-key/rotate"],
])(
  "%s %s without an active key is 404, before the first one and after its revocation [KEY-12]",
  async (method, path) => {
    const user = await newUser(service());
    const missing = {
      code: "404",
      message: "The account has no API key. Create one on the dashboard.",
      reason: "NO_API_KEY",
    };
    expect((await user.call(path, { method })).body.error).toEqual(missing);
    await user.call("/v1/api-key", { method: "POST" });
    await user.call("/v1/api-key", { method: "DELETE" });
    const after = await user.call(path, { method });
    expect([after.status, after.body.error]).toEqual([404, missing]);
  },
);

test("rotates and revokes the key that the request names; any id but that of the active key is 404 and changes nothing [KEY-12]", async () => {
  const [user, stranger] = [await newUser(service()), await newUser(service())];
  const issue = async (path: string, body: object) => (await user.call(path, { method: "POST", body })).body.data;
  const old = await issue("/v1/api-key", {});
  const active = await issue("/v1/api-key/rotate", { id: old.id });
  const { id: foreign } = (await stranger.call("/v1/api-key", { method: "POST" })).body.data;
  for (const id of [old.id, foreign]) {
    for (const gone of [
      await user.call("/v1/api-key/rotate", { method: "POST", body: { id } }),
      await user.call(`/v1/api-key?id=${id}`, { method: "DELETE" }),
    ])
      expect([gone.status, gone.body.error.message]).toEqual([
        404,
        "The account has no active API key with this id. Get the current key first.",
      ]);
  }
  for (const wrong of [
    await user.call("/v1/api-key/rotate", { method: "POST", body: { id: "x" } }),
    await user.call("/v1/api-key?id=x", { method: "DELETE" }),
  ])
    expect([wrong.status, wrong.body.error.details[0].field]).toEqual([422, "id"]);
  expect([await valid(old.key), await valid(active.key)]).toEqual([401, 200]);
  const revoked = await user.call(`/v1/api-key?id=${active.id.toUpperCase()}`, { method: "DELETE" });
  expect([revoked.status, revoked.body.data.id, await valid(active.key)]).toEqual([200, active.id, 401]);
});

test("HEAD and OPTIONS are served as on every other path", async () => {
  const user = await newUser(service());
  await user.call("/v1/api-key", { method: "POST" });
  expect(await user.call("/v1/api-key", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  expect((await user.call("/v1/api-key", { method: "OPTIONS" })).headers.get("allow")).toBe(
    "GET, HEAD, POST, DELETE, OPTIONS",
  );
  expect(await user.call("/v1/api-key", { method: "PATCH", body: {} })).toMatchObject({ status: 405 });
});

test("writes the times of use at most once a minute, whatever the load", async () => {
  const user = await newUser(service());
  const { key } = (await user.call("/v1/api-key", { method: "POST" })).body.data;
  await valid(key);
  const first = (await user.call("/v1/api-key")).body.data.last_used_at;
  for (let use = 0; use < 5; use++) await valid(key);
  expect((await user.call("/v1/api-key")).body.data.last_used_at).toBe(first);
});
