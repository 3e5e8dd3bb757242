// Messages that cannot be decoded: the error says what is wrong and where, on every wire.
import { gzipSync } from "node:zlib";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { beforeAll, expect, test } from "vitest";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { counts, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";
import type { Form, Sent } from "./forms.ts";
import { enveloped, forms, get, send, written } from "./forms.ts";
import { expectRejected, expectUnreadable } from "./rejected.ts";

const service = useService();
let owner: Owner;
let key: Sent;
beforeAll(async () => {
  owner = await newOwner(service());
  key = { authorization: `Bearer ${owner.key}` };
});

const { createContact, getContact, updateContact } = ContactService.method;
const { listSessions } = SessionService.method;

const wrongFields: readonly (readonly [what: string, rpc: DescMethodUnary, json: string, violation: string])[] = [
  ["a number for a string", createContact, '{"full_name":5}', "full_name: must be a string"],
  ["an object for a string", createContact, '{"full_name":{}}', "full_name: must be a string"],
  ["its name in JSON", createContact, '{"fullName":[]}', "full_name: must be a string"],
  ["a string for a number", listSessions, '{"limit":"many"}', "limit: must be a whole number"],
  ["a broken number", listSessions, '{"limit":1.5}', "limit: must be a whole number"],
  ["a number of another kind", listSessions, '{"offset":1e-1}', "offset: must be a whole number"],
  ["an unknown property", createContact, '{"full_name":"x","foo":1}', "foo: is not a known property"],
  ["an unknown property without a name", createContact, '{"full_name":"x","":1}', '"": is not a known property'],
  ["a lone surrogate", createContact, '{"full_name":"lone \\ud83d"}', "full_name: must not contain a lone surrogate"],
  ["a lone surrogate in a name", createContact, '{"full_name":"x","\\ud83d":1}', "\ufffd: is not a known property"],
  ["an array", createContact, "[]", ": the message must be a JSON object"],
  ["null", createContact, "null", ": the message must be a JSON object"],
  ["depth", createContact, `{"full_name":${"[".repeat(200)}${"]".repeat(200)}}`, "full_name: must be a string"],
  [
    "a name of many letters",
    createContact,
    `{"${"x".repeat(100_000)}":1}`,
    `${"x".repeat(64)}…: is not a known property`,
  ],
];

test.each(wrongFields)(
  "JSON with %s is invalid_argument with INVALID_REQUEST, and names the field [VAL-01, VAL-02, VAL-03, VAL-06, WIR-06, ERR-02]",
  async (_what, rpc, json, violation) => {
    const before = await counts(service());
    for (const form of forms.filter((one) => one.json)) {
      const response = await send(service().base, form, rpc, enveloped(form, Buffer.from(json)), key);
      expectRejected(response, form, [violation]);
    }
    expect(await counts(service())).toEqual(before);
  },
);

const wrongJson: readonly (readonly [what: string, rpc: DescMethodUnary, json: string | Buffer, words: string])[] = [
  ["one property twice", createContact, '{"full_name":"a","full_name":"b"}', 'duplicate object key "full_name"'],
  [
    "one property twice, once escaped",
    createContact,
    '{"full_name":"a","full\\u005fname":"b"}',
    'duplicate object key "full_name"',
  ],
  [
    "one property under both its names",
    createContact,
    '{"full_name":"a","fullName":"b"}',
    "full_name from JSON: set multiple times",
  ],
  ["nothing", createContact, "", "Unexpected end of JSON input"],
  ["no JSON", createContact, "no", "is not valid JSON"],
  ["no UTF-8", createContact, Buffer.from('{"full_name":"\xff"}', "latin1"), "the message must be UTF-8"],
  ["UTF-16", createContact, Buffer.from('\ufeff{"full_name":"a"}', "utf16le"), "the message must be UTF-8"],
];

test.each(wrongJson)(
  "JSON with %s is invalid_argument with INVALID_REQUEST, and names the place [VAL-01, VAL-02, VAL-03, VAL-06, VAL-12, WIR-06, ERR-03]",
  async (_what, rpc, json, words) => {
    const before = await counts(service());
    for (const form of forms.filter((one) => one.json)) {
      const response = await send(service().base, form, rpc, enveloped(form, Buffer.from(json)), key);
      expectUnreadable(response, form, words);
      expect(JSON.stringify([...response.headers]).length, form.name).toBeLessThan(8_192);
    }
    expect(await counts(service())).toEqual(before);
  },
);

test.each([
  ['{"limit":9999999999}', "limit: must be at most 25"],
  ['{"limit":"9999999999"}', "limit: must be at most 25"],
  ['{"limit":-3e9}', "limit: must be at least 1"],
  ['{"offset":3000000000}', "offset: must be at most 2147483647"],
  ['\ufeff{"limit":1e300}', "limit: must be at most 25"],
])(
  "%j, an integer beyond its type, is rejected with the bound of its own field [VAL-01, ERR-03]",
  async (json, violation) => {
    for (const form of forms.filter((one) => one.json))
      expectRejected(await send(service().base, form, listSessions, enveloped(form, Buffer.from(json)), key), form, [
        violation,
      ]);
  },
);

test.each([
  ["bytes that are not a message", "ffffff", "premature EOF"],
  ["a truncated string", "0a05", "premature EOF"],
  ["an illegal tag", "00", "illegal tag: field no 0 wire type 0"],
  ["a string that is not UTF-8", "0a02c328", "utf-8"],
  ["a surrogate in UTF-8", "0a03eda080", "utf-8"],
])(
  "binary with %s is invalid_argument with INVALID_REQUEST, also over gRPC [VAL-01, VAL-02, VAL-12, WIR-06]",
  async (_what, hex, words) => {
    for (const form of forms.filter((one) => !one.json))
      expectUnreadable(
        await send(service().base, form, createContact, enveloped(form, Buffer.from(hex, "hex")), key),
        form,
        words,
      );
  },
);

test("a truncated envelope is invalid_argument [VAL-01, WIR-06]", async () => {
  for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
    const whole = enveloped(form, written(form, createContact, { fullName: "x" }));
    for (const length of [1, 4, whole.length - 1]) {
      expectUnreadable(
        await send(service().base, form, createContact, whole.subarray(0, length), key),
        form,
        "incomplete envelope",
      );
    }
  }
});

