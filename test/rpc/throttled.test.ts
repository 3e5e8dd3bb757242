// What is rejected with 429 on the public listener without a look at the message: unknown paths, methods, content
// types, timeouts.
import { expect, test } from "vitest";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { useService } from "../support/client.ts";
import type { Sent } from "./forms.ts";
import { enveloped, forms, get, send } from "./forms.ts";
import { plain, read, write } from "./plain.ts";
import { from } from "../fixtures/service/from.ts";

/** One request at once and one a second for every address: of many at once nearly all are rejected. */
const tight = useService({ RATE_LIMIT: "1", RATE_BURST: "1", TRUST_PROXY: "1" });

const { getContact, searchContacts } = ContactService.method;

const unserved: readonly (readonly [method: string, path: string, headers: Sent, body: string | undefined])[] = [
  ["POST", "/records.v1.ContactService/Nope", { "content-type": "application/json" }, "{}"],
  ["POST", "/records.v1.Nope/GetContact", { "content-type": "application/json" }, "{}"],
  ["POST", `${read}/`, { "content-type": "application/json" }, "{}"],
  ["POST", `/${read}`, { "content-type": "application/json" }, "{}"],
  ["GET", "/foo", {}, undefined],
  ["OPTIONS", "/foo", {}, undefined],
  ["GET", "//v1/health", {}, undefined],
  ["PUT", read, { "content-type": "application/json" }, "{}"],
  ["DELETE", read, {}, undefined],
  ["GET", write, {}, undefined],
  ["OPTIONS", read, {}, undefined],
  ["POST", read, { "content-type": "text/plain" }, "{}"],
  ["POST", read, { "content-type": "application/connect+json" }, "{}"],
  ["GET", read, {}, undefined],
];

test.each(unserved)(
  "an unserved path is 429 before any other check, in the envelope, over HTTP/1.1 and h2c: %s %s %j [ERR-10, RTE-03, RTE-11]",
  async (method, path, headers, body) => {
    for (const http of [1, 2] as const) {
      const address = from();
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => plain(tight().base, http, method, path, { ...headers, ...address }, body)),
      );
      const rejected = responses.filter(({ status }) => status === 429);
      expect(rejected.length, `HTTP/${http}`).toBeGreaterThanOrEqual(5);
      for (const response of rejected) {
        expect(response.headers.get("retry-after")).toBe("1");
        expect(response.headers.get("x-request-id")).toMatch(/./);
        expect(JSON.parse(response.body)).toEqual({
          error: { code: "429", message: "Too many requests. Try again in 1 second.", reason: "RATE_LIMITED" },
        });
      }
    }
  },
);

test("all unserved paths take from the bucket of the caller's address, and from no other [RTE-11]", async () => {
  const address = from();
  const responses = await Promise.all(
    unserved.map(([method, path, headers, body]) =>
      plain(tight().base, 1, method, path, { ...headers, ...address }, body),
    ),
  );
  expect(responses.filter(({ status }) => status !== 429).length).toBeLessThanOrEqual(3);
  expect((await plain(tight().base, 1, "GET", "/foo", from())).status).toBe(404);
});

test.each(["?connect=v1", "?encoding=json", "?encoding=json&message=%7B%7D"])(
  "a call over Connect's GET can be 429, whatever its parameters: %s [ERR-10]",
  async (query) => {
    const address = from();
    const responses = await Promise.all(Array.from({ length: 8 }, () => get(tight().base, getContact, query, address)));
    expect(responses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(5);
  },
);

test("a call with a malformed timeout can be throttled in its own protocol [ERR-10, RTE-14]", async () => {
  for (const form of forms) {
    const headers = { ...from(), "connect-timeout-ms": "soon", "grpc-timeout": "soon" };
    const responses = await Promise.all(
      Array.from({ length: 8 }, () =>
        send(tight().base, form, searchContacts, enveloped(form, Buffer.from("x")), headers),
      ),
    );
    const rejected = responses.filter(({ code }) => code === "resource_exhausted");
    expect(rejected.length, form.name).toBeGreaterThanOrEqual(5);
    for (const { reason, message } of rejected)
      expect([reason, message]).toEqual(["RATE_LIMITED", "Too many requests. Try again in 1 second."]);
  }
});
