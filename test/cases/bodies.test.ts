// Bodies that are rejected: 422 in the envelope, never 500, and nothing written.
import { connect } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { counts, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner, writes } from "../support/every.ts";
import type { RestResponse, RestCall } from "../fixtures/service/service.ts";

const service = useService();
let owner: Owner;
beforeAll(async () => {
  owner = await newOwner(service());
});

/**
 * Sends to the three writes, and expects 422 of each and that nothing was written. A call that depends on the endpoint
 * is made of a property that it takes, so that nothing else is wrong with it.
 */
async function rejected(call: RestCall | ((property: string) => RestCall), label: string): Promise<RestResponse[]> {
  const before = await counts(service());
  const contact = (await owner.get(`/v1/contacts/${owner.contact}`)).text;
  const responses: RestResponse[] = [];
  for (const { path, method } of writes(owner)) {
    const sent = typeof call === "function" ? call(path.endsWith("/notes") ? "content" : "full_name") : call;
    const response = await service().rest(path, { key: owner.key, method, ...sent });
    expect([response.status, response.body?.error?.code], `${method} ${path}: ${label}`).toEqual([422, "422"]);
    responses.push(response);
  }
  expect(await counts(service()), label).toEqual(before);
  expect((await owner.get(`/v1/contacts/${owner.contact}`)).text).toBe(contact);
  return responses;
}

test("a body that is missing, not JSON, or not an object is 422 [VAL-01, CCR-07, CUP-10, CNT-11]", async () => {
  const texts = [
    "",
    " ",
    "{",
    "}",
    "{}}",
    "{'full_name':'Ann'}",
    "{full_name:1}",
    '{"full_name":"Ann",}',
    '{"full_name":"Ann"} x',
    '{"full_name":"Ann"}{}',
    "[]",
    '[{"full_name":"Ann"}]',
    "null",
    "true",
    "1",
    '"Ann"',
    "NaN",
    "undefined",
    '{"full_name":"A\nB"}',
    '{"full_name":"\\x41"}',
    '{"full_name":"\\u00g0"}',
    '{"full_name":"Ann","phone":01}',
    '{"full_name":"Ann"}//',
    '/**/{"full_name":"Ann"}',
    '\u{feff}\u{feff}{"full_name":"Ann"}',
    "<xml/>",
    "full_name=Ann",
    `${"[".repeat(100_000)}`,
    `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
  ];
  for (const raw of texts) await rejected({ raw }, JSON.stringify(raw.slice(0, 40)));
  await rejected({ headers: { "Content-Type": "application/json" } }, "no body at all");
});

test("ignores blanks around and within a body [VAL-01]", async () => {
  const { status } = await service().rest("/v1/contacts", {
    key: owner.key,
    raw: ' \r\n\t{ "full_name" :\n"Ann" , "phone":null}\n ',
  });
  expect(status).toBe(201);
});

test("a body that is not UTF-8 is 422 [VAL-02]", async () => {
  for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe9]]) {
    const around = (property: string): RestCall => ({
      raw: Buffer.concat([Buffer.from(`{"${property}":"`), Buffer.from(bytes), Buffer.from('"}')]),
    });
    for (const { body } of await rejected(around, String(bytes)))
      expect(body.error.message).toBe("the body must be UTF-8");
  }
  await rejected({ raw: Buffer.from('{"full_name":"Ann"}', "utf16le") }, "two bytes a letter");
});

test("a duplicate property is 422 and named, also if both are identical, escaped or nested [VAL-03, ERR-02]", async () => {
  const cases = [
    '{"full_name":"Ann","full_name":"Ann"}',
    '{"full_name":"Ann","full\\u005fname":"Bo"}',
    '{"content":"c","content":null}',
    '{"full_name":"Ann","phone":null,"phone":null}',
    '{"x":{"a":1,"a":2}}',
  ];
  for (const raw of cases) {
    const [create] = await rejected({ raw }, raw);
    expect(create?.body.error.message).toContain("must not be given more than once");
  }
});

test("a body over 256 KiB is 422 in the envelope, and one of 256 KiB is accepted [VAL-04]", async () => {
  const padded = (size: number): string => `{"full_name":"Ann","content":"c"${" ".repeat(size - 33)}}`;
  const before = await counts(service());
  for (const { path, method } of writes(owner)) {
    const over = await service().rest(path, { key: owner.key, method, raw: padded(262_145) });
    expect([over.status, over.body.error]).toEqual([
      422,
      {
        code: "422",
        message: "the body must be at most 262144 bytes",
        reason: "INVALID_REQUEST",
        details: [{ field: "", rule: "size", message: "the body must be at most 262144 bytes" }],
      },
    ]);
  }
  expect(await counts(service())).toEqual(before);
  const { status } = await service().rest("/v1/contacts", {
    key: owner.key,
    raw: padded(262_144).replace('"content":"c"', "             ").replace('"Ann",', '"Ann" '),
  });
  expect(status).toBe(201);
});

