// Errors outside the endpoints: unknown paths and other methods, in the envelope.
import { expect, test } from "vitest";
import { useService } from "../support/client.ts";
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
