// Errors outside the endpoints: unknown paths, other methods, and internal failures, all in the
// envelope.
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { newOwner, reads, writes } from "../support/every.ts";

const service = useService();

test("an unknown path under /v1 is 404 in the envelope, also with a trailing or a doubled slash [ERR-05, ERR-01]", async () => {
  const owner = await newOwner(service());
  const known = [...reads(owner), ...writes(owner)].map(({ path }) => path.replace(/\?.*/, ""));
  const unknown = [
    "/v1",
    "/v1/",
    "/v1/nothing",
    "/v1/Contacts",
    "/v1/contact",
    "/v1/health/x",
    "/v1/contacts.json",
    "/v1/contacts;x=1",
    "/v1/%63ontacts2",
    "/v1/sessions/x/y/z",
    `/v1/contacts/${owner.contact}/note`,
    `/v1/notes/${owner.contact}`,
    ...known.map((path) => `${path}/`),
    ...known.map((path) => path.replace("/v1/", "/v1//")),
    ...known.map((path) => `/${path}`),
    "/v2/contacts",
    "/contacts",
  ];
  for (const path of unknown) {
    for (const [method, key] of [
      ["GET", owner.key],
      ["POST", owner.key],
      ["GET", undefined],
    ] as const) {
      const response = await service().rest(path, { method, key, ...(method === "POST" ? { body: {} } : {}) });
      expect([response.status, response.text], `${method} ${path}`).toEqual([
        404,
        '{"error":{"code":"404","message":"The path does not exist. Check it against the API reference.","reason":"UNKNOWN_PATH"}}',
      ]);
    }
  }
});

test("another method on a known path is 405 in the envelope with Allow [ERR-06]", async () => {
  const owner = await newOwner(service());
  const allowed: readonly (readonly [path: string, allow: string[]])[] = [
    ["/v1/health", ["GET", "HEAD", "OPTIONS"]],
    ["/v1/contacts", ["GET", "HEAD", "OPTIONS", "POST"]],
    [`/v1/contacts/${owner.contact}`, ["GET", "HEAD", "OPTIONS", "PATCH"]],
    [`/v1/contacts/${owner.contact}/notes`, ["OPTIONS", "POST"]],
    ["/v1/sessions", ["GET", "HEAD", "OPTIONS"]],
    [`/v1/sessions/${owner.session}`, ["GET", "HEAD", "OPTIONS"]],
    [`/v1/sessions/${owner.session}/transcript`, ["GET", "HEAD", "OPTIONS"]],
    ["/v1/notes", ["GET", "HEAD", "OPTIONS"]],
    ["/v1/contacts/no-uuid", ["GET", "HEAD", "OPTIONS", "PATCH"]],
  ];
  for (const [path, allow] of allowed) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((name) => !allow.includes(name))) {
      for (const key of [owner.key, undefined]) {
        const response = await service().rest(path, { method, key, ...(method === "GET" ? {} : { body: {} }) });
        expect([response.status, response.text], `${method} ${path}`).toEqual([
          405,
          '{"error":{"code":"405","message":"The path does not support this method. Use one of its methods.","reason":"METHOD_NOT_ALLOWED"}}',
        ]);
        expect(response.headers.get("allow")?.split(", ").sort()).toEqual(allow);
      }
    }
  }
});

test("an unexpected failure is 500 in the envelope without internal details, and the log has its class and location [ERR-07, ERR-01]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann" });
  const contacts = service().app.client.db().collection("contacts");
  await contacts.updateOne({ full_name: "Ann" }, { $set: { created_at: "secret of the inside" } });
  const response = await service().rest(`/v1/contacts/${id}`, {
    key: client.key,
    headers: { "X-Request-Id": "broken-1" },
  });
  expect([response.status, response.text]).toEqual([
    500,
    '{"error":{"code":"500","message":"Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.","reason":"INTERNAL"}}',
  ]);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const logged = service().logLines.filter((line) => line.includes("broken-1"));
  expect(
    logged.some(
      (line) => line.includes("INTERNAL") && /"type":"TypeError","stack":\["[^"]*src\/[^"]+\.ts:\d+/.test(line),
    ),
  ).toBe(true);
  expect(logged.join("")).not.toContain("secret of the inside");
});

test("an unexpected failure over Connect is internal, without internal details [ERR-07]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Bo" });
  await service()
    .app.client.db()
    .collection("contacts")
    .updateOne({ full_name: "Bo" }, { $set: { created_at: "secret of the inside" } });
  const response = await service().rest("/records.v1.ContactService/GetContact", {
    key: client.key,
    body: { contact_id: id },
  });
  expect([response.status, response.body.code, response.body.message]).toEqual([
    500,
    "internal",
    "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.",
  ]);
  expect(response.text).not.toMatch(/secret|getTime|\.ts/);
});
