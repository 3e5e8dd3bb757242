// Messages that cannot be decoded: on every wire the caller is told what is wrong with the message, and where.
import { gzipSync } from "node:zlib";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { beforeAll, describe, expect, test } from "vitest";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { counts, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";
import type { Form, Sent, Told } from "./forms.ts";
import { encoding, enveloped, forms, get, send, written } from "./forms.ts";

const service = useService();
let owner: Owner;
let key: Sent;
beforeAll(async () => {
  owner = await newOwner(service());
  key = { authorization: `Bearer ${owner.key}` };
});

const createContact = ContactService.method.createContact;
const updateContact = ContactService.method.updateContact;
const getContact = ContactService.method.getContact;
const listSessions = SessionService.method.listSessions;
const names = "full_name, email, phone";

function expectRefused({ status, code, reason, message, violations }: Told, form: Form, expected: readonly string[]): void {
  const text = expected.map((violation) => violation.replace(/^: /, "")).join("; ");
  expect({ code, reason, message, violations }, form.name).toEqual({ code: "invalid_argument", reason: "INVALID_REQUEST", message: text, violations: expected });
  expect(status, form.name).toBe(form.protocol === "connect" ? 400 : 200);
}

const wrongJson: readonly (readonly [what: string, rpc: DescMethodUnary, json: string | Buffer, violations: readonly string[]])[] = [
  ["a number for a string", createContact, '{"full_name":5}', ["full_name: must be a string"]],
  ["an object for a string", createContact, '{"full_name":{}}', ["full_name: must be a string"]],
  ["its name in JSON", createContact, '{"fullName":[]}', ["full_name: must be a string"]],
  ["a string for a number", listSessions, '{"limit":"many"}', ["limit: must be a whole number"]],
  ["a broken number", listSessions, '{"limit":1.5}', ["limit: must be a whole number"]],
  ["a large number", listSessions, '{"offset":3000000000}', ["offset: must be at most 2147483647"]],
  ["a small number", listSessions, '{"offset":-3000000000}', ["offset: must be at least -2147483648"]],
  ["several at once", createContact, '{"full_name":"","email":5,"phone":[],"foo":1}', ["email: must be a string", "phone: must be a string", `foo: is none of the properties ${names}`, "full_name: must not be empty"]],
  ["an unknown property", createContact, '{"full_name":"x","foo":1}', [`foo: is none of the properties ${names}`]],
  ["an unknown property without a name", createContact, '{"full_name":"x","":1}', [`"": is none of the properties ${names}`]],
  ["one property twice", createContact, '{"full_name":"a","full_name":"b"}', ["full_name: must not be given more than once"]],
  ["one property twice, once escaped", createContact, '{"full_name":"a","full\\u005fname":"b"}', ["full_name: must not be given more than once"]],
  ["one property under both its names", createContact, '{"full_name":"a","fullName":"b"}', ["full_name: must not be given more than once"]],
  ["a lone surrogate", createContact, '{"full_name":"lone \\ud83d"}', ["full_name: must not hold a lone surrogate"]],
  ["a lone surrogate in a name", createContact, '{"full_name":"x","\\ud83d":1}', [`\ufffd: is none of the properties ${names}`]],
  ["a mask that is no string", updateContact, `{"update_mask":5,"contact_id":"00000000-0000-4000-8000-000000000000"}`, ["update_mask: must be a string of field names as JSON spells them, such as fullName,email"]],
  ["an array", createContact, "[]", [": the message must be a JSON object"]],
  ["null", createContact, "null", [": the message must be a JSON object"]],
  ["nothing", createContact, "", [": the message must be JSON: Unexpected end of JSON input"]],
  ["no JSON", createContact, "no", [`: the message must be JSON: Unexpected token 'o', "no" is not valid JSON`]],
  ["no UTF-8", createContact, Buffer.from('{"full_name":"\xff"}', "latin1"), [": the message must be UTF-8"]],
  ["depth", createContact, `{"full_name":${"[".repeat(200)}${"]".repeat(200)}}`, ["full_name: must be a string"]],
];

test.each(wrongJson)("JSON with %s is invalid_argument with INVALID_REQUEST, and the field is named [VAL-01, VAL-02, VAL-03, VAL-06, VAL-12, WIR-06, ERR-03]", async (_what, rpc, json, violations) => {
  const before = await counts(service());
  for (const form of forms.filter((one) => one.json)) expectRefused(await send(service().base, form, rpc, enveloped(form, Buffer.from(json)), key), form, violations);
  expect(await counts(service())).toEqual(before);
});

test.each([
  ["bytes that are no message", "ffffff", ": the message must be a records.v1.CreateContactRequest in protobuf's binary form: premature EOF"],
  ["a string that is cut off", "0a05", ": the message must be a records.v1.CreateContactRequest in protobuf's binary form: premature EOF"],
  ["an illegal tag", "00", ": the message must be a records.v1.CreateContactRequest in protobuf's binary form: illegal tag: field no 0 wire type 0"],
  ["a string that is no UTF-8", "0a02c328", ": the message must hold no text that is not UTF-8"],
  ["a surrogate in UTF-8", "0a03eda080", ": the message must hold no text that is not UTF-8"],
])("binary with %s is invalid_argument with INVALID_REQUEST, also over gRPC [VAL-01, VAL-02, VAL-12, WIR-06]", async (_what, hex, violation) => {
  for (const form of forms.filter((one) => !one.json)) expectRefused(await send(service().base, form, createContact, enveloped(form, Buffer.from(hex, "hex")), key), form, [violation]);
});

test("an envelope that is cut off is invalid_argument [VAL-01, WIR-06]", async () => {
  for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
    const whole = enveloped(form, written(form, createContact, { fullName: "x" }));
    for (const length of [1, 4, 5, whole.length - 1]) {
      expectRefused(await send(service().base, form, createContact, whole.subarray(0, length), key), form, [": the message is cut off: its envelope promises more bytes than came"]);
    }
  }
});

