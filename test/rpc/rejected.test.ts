// What is rejected on the public listener without a look at the message: unknown paths, methods, content types,
// timeouts.
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { pipelined } from "../http/pipelined.ts";
import { expectEnvelope, exchange } from "../fixtures/clients/raw.ts";
import { useService } from "../support/client.ts";
import { newOwner } from "../support/every.ts";
import type { Owner } from "../support/every.ts";
import type { Sent } from "./forms.ts";
import { enveloped, forms, get, send, written } from "./forms.ts";
import { plain, read, write } from "./plain.ts";

const service = useService({ RATE_LIMIT: "10", RATE_BURST: "100000", TRUST_PROXY: "1" });
let owner: Owner;
beforeAll(async () => {
  owner = await newOwner(service());
});

const { getContact, createContact, updateContact } = ContactService.method;
const key = (): Sent => ({ authorization: `Bearer ${owner.key}` });

test.each([
  ["PUT", read, "POST, GET, OPTIONS"],
  ["PATCH", read, "POST, GET, OPTIONS"],
  ["DELETE", read, "POST, GET, OPTIONS"],
  ["GET", write, "POST, OPTIONS"],
  ["DELETE", write, "POST, OPTIONS"],
])(
  "another method is 405 in the envelope with Allow, the limits and an id, before the key is checked: %s %s [ERR-06, ERR-11, RTE-07, FMT-06]",
  async (method, path, allow) => {
    for (const http of [1, 2] as const) {
      for (const headers of [{}, key(), { "content-type": "application/grpc" }]) {
        const response = await plain(service().base, http, method, path, headers);
        expectEnvelope(response, 405);
        expect([response.headers.get("allow"), response.headers.get("cache-control")]).toEqual([allow, "no-store"]);
      }
    }
  },
);

test("HEAD of an rpc is 405 without a body, and OPTIONS 204 with Allow [ERR-06, FMT-09]", async () => {
  for (const http of [1, 2] as const) {
    const head = await plain(service().base, http, "HEAD", read, key());
    expect([head.status, head.headers.get("allow"), head.body]).toEqual([405, "POST, GET, OPTIONS", ""]);
    const options = await plain(service().base, http, "OPTIONS", write);
    expect([
      options.status,
      options.headers.get("allow"),
      options.headers.get("ratelimit-limit"),
      options.body,
    ]).toEqual([204, "POST, OPTIONS", "10", ""]);
  }
});

test.each([
  ["none", undefined],
  ["text", "text/plain"],
  ["XML", "application/xml"],
  ["a form", "application/x-www-form-urlencoded"],
  ["Connect's streams", "application/connect+json"],
  ["Connect's binary streams", "application/connect+proto"],
])(
  "a content type of no protocol is 415 in the envelope with the limits and an id: %s, %s [WIR-01, RTE-07, FMT-06]",
  async (_what, type) => {
    for (const http of [1, 2] as const) {
      for (const headers of [{}, key()]) {
        const sent = { ...headers, ...(type !== undefined && { "content-type": type }) };
        const response = await plain(service().base, http, "POST", read, sent, "{}");
        expectEnvelope(response, 415);
        expect(JSON.parse(response.body).error.message).toMatch(/^Content-Type: must be application\/json/);
      }
    }
  },
);

test("an unknown encoding in Connect's GET is 415, which names it [WIR-01, RTE-07]", async () => {
  for (const query of ["", "?message=%7B%7D", "?encoding=xml&message=%7B%7D"]) {
    const response = await plain(service().base, 1, "GET", read + query, key());
    expectEnvelope(response, 415);
    expect(JSON.parse(response.body).error.message).toMatch(/^encoding: must be json or proto\. Send a POST/);
  }
});

test("the internal listener returns 405 and 415 in the envelope too, also for health and reflection [ERR-06, ADM-02]", async () => {
  for (const path of [
    read,
    "/records.ingest.v1.IngestService/UpsertContacts",
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  ]) {
    const method = await plain(service().internal, 2, "DELETE", path);
    expect([method.status, JSON.parse(method.body).error.code, method.headers.get("allow")]).toEqual([
      405,
      "405",
      expect.stringMatching(/^POST, (GET, )?OPTIONS$/),
    ]);
    const type = await plain(service().internal, 2, "POST", path, { "content-type": "text/plain" }, "{}");
    expect([type.status, JSON.parse(type.body).error.code]).toEqual([415, "415"]);
  }
});