test("a body that exceeds 256 KiB in chunks is 422 before it ends [VAL-04]", async () => {
  const response = await sendEndlessly();
  expect(response).toMatch(/^HTTP\/1\.1 422 /);
  expect(response).toContain('"message":"the body must be at most 262144 bytes"');
});

test("a missing Content-Type, or one other than application/json, is 422 [VAL-05]", async () => {
  const raw = Buffer.from('{"full_name":"Ann"}');
  const wrong = [
    "text/plain",
    "application/xml",
    "application/x-www-form-urlencoded",
    "application/json-patch+json",
    "application/merge-patch+json",
    "text/json",
    "application/json; charset=latin1",
    "application/json; charset=utf-16",
    "application/json; version=1",
    "application/json, text/plain",
    "json",
    "multipart/form-data",
  ];
  for (const type of wrong) await rejected({ raw, headers: { "Content-Type": type } }, type);
  await rejected({ raw, headers: { "Content-Type": "" } }, "empty");
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    'application/json; Charset="UTF-8"',
    "application/json ; charset=UTF-8",
    "application/json;",
  ]) {
    const { status } = await service().rest("/v1/contacts", { key: owner.key, raw, headers: { "Content-Type": type } });
    expect(status, type).toBe(201);
  }
});

test("ignores a body on GET and HEAD, whatever its content [VAL-01]", async () => {
  const response = await raw(
    `GET /v1/contacts/${owner.contact} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.key}\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\n{"x":`,
  );
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
});

test("types are strict: rejects a number for a string, a string for an object, and an object that a query could interpret [VAL-06]", async () => {
  const values = [
    "1",
    "0",
    "true",
    "false",
    "[]",
    '["Ann"]',
    "{}",
    '{"$gt":""}',
    '{"$ne":null}',
    '{"toString":"x"}',
    "1e400",
  ];
  for (const value of values) {
    const [create, update, append] = await rejected(
      { raw: `{"full_name":${value},"email":${value},"phone":${value},"content":${value}}` },
      value,
    );
    expect(create?.body.error.details).toEqual(
      expect.arrayContaining(
        ["full_name", "email", "phone"].map((field) => ({ field, rule: "type", message: "must be a string" })),
      ),
    );
    expect(update?.body.error.details).toEqual(
      expect.arrayContaining(
        ["full_name", "email", "phone"].map((field) => ({ field, rule: "type", message: "must be a string" })),
      ),
    );
    expect(append?.body.error.details).toEqual(
      expect.arrayContaining([{ field: "content", rule: "type", message: "must be a string" }]),
    );
  }
});

test("a lone surrogate is 422 in a value and in a name; a pair is an emoji [VAL-12]", async () => {
  for (const text of ["\\ud83d", "\\ude00", "a\\ud83db", "\\ude00\\ud83d", "\\ud83d\\ud83d\\ude00", "\\uD800"]) {
    for (const { body } of await rejected((property) => ({ raw: `{"${property}":"${text}"}` }), text)) {
      expect(body.error.details, text).toMatchObject([
        { rule: "surrogate", message: "must not contain a lone surrogate" },
      ]);
    }
    for (const { body } of await rejected((property) => ({ raw: `{"${property}":"Ann","${text}":null}` }), text)) {
      expect(body.error.details, text).toEqual(
        expect.arrayContaining([expect.objectContaining({ rule: "surrogate" })]),
      );
    }
  }
  const { status, body } = await service().rest("/v1/contacts", {
    key: owner.key,
    raw: '{"full_name":"\\ud83d\\ude00"}',
  });
  expect([status, body.data.full_name]).toEqual([201, "😀"]);
});

test("rejects a long hostile email for its length, before any pattern is applied [VAL-14]", async () => {
  const hostile = `${"a@".repeat(50_000)}.`;
  const [create, update] = await rejected(
    { body: { full_name: "Ann", email: hostile, content: "c", x: 1 } },
    "hostile",
  );
  for (const response of [create, update])
    expect(response?.body.error.details).toContainEqual({
      field: "email",
      rule: "string.max_len",
      message: "must be at most 254 characters",
    });
  const dots = `${"a.".repeat(60_000)}@${".".repeat(60_000)}`;
  await rejected({ body: { full_name: "Ann", email: dots, content: "c", x: 1 } }, "dots");
});

function raw(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service().base).port), "127.0.0.1", () => socket.write(request));
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

/** Sends chunk after chunk until the service has responded and closed. */
function sendEndlessly(): Promise<string> {
  return new Promise((resolve) => {
    const chunk = `4000\r\n${" ".repeat(0x4000)}\r\n`;
    let text = "";
    const socket = connect(Number(new URL(service().base).port), "127.0.0.1", () => {
      socket.write(
        `POST /v1/contacts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      send();
    });
    const send = (): void => {
      if (text === "" && socket.writable) socket.write(chunk, send);
    };
    socket.on("data", (bytes) => {
      text += bytes.toString();
      if (text.includes("at most 262144 bytes")) socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}
