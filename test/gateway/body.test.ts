// Request bodies: what is rejected, with which message, and what reaches the service (contract §2.3,
// §2.4, §2.7).
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Running } from "./gateway.ts";
import { startGateway } from "./gateway.ts";

let gateway: Running;

beforeAll(async () => {
  gateway = await startGateway("HTTP/1.1");
});
beforeEach(() => {
  gateway.messages.length = 0;
  gateway.violations.length = 0;
});
afterAll(() => gateway.close());

const good = '{"full_name":"Ann Lee"}';

/** The violations that a body sent to POST /v1/contacts has, each as `field: message`. */
async function rejections(body: string | Buffer | undefined, headers: Record<string, string> = {}): Promise<string[]> {
  await gateway.send("POST", "/v1/contacts", { headers, ...(body !== undefined && { body }) });
  return (gateway.violations.at(-1) ?? []).map(({ field, message }) =>
    field === "" ? message : `${field}: ${message}`,
  );
}

test.each([
  ["application/json; charset=latin1", "charset=latin1"],
  ["application/json; version=1", "version=1"],
  ['application/json; charset=utf-8; profile="a b"', "profile=a b"],
])("the rejection of the Content-Type %j names its parameter %s [VAL-05]", async (type, parameter) => {
  const message = `Content-Type must not have the parameter ${parameter}`;
  expect(await rejections(good, { "content-type": type })).toEqual([message]);
});

test("the rejection of a parameter that is sent twice says so [VAL-05]", async () => {
  expect(await rejections(good, { "content-type": "application/json; charset=utf-8; charset=utf-8" })).toEqual([
    "Content-Type has a malformed or repeated parameter: send application/json alone",
  ]);
});

test("rejects every Content-Encoding except identity", async () => {
  expect(await rejections(good, { "content-encoding": "gzip" })).toEqual([
    "Content-Encoding is not supported: send the body uncompressed",
  ]);
  expect(await rejections(good, { "content-encoding": "identity" })).toEqual([]);
});

test.each([
  [Buffer.from('{"full_name":"\xff"}', "latin1"), "the body must be UTF-8"],
  [Buffer.from('{"full_name":"\xed\xa0\x80"}', "latin1"), "the body must be UTF-8"],
  ['\ufeff\ufeff{"full_name":"a"}', 'the body must be JSON: unexpected "\\ufeff" at position 0'],
  ['\u00a0{"full_name":"a"}', 'the body must be JSON: unexpected "\\u00a0" at position 0'],
  ["full_name=a", 'the body must be JSON: unexpected "f" at position 0'],
  ["[".repeat(100_000), "the body must be JSON: it must have at most 100 levels of arrays and objects"],
  ["null", "the body must be a JSON object"],
  ["[]", "the body must be a JSON object"],
  ['"{}"', "the body must be a JSON object"],
])(
  "a body that is not a JSON object has one violation, which names the body: case %# [VAL-01, VAL-02]",
  async (body, message) => {
    expect(await rejections(body)).toEqual([message]);
    expect(gateway.violations[0]).toMatchObject([{ field: "" }]);
  },
);

test.each([
  ['{"full_name":5}', ["full_name: must be a string"]],
  ['{"full_name":{"$gt":""}}', ["full_name: must be a string"]],
  [
    '{"full_name":["a"],"email":false,"phone":415}',
    ["full_name: must be a string", "email: must be a string", "phone: must be a string"],
  ],
  ['{"full_name":null}', ["full_name: must not be null"]],
  ["{}", ["full_name: is required"]],
  ['{"full_name":"a","nickname":"b"}', ["nickname: is not a known property. Use full_name, email or phone"]],
  [
    '{"full_name":"a","__proto__":{"email":"x"}}',
    ["__proto__: is not a known property. Use full_name, email or phone"],
  ],
  [
    '{"full_name":"a","fullName":"b","id":"c"}',
    [
      "fullName: is not a known property. Use full_name, email or phone",
      "id: is not a known property. Use full_name, email or phone",
    ],
  ],
  ['{"full_name":"a","full_name":"a"}', ["full_name: must not be given more than once"]],
  [
    '{"full_name":5,"full_name":"a","email":5}',
    ["full_name: must not be given more than once", "email: must be a string"],
  ],
  ['{"full_name":"a","full_name":5}', ["full_name: must not be given more than once"]],
  [
    '{"full_name":"a","nick":1,"nick":2,"nick":3}',
    ["nick: must not be given more than once", "nick: is not a known property. Use full_name, email or phone"],
  ],
  ['{"full_name":"a","phone":{"x":1,"x":2}}', ["phone.x: must not be given more than once", "phone: must be a string"]],
  ['{"full_name":"\\ud83d"}', ["full_name: must not contain a lone surrogate"]],
  ['{"full_name":["\\ud83d"]}', ["full_name: must not contain a lone surrogate", "full_name: must be a string"]],
  [
    '{"full_name":"a","\\udc00":1}',
    ["\ufffd: must not contain a lone surrogate", "\ufffd: is not a known property. Use full_name, email or phone"],
  ],
])("rejects %s [VAL-03, VAL-06, VAL-12, CCR-10, CCR-11]", async (body, expected) => {
  expect(await rejections(body)).toEqual(expected);
});

test("names at most 50 unknown properties and the number of the others, and cuts off long names", async () => {
  const names = Array.from({ length: 2_000 }, (_, at) => `${"n".repeat(80)}${at}`);
  const reported = await rejections(JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))));
  expect(reported).toHaveLength(51);
  const unknown = `${"n".repeat(64)}…: is not a known property. Use full_name, email or phone`;
  expect(reported[0]).toBe(unknown);
  expect(reported.slice(-2)).toEqual([`${unknown} (and 1950 more)`, "full_name: is required"]);
});

test("reports every violation of known names once, however many names are unknown [ERR-03]", async () => {
  const many = (count: number, of: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => of(at)).join(",");
  const unknown = many(100, (at) => `"p${at}":1`);
  const known = await rejections(`{${unknown},"email":5,"phone":5,"full_name":null}`);
  expect(known).toHaveLength(53);
  expect(known[49]).toBe("p49: is not a known property. Use full_name, email or phone (and 50 more)");
  expect(known.slice(50)).toEqual([
    "email: must be a string",
    "phone: must be a string",
    "full_name: must not be null",
  ]);
  const flawed = await rejections(
    `{${many(60, (at) => `"p${at}":"\\ud800"`)},"x":{${many(60, () => '"y":1')}},${many(60, () => '"email":"\\ud800"')},"phone":5}`,
  );
  expect(flawed).toHaveLength(54);
  expect(flawed[49]).toBe("p49: must not contain a lone surrogate (and 81 more)");
  expect(flawed.slice(50)).toEqual([
    "email: must not contain a lone surrogate",
    "email: must not be given more than once",
    "phone: must be a string",
    "full_name: is required",
  ]);
});