test("an empty message is read as such: its required fields are missing [VAL-01, WIR-06]", async () => {
  for (const form of forms) {
    const empty = form.json ? Buffer.from("{}") : Buffer.alloc(0);
    expectRejected(await send(service().base, form, createContact, enveloped(form, empty), key), form, [
      "full_name: must not be empty",
    ]);
  }
});

test("reports all violations of a readable message at once [ERR-03, WIR-06]", async () => {
  for (const form of forms) {
    const response = await send(
      service().base,
      form,
      createContact,
      enveloped(form, written(form, createContact, { fullName: "", email: "x", phone: "1".repeat(51) })),
      key,
    );
    expect(
      response.violations.map((one) => one.split(":")[0]),
      form.name,
    ).toEqual(["full_name", "email", "phone"]);
  }
});

test("a unary call with no message or with two is gRPC's own unimplemented, and writes nothing [WIR-01]", async () => {
  const before = await counts(service());
  for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
    const one = enveloped(form, written(form, createContact, { fullName: "x" }));
    for (const body of [Buffer.alloc(0), Buffer.concat([one, one])])
      expect((await send(service().base, form, createContact, body, key)).code, form.name).toBe("unimplemented");
  }
  expect(await counts(service())).toEqual(before);
});

test("the internal listener rejects a batch with an unknown property or a wrong type and names the item and the field [ING-12, VAL-06, ADM-01, WIR-06]", async () => {
  const headers = { authorization: `Bearer ${service().serviceToken}` };
  const rpc = IngestService.method.upsertSessionNotes;
  const account_id = owner.id;
  const types =
    "notes[1].type: must be one of user_manual, ai_meeting_prep, user_template, ai_predefined, ai_assistant, reader_comment";
  const time = "must be a date-time, such as 2026-01-31T09:30:00Z";
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{ account_id, notes: [{ content: "a" }, { type: "FOO" }] }, [types]],
    [
      { account_id, notes: [{}, { created_at: "tomorrow" }, { content: 1, createdAt: 5 }] },
      [`notes[1].created_at: ${time}`, "notes[2].content: must be a string", `notes[2].created_at: ${time}`],
    ],
    [{ account_id, notes: [{ position: "x" }] }, ["notes[0].position: must be a whole number"]],
    [{ account_id, notes: [{}, { foo: 1 }] }, ["notes[1].foo: is not a known property"]],
    [{ account_id, notes: [null] }, ["notes[0]: must be an object"]],
    [{ account_id, notes: {} }, ["notes: must be an array"]],
  ];
  for (const [message, violations] of cases) {
    for (const form of forms.filter((one) => one.json)) {
      expectRejected(
        await send(service().internal, form, rpc, enveloped(form, Buffer.from(JSON.stringify(message))), headers),
        form,
        violations,
      );
    }
  }
});