test("a content type that repeats a parameter is 415, which says so [WIR-01, RTE-07]", async () => {
  const headers = { ...key(), "content-type": "application/json; charset=utf-8; charset=utf-8" };
  const response = await plain(service().base, 1, "POST", read, headers, "{}");
  expectEnvelope(response, 415);
  expect(JSON.parse(response.body).error.message).toBe("Content-Type: has a malformed or repeated parameter.");
});

test("a stream with the content type of a unary call is 415, which names those of streams [ADM-02, ERR-02]", async () => {
  const path = "/records.ingest.v1.IngestService/Export";
  const headers = { "content-type": "application/json", authorization: `Bearer ${service().serviceToken}` };
  const { status, body } = await plain(service().internal, 1, "POST", path, headers, "{}");
  expect([status, JSON.parse(body).error.message]).toEqual([
    415,
    expect.stringContaining("must be application/connect+json or"),
  ]);
});

describe("a malformed timeout", () => {
  const wrong: readonly Sent[] = [
    { "connect-timeout-ms": "soon", "grpc-timeout": "soon" },
    { "connect-timeout-ms": "-1", "grpc-timeout": "5" },
    { "connect-timeout-ms": "12345678901", "grpc-timeout": "123456789S" },
  ];

  test("is rejected after the key [ERR-12, WIR-05]", async () => {
    for (const form of forms) {
      for (const timeout of wrong) {
        const { code, reason } = await send(
          service().base,
          form,
          getContact,
          enveloped(form, written(form, getContact, { contactId: owner.contact })),
          timeout,
        );
        expect([code, reason], form.name).toEqual(["unauthenticated", "MISSING_KEY"]);
      }
    }
  });

  test("is invalid_argument with INVALID_REQUEST, which names the header [WIR-06]", async () => {
    for (const form of forms) {
      for (const timeout of wrong) {
        const { code, reason, violations } = await send(
          service().base,
          form,
          getContact,
          enveloped(form, written(form, getContact, { contactId: owner.contact })),
          { ...key(), ...timeout },
        );
        const words =
          form.protocol === "connect"
            ? "connect-timeout-ms: must be 1 to 10 digits"
            : "grpc-timeout: must be 1 to 8 digits and a unit: H, M, S, m, u or n";
        expect([code, reason, violations], form.name).toEqual(["invalid_argument", "INVALID_REQUEST", [words]]);
      }
    }
  });

  test("does not include a valid one [WIR-01]", async () => {
    for (const form of forms) {
      const headers = { ...key(), "connect-timeout-ms": "5000", "grpc-timeout": "5S" };
      expect(
        (
          await send(
            service().base,
            form,
            getContact,
            enveloped(form, written(form, getContact, { contactId: owner.contact })),
            headers,
          )
        ).code,
        form.name,
      ).toBe("ok");
    }
  });
});

test("a call in another version of Connect is invalid_argument, not served as one of this version [WIR-06]", async () => {
  for (const form of forms.filter(({ protocol }) => protocol === "connect")) {
    const message = written(form, getContact, { contactId: owner.contact });
    const call = async (version: string) => {
      const headers = { ...key(), "connect-protocol-version": version };
      const { code, violations } = await send(service().base, form, getContact, message, headers);
      return [code, violations];
    };
    expect(await call("2"), form.name).toEqual(["invalid_argument", ["connect-protocol-version: must be 1"]]);
    expect(await call("1"), form.name).toEqual(["ok", []]);
  }
});