test("an empty message is read as one: what is required is missing [VAL-01, WIR-06]", async () => {
  for (const form of forms) {
    const empty = form.json ? Buffer.from("{}") : Buffer.alloc(0);
    expectRefused(await send(service().base, form, createContact, enveloped(form, empty), key), form, ["full_name: must not be empty"]);
  }
});

test("a unary call with no message or with two is gRPC's own unimplemented, and writes nothing [WIR-01]", async () => {
  const before = await counts(service());
  for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
    const one = enveloped(form, written(form, createContact, { fullName: "x" }));
    for (const body of [Buffer.alloc(0), Buffer.concat([one, one])]) expect((await send(service().base, form, createContact, body, key)).code, form.name).toBe("unimplemented");
  }
  expect(await counts(service())).toEqual(before);
});

test("trailers that follow the message in gRPC-Web are passed over [WIR-01]", async () => {
  for (const form of forms.filter(({ protocol }) => protocol === "grpc-web")) {
    const body = Buffer.concat([enveloped(form, written(form, getContact, { contactId: owner.contact })), enveloped(form, Buffer.from("x: y\r\n"), 0x80)]);
    expect((await send(service().base, form, getContact, body, key)).code, form.name).toBe("ok");
  }
});

describe("a compressed message", () => {
  test("is read when it is gzip, and when it says that it is not compressed [WIR-01]", async () => {
    for (const form of forms) {
      const message = written(form, getContact, { contactId: owner.contact });
      const gzipped = await send(service().base, form, getContact, enveloped(form, gzipSync(message), 1), { ...key, ...encoding(form, "gzip") });
      expect([form.name, gzipped.code]).toEqual([form.name, "ok"]);
      const plain = await send(service().base, form, getContact, enveloped(form, message), { ...key, ...encoding(form, "identity") });
      expect([form.name, plain.code]).toEqual([form.name, "ok"]);
    }
  });

  test("that is no gzip, or cut off, is invalid_argument [VAL-01, WIR-06]", async () => {
    for (const form of forms) {
      const gzipped = gzipSync(written(form, createContact, { fullName: "x" }));
      for (const broken of [Buffer.from("no gzip"), gzipped.subarray(0, -4), Buffer.concat([gzipped.subarray(0, -8), Buffer.alloc(8)])]) {
        const answer = await send(service().base, form, createContact, enveloped(form, broken, 1), { ...key, ...encoding(form, "gzip") });
        expectRefused(answer, form, [": the message cannot be decompressed: it is no valid gzip"]);
      }
    }
  });

  test("of an unknown compression is the protocol's own unimplemented, which names gzip [WIR-01]", async () => {
    for (const form of forms) {
      const answer = await send(service().base, form, createContact, enveloped(form, Buffer.from("x"), 1), { ...key, ...encoding(form, "br") });
      expect([form.name, answer.code, answer.headers.get(form.protocol === "connect" ? "accept-encoding" : "grpc-accept-encoding")]).toEqual([form.name, "unimplemented", "gzip"]);
    }
  });

  test("of which nobody says how it is compressed is invalid_argument [VAL-01, WIR-06]", async () => {
    for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
      for (const headers of [key, { ...key, ...encoding(form, "identity") }]) {
        const answer = await send(service().base, form, createContact, enveloped(form, gzipSync(written(form, createContact, { fullName: "x" })), 1), headers);
        expectRefused(answer, form, [": the message is marked as compressed, and grpc-encoding does not say how"]);
      }
    }
  });

  test("that inflates to a gibibyte is refused for its size, and takes no memory to speak of [VAL-04, WIR-06]", async () => {
    // A gzip may have many members, so that this one need not be made as a whole.
    const member = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
    expect(bomb.length).toBeGreaterThan(1_000_000);
    for (const form of forms) {
      const sent = enveloped(form, bomb.subarray(0, 1024 * 1024), 1);
      const before = process.memoryUsage();
      const answer = await send(service().base, form, createContact, sent, { ...key, ...encoding(form, "gzip") });
      const after = process.memoryUsage();
      expectRefused(answer, form, [": the message must be at most 1048576 bytes"]);
      expect(after.external + after.heapUsed - before.external - before.heapUsed, form.name).toBeLessThan(64 * 1024 * 1024);
    }
  });
});

