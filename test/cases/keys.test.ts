// Authentication: invalid credentials on every record endpoint and wire, and the rights of a key.
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { counts, newClient, useService } from "../support/client.ts";
import { newOwner, reads, writes } from "../support/every.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { startService } from "../fixtures/service/service.ts";
import type { Wire } from "../fixtures/clients/wires.ts";
import { openWires } from "../fixtures/clients/wires.ts";

const service = useService();
let wires: readonly Wire[];
let close: () => void;
beforeAll(() => void ({ wires, close } = openWires(service())));
afterAll(() => close());

/** A well-formed key with a correct checksum that was never issued. */
const unknownKey = "rec_00000000000000000000000000000000000000000000XXXXXX";

test("every record endpoint without a credential is 401 with WWW-Authenticate: Bearer, in the envelope [AUT-01, AUT-02, CSR-02, CGT-02, CCR-03, CUP-02, CNT-04, SLS-02, SGT-02, STR-02, NOT-02]", async () => {
  const owner = await newOwner(service());
  const before = await counts(service());
  for (const { path, method, body } of [...reads(owner), ...writes(owner)]) {
    const response = await service().rest(path, { method, body });
    expect(response.status, `${method} ${path}`).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.body).toEqual({
      error: {
        code: "401",
        message: "The API key is missing. Send it as `Authorization: Bearer <API_KEY>`.",
        reason: "MISSING_KEY",
      },
    });
  }
  expect(await counts(service())).toEqual(before);
});

test("an unknown, malformed, revoked or non-Bearer credential is 401, and so is the dashboard cookie alone [AUT-01, AUT-02]", async () => {
  const { key } = await newClient(service());
  const revoked = await newClient(service());
  await service().app.services.apiKeys.revoke(
    (
      await service()
        .app.client.db()
        .collection("api_keys")
        .findOne({ prefix: revoked.key.slice(0, 8) })
    )?.["account_id"],
  );
  const flipped = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
  const wrong = [
    unknownKey,
    flipped,
    key.slice(0, -1),
    `${key}0`,
    key.slice(4),
    key.toLowerCase() === key ? key.toUpperCase() : key.toLowerCase(),
    `"${key}"`,
    `${key},${key}`,
    `key=${key}`,
    "null",
    "*",
    service().serviceToken,
    revoked.key,
  ].map((token) => ({ Authorization: `Bearer ${token}` }));
  const otherSchemes = [
    `Basic ${key}`,
    key,
    `Token ${key}`,
    `Bearer${key}`,
    "Bearer",
    "Bearer ",
    `Bearer  `,
    `Digest ${key}`,
    `Bearer: ${key}`,
  ].map((Authorization) => ({ Authorization }));
  const elsewhere = [
    { Cookie: `session=${key}; records_session=${key}` },
    { "X-Api-Key": key },
    { "Proxy-Authorization": `Bearer ${key}` },
  ];
  for (const headers of [...wrong, ...otherSchemes, ...elsewhere]) {
    const response = await service().rest("/v1/sessions", { headers: headers as Record<string, string> });
    expect(response.status, JSON.stringify(headers)).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.body.error.code).toBe("401");
  }
  expect((await service().rest(`/v1/sessions?api_key=${key}&access_token=${key}`)).status).toBe(401);
  expect(
    (await service().rest("/v1/sessions", { headers: { Authorization: `bearer ${key}` } })).status,
    "the scheme in any case",
  ).toBe(200);
});

test("a missing or invalid key is unauthenticated on every rpc and wire [WIR-05, AUT-01]", async () => {
  const owner = await newOwner(service());
  for (const wire of wires.slice(1)) {
    for (const { rpc } of [...reads(owner), ...writes(owner)]) {
      const missing = await wire.call({ rpc, request: {} });
      const invalid = await wire.call({ rpc, request: {}, key: unknownKey });
      expect([missing.code, missing.reason, invalid.code, invalid.reason], `${rpc} by ${wire.name}`).toEqual([
        "unauthenticated",
        "MISSING_KEY",
        "unauthenticated",
        "INVALID_KEY",
      ]);
    }
  }
});

test("rejects a key with a wrong checksum without a look-up, and looks up one with a correct checksum [AUT-03]", async () => {
  const { key } = await newClient(service());
  const { commands, stop } = listenToMongo(service().app.client);
  onTestFinished(() => void stop());
  const lookUps = (): string[] => commands.map(({ label }) => label).filter((label) => label.endsWith(" api_keys"));
  for (let at = key.length - 6; at < key.length; at++) {
    const wrong = `${key.slice(0, at)}${key[at] === "0" ? "1" : "0"}${key.slice(at + 1)}`;
    expect((await service().rest("/v1/sessions", { key: wrong })).status).toBe(401);
  }
  expect(lookUps()).toEqual([]);
  expect((await service().rest("/v1/sessions", { key })).status).toBe(200);
  expect(lookUps()).toEqual(["find api_keys"]);
});

test("a key store that cannot be read is 503 for reads and writes, never 401 [AUT-04]", async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  const known = await newOwner(own);
  const fresh = await newOwner(own);
  expect((await known.get("/v1/sessions")).status).toBe(200);
  const db = own.app.client.db();
  await db.collection("api_keys").rename("api_keys_away");
  await db.createCollection("api_keys", {
    viewOn: "api_keys_away",
    pipeline: [{ $set: { broken: { $divide: [1, 0] } } }],
  });
  for (const { path, method, body } of [...reads(fresh), ...writes(fresh)]) {
    const response = await own.rest(path, { key: fresh.key, method, body });
    expect(response.status, `${method} ${path}`).toBe(503);
    expect(response.body.error.code).toBe("503");
    expect(response.headers.get("retry-after")).toBeNull();
  }
  for (const { path } of reads(known))
    expect((await known.get(path)).status, `a key seen before: ${path}`).toBeGreaterThanOrEqual(500);
  expect((await own.rest("/v1/sessions")).status, "no key").toBe(401);
  await db.collection("api_keys").drop();
  await db.collection("api_keys_away").rename("api_keys");
  expect((await fresh.get("/v1/sessions")).status).toBe(200);
});

test("a read-only key reads like any other and writes nothing; a read-write key also writes [AUT-05, CCR-04, CUP-03, CNT-05]", async () => {
  const reader = await newOwner(service(), "read_only");
  const writer = await newOwner(service());
  for (const { path, success } of reads(reader)) expect((await reader.get(path)).status, path).toBe(success);
  const before = await counts(service());
  for (const { path, method, body } of writes(reader)) {
    const response = await service().rest(path, { key: reader.key, method, body });
    expect([response.status, response.body.error], path).toEqual([
      403,
      {
        code: "403",
        message: "Access denied: this API key is read-only. Use a key with write access.",
        reason: "ACCESS_DENIED",
      },
    ]);
  }
  expect(await counts(service())).toEqual(before);
  expect((await reader.get(`/v1/contacts/${reader.contact}`)).body.data.phone).toBeNull();
  for (const { path, method, body, success } of writes(writer))
    expect((await service().rest(path, { key: writer.key, method, body })).status, path).toBe(success);
});