test("no response to an rpc may be stored, success or error, over GET either [FMT-01]", async () => {
  const bare = {};
  for (const form of forms) {
    const message = enveloped(form, written(form, getContact, { contactId: owner.contact }));
    for (const headers of [key(), bare])
      expect(
        (await send(service().base, form, getContact, message, headers)).headers.get("cache-control"),
        form.name,
      ).toBe("no-store");
    expect(
      (await send(service().base, form, getContact, enveloped(form, Buffer.from("x")), key())).headers.get(
        "cache-control",
      ),
      form.name,
    ).toBe("no-store");
  }
  const query = `?encoding=json&message=${encodeURIComponent(JSON.stringify({ contact_id: owner.contact }))}`;
  for (const headers of [key(), bare])
    expect((await get(service().base, getContact, query, headers)).headers.get("cache-control")).toBe("no-store");
  expect(
    (await get(service().base, HealthService.method.checkHealth, "?encoding=json&message=%7B%7D")).headers.get(
      "cache-control",
    ),
  ).toBe("no-store");
});

test("serves a call with any valid Host, and over HTTP/1.0 without one [WIR-01]", async () => {
  const body = JSON.stringify({ contact_id: owner.contact });
  for (const [version, host] of [
    ["1.0", ""],
    ["1.1", "Host: [::1]:8080\r\n"],
    ["1.1", "Host: records.example.\r\n"],
  ] as const) {
    const { responses } = await exchange(
      service().base,
      `POST ${read} HTTP/${version}\r\n${host}Authorization: Bearer ${owner.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(
      responses.map(({ status }) => status),
      `${version} ${host}`,
    ).toEqual([200]);
  }
});

test("gRPC over HTTP/1.0 is 400, as HTTP/1.0 has no trailers for its status; gRPC-Web is served [WIR-01]", async () => {
  const message = Buffer.from(JSON.stringify({ contact_id: owner.contact }));
  const body = Buffer.from(encodeEnvelope(0, message)).toString("latin1");
  for (const [type, expected] of [
    ["application/grpc+json", 400],
    ["application/grpc-web+json", 200],
  ] as const) {
    const { responses } = await exchange(
      service().base,
      `POST ${read} HTTP/1.0\r\nAuthorization: Bearer ${owner.key}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    // Without a length the body lasts until the connection ends: the rest of it is no second response.
    expect(responses[0]?.status, type).toBe(expected);
  }
});

test("an empty mask counts as none if fields are set, and changes nothing if none is [WIR-10, CUP-10, CUP-14]", async () => {
  for (const form of forms) {
    const id = await owner.put.contact({ full_name: "Ann", phone: "1" });
    const update = (message: object) =>
      send(
        service().base,
        form,
        updateContact,
        enveloped(form, written(form, updateContact, { contactId: id, updateMask: { paths: [] }, ...message })),
        key(),
      );
    expect((await update({ phone: "2" })).code, form.name).toBe("ok");
    expect((await owner.get(`/v1/contacts/${id}`)).body.data, form.name).toMatchObject({
      full_name: "Ann",
      phone: "2",
    });
    expect((await update({})).violations, form.name).toEqual([
      "update_mask: the update must change at least one of full_name, email, phone",
    ]);
  }
  const { status, body } = await owner.patch(`/v1/contacts/${owner.contact}`, {});
  expect([status, body.error.details[0].rule]).toEqual([422, "min_properties"]);
});

test("a call that is rejected while its message still arrives gets the reason [ERR-12, WIR-05]", async () => {
  for (const form of forms) {
    const { code } = await send(service().base, form, createContact, enveloped(form, Buffer.alloc(3_000_000, "a")));
    expect([form.name, code]).toEqual([form.name, "unauthenticated"]);
  }
});

test.each([
  ["/records.v1.HealthService/CheckHealth?connect=v1&encoding=json&message=%7B%7D", 200],
  ["/records.v1.HealthService/CheckHealth?x=1##&encoding=json&message=%7B%7D", 200],
  ["/records.v1.HealthService/CheckHealth?connect=v1&message=%7B%7D##&encoding=json", 400],
  ["/records.v1.HealthService/CheckHealth?#&connect=v1&encoding=json&message=%7B%7D", 200],
])(
  "a # in a request target is data, and the guards and the library read the same query: %s is %i [ERR-10]",
  async (path, status) => {
    const [response] = await pipelined(service().base, path, 1);
    expect(response?.status, response?.body).toBe(status);
  },
);