describe("a message over the limit", () => {
  const tooLarge = [": the message must be at most 1048576 bytes"];
  /** A message of so many bytes, in an envelope where there is one. */
  function ofSize(form: Form, size: number): Buffer {
    const around = written(form, createContact, { fullName: "a".repeat(100_000) }).length - 100_000;
    return enveloped(form, written(form, createContact, { fullName: "a".repeat(size - around) }));
  }

  test("is invalid_argument and says the limit, and never resource_exhausted, which would be tried again [VAL-04, WIR-06]", async () => {
    for (const form of forms) {
      for (const size of [1024 * 1024 + 1, 1024 * 1024 + 7, 4_000_000]) expectRefused(await send(service().base, form, createContact, ofSize(form, size), key), form, tooLarge);
    }
  });

  test("is told so while it is still being sent, by HTTP/1.1 without a length too [VAL-04, WIR-06]", async () => {
    const connect = forms.find(({ name }) => name === "connect, json, HTTP/1") as Form;
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x61));
        if (sent > 3_000_000) controller.close();
      },
    });
    const response = await fetch(`${service().base}/records.v1.ContactService/CreateContact`, { method: "POST", headers: { ...key, "content-type": connect.type }, body, duplex: "half" } as RequestInit);
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([400, "the message must be at most 1048576 bytes"]);
  });

  test("is known by what its envelope promises, before it has come [VAL-04, WIR-06]", async () => {
    for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
      for (const size of [1024 * 1024 + 1, 0xffff_ffff]) {
        const body = enveloped(form, Buffer.from("x"));
        body.writeUInt32BE(size, 1);
        expectRefused(await send(service().base, form, createContact, body, key), form, tooLarge);
      }
    }
  });

  test("of exactly the limit is read: it is refused for what is in it [VAL-04, WIR-06]", async () => {
    for (const form of forms) expectRefused(await send(service().base, form, createContact, ofSize(form, 1024 * 1024), key), form, ["full_name: must be at most 200 characters"]);
  });

  test("is larger on the internal listener, whose messages are batches [WIR-06]", async () => {
    const headers = { authorization: `Bearer ${service().serviceToken}`, "records-account-id": owner.id };
    for (const form of forms) expectRefused(await send(service().internal, form, createContact, ofSize(form, 2_000_000), headers), form, ["full_name: must be at most 200 characters"]);
  });
});

test("on the internal listener what is unknown or ill-typed in a batch is named by its place [VAL-06, ADM-01, WIR-06]", async () => {
  const headers = { authorization: `Bearer ${service().serviceToken}` };
  const rpc = IngestService.method.upsertSessionNotes;
  const kinds = "SESSION_NOTE_TYPE_USER_MANUAL, SESSION_NOTE_TYPE_AI_MEETING_PREP, SESSION_NOTE_TYPE_USER_TEMPLATE, SESSION_NOTE_TYPE_AI_PREDEFINED, SESSION_NOTE_TYPE_AI_ASSISTANT, SESSION_NOTE_TYPE_READER_COMMENT";
  const note = "id, external_id, session_id, session_external_id, title, title_slug, content, position, type, created_at";
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{ account_id: owner.id, notes: [{ content: "a" }, { type: "FOO" }] }, [`notes[1].type: must be one of ${kinds}`]],
    [{ account_id: owner.id, notes: [{ created_at: "tomorrow", position: "x" }] }, ["notes[0].created_at: must be a date-time with an offset, such as 2026-01-31T09:30:00Z", "notes[0].position: must be a whole number"]],
    [{ account_id: owner.id, notes: [{}, { foo: 1 }] }, [`notes[1].foo: is none of the properties ${note}`]],
    [{ account_id: owner.id, notes: [null] }, ["notes[0]: must be an object"]],
    [{ account_id: owner.id, notes: {} }, ["notes: must be a list"]],
    [{ account_id: owner.id, notes: [], foo: 1 }, ["foo: is none of the properties account_id, notes", "notes: must contain at least 1 item(s)"]],
  ];
  for (const [message, violations] of cases) {
    for (const form of forms.filter((one) => one.json)) {
      const answer = await send(service().internal, form, rpc, enveloped(form, Buffer.from(JSON.stringify(message))), headers);
      expectRefused(answer, form, violations);
    }
  }
});