test("a missing or unreadable message over Connect's GET is invalid_argument [VAL-01, WIR-06]", async () => {
  const notUtf8 = Buffer.from('{"contact_id":"\xff"}', "latin1");
  const cases: readonly (readonly [query: string, words: string])[] = [
    ["?encoding=json", "Unexpected end of JSON input"],
    ["?encoding=proto", "contact_id: must not be empty"],
    ["?encoding=json&message=no", "is not valid JSON"],
    [`?encoding=json&message=${encodeURIComponent('{"contact_id":5}')}`, "contact_id: must be a string"],
    ["?encoding=proto&base64=1&message=*", "message: must be base64"],
    ["?encoding=json&message=%7B%22contact_id%22:%22%FF%22%7D", "message: must be percent-encoded UTF-8"],
    ["?encoding=proto&message=%0A%01%FF", "message: must be percent-encoded UTF-8"],
    ["?encoding=json&connect=v2&message=%7B%7D", "connect: must be v1"],
    ["?encoding=json&message=%7B%7D&message=%7B%7D", "message: must not be given more than once"],
    [`?encoding=json&base64=1&message=${notUtf8.toString("base64url")}`, "the message must be UTF-8"],
    [
      `?encoding=json&base64=1&compression=gzip&message=${gzipSync(notUtf8).toString("base64url")}`,
      "the message must be UTF-8",
    ],
    ["?encoding=proto&base64=1&message=____", "premature EOF"],
    ["?encoding=proto&base64=1&message=____&compression=gzip", "decompression failed"],
  ];
  for (const [query, words] of cases) {
    const { status, code, reason, violations } = await get(service().base, getContact, query, key);
    expect([status, code, reason], query).toEqual([400, "invalid_argument", "INVALID_REQUEST"]);
    expect(violations[0], query).toContain(words);
  }
  expect((await get(service().base, getContact, "?encoding=proto&message=&compression=br", key)).code).toBe(
    "unimplemented",
  );
  const zipped = gzipSync(JSON.stringify({ contact_id: owner.contact })).toString("base64url");
  expect(
    (await get(service().base, getContact, `?encoding=json&base64=1&compression=gzip&message=${zipped}`, key)).code,
  ).toBe("ok");
});

test("a revoked key is unauthenticated before its message is invalid, even if an instance still remembers it [ERR-12, WIR-05, WIR-06]", async () => {
  for (const form of forms) {
    const { id, key: secret } = await service().account();
    const headers = { authorization: `Bearer ${secret}` };
    const broken = enveloped(form, form.json ? Buffer.from("no") : Buffer.from("ffffff", "hex"));
    expect((await send(service().base, form, listSessions, broken, headers)).code, form.name).toBe("invalid_argument");
    await service().app.services.apiKeys.revoke(new UUID(id));
    const response = await send(service().base, form, listSessions, broken, headers);
    expect([response.code, response.reason], form.name).toEqual(["unauthenticated", "INVALID_KEY"]);
  }
});

test("reports a mask path that is not a string, or very long, like any other [CUP-11, WIR-10]", async () => {
  for (const form of forms) {
    for (const path of ["\ud83d", "x".repeat(100_000)]) {
      if (path === "\ud83d" && !form.json) continue;
      const message = form.json
        ? Buffer.from(JSON.stringify({ contact_id: owner.contact, phone: "1", update_mask: path }))
        : written(form, updateContact, { contactId: owner.contact, phone: "1", updateMask: { paths: [path] } });
      const response = await send(service().base, form, updateContact, enveloped(form, message), key);
      expect([response.code, response.reason], form.name).toEqual(["invalid_argument", "INVALID_REQUEST"]);
      expect(response.violations[0], form.name).toMatch(/^update_mask: "(\ufffd|x+)/);
      expect(JSON.stringify([...response.headers]).length, form.name).toBeLessThan(8_192);
    }
  }
});

test("rejects a unary call of very many messages like one of two [WIR-06]", async () => {
  const form = forms.find(({ protocol }) => protocol === "grpc") as Form;
  const [two, many] = await Promise.all(
    [2, 50_000].map((count) => send(service().base, form, createContact, Buffer.alloc(5 * count), key)),
  );
  expect(two?.code).not.toBe("internal");
  expect([many?.code, many?.message]).toEqual([two?.code, two?.message]);
});