test("a caller is told of fifty things at most, and gRPC's trailers stay small [ERR-03, WIR-06]", async () => {
  const json = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, at])));
  for (const form of forms.filter((one) => one.json)) {
    const answer = await send(service().base, form, createContact, enveloped(form, Buffer.from(json)), key);
    expect([answer.code, answer.violations[0]], form.name).toEqual(["invalid_argument", `p0: is none of the properties ${names}`]);
    expect(JSON.stringify([...answer.headers]).length, form.name).toBeLessThan(8_192);
    expect(answer.violations.length, form.name).toBeLessThanOrEqual(50);
  }
});

test("by Connect's GET a message that is missing or cannot be read is invalid_argument [VAL-01, WIR-06]", async () => {
  const cases: readonly (readonly [query: string, violation: string])[] = [
    ["?encoding=json", "message: is required"],
    ["?encoding=proto", "message: is required"],
    ["?encoding=json&message=no", `: the message must be JSON: Unexpected token 'o', "no" is not valid JSON`],
    ["?encoding=json&message=", ": the message must be JSON: Unexpected end of JSON input"],
    [`?encoding=json&message=${encodeURIComponent('{"contact_id":5}')}`, "contact_id: must be a string"],
    ["?encoding=proto&base64=1&message=*", "message: must be base64"],
    ["?encoding=proto&base64=1&message=____", ": the message must be a records.v1.GetContactRequest in protobuf's binary form: premature EOF"],
    ["?encoding=proto&base64=1&message=____&compression=gzip", ": the message cannot be decompressed: it is no valid gzip"],
  ];
  for (const [query, violation] of cases) {
    const { status, code, reason, violations } = await get(service().base, getContact, query, key);
    expect([status, code, reason, violations], query).toEqual([400, "invalid_argument", "INVALID_REQUEST", [violation]]);
  }
  expect((await get(service().base, getContact, "?encoding=proto&message=&compression=br", key)).code).toBe("unimplemented");
  const zipped = gzipSync(JSON.stringify({ contact_id: owner.contact })).toString("base64url");
  expect((await get(service().base, getContact, `?encoding=json&base64=1&compression=gzip&message=${zipped}`, key)).code).toBe("ok");
});

test("a revoked key is unauthenticated before its message is invalid, also where an instance still remembers it [ERR-12, WIR-05, WIR-06]", async () => {
  for (const form of forms) {
    const { id, key: secret } = await service().account();
    const headers = { authorization: `Bearer ${secret}` };
    const broken = enveloped(form, form.json ? Buffer.from("no") : Buffer.from("ffffff", "hex"));
    expect((await send(service().base, form, listSessions, broken, headers)).code, form.name).toBe("invalid_argument");
    await service().app.services.apiKeys.revoke(new UUID(id));
    const answer = await send(service().base, form, listSessions, broken, headers);
    expect([answer.code, answer.reason], form.name).toEqual(["unauthenticated", "INVALID_KEY"]);
  }
});

test("a mask path that is no text, or very long, is told like any other [CUP-11, WIR-10]", async () => {
  for (const form of forms) {
    for (const path of ["\ud83d", "x".repeat(100_000)]) {
      if (path === "\ud83d" && !form.json) continue;
      const message = form.json ? Buffer.from(JSON.stringify({ contact_id: owner.contact, phone: "1", update_mask: path })) : written(form, updateContact, { contactId: owner.contact, phone: "1", updateMask: { paths: [path] } });
      const answer = await send(service().base, form, updateContact, enveloped(form, message), key);
      expect([answer.code, answer.reason], form.name).toEqual(["invalid_argument", "INVALID_REQUEST"]);
      expect(answer.violations[0], form.name).toMatch(/^update_mask: "(\ufffd|x+)/);
      expect(JSON.stringify([...answer.headers]).length, form.name).toBeLessThan(8_192);
    }
  }
});

test("a unary call of very many messages is refused as one of two is [WIR-06]", async () => {
  const form = forms.find(({ protocol }) => protocol === "grpc") as Form;
  const [two, many] = await Promise.all([2, 200_000].map((count) => send(service().base, form, createContact, Buffer.alloc(5 * count), key)));
  expect(two?.code).not.toBe("internal");
  expect([many?.code, many?.message]).toEqual([two?.code, two?.message]);
});
