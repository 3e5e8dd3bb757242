// Messages that cannot be decoded: on every wire the caller is told what is wrong with the message, and where.
import { gzipSync } from "node:zlib";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { beforeAll, describe, expect, test } from "vitest";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { AccountService } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import { InterfaceService } from "../../src/gen/records/admin/v1/interface_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { NoteService } from "../../src/gen/records/v1/notes_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { maxMessageBytes } from "../../src/rpc/limits.ts";
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

function expectRefused({ status, code, reason, message, violations }: Told, form: Form, expected: readonly string[]): void {
  const text = expected.map((violation) => violation.replace(/^: /, "")).join("; ");
  expect({ code, reason, message, violations }, form.name).toEqual({ code: "invalid_argument", reason: "INVALID_REQUEST", message: text, violations: expected });
  expect(status, form.name).toBe(form.protocol === "connect" ? 400 : 200);
}

/** The library's own words, as one violation of the message as a whole. */
function expectUnreadable({ status, code, reason, message, violations }: Told, form: Form, words: string): void {
  expect({ code, reason, message, violations }, form.name).toEqual({
    code: "invalid_argument",
    reason: "INVALID_REQUEST",
    message: expect.stringContaining(words) as string,
    violations: [`: ${message}`],
  });
  expect(message?.length).toBeLessThanOrEqual(330);
  expect(status, form.name).toBe(form.protocol === "connect" ? 400 : 200);
}

const wrongJson: readonly (readonly [what: string, rpc: DescMethodUnary, json: string | Buffer, words: string])[] = [
  ["a number for a string", createContact, '{"full_name":5}', "CreateContactRequest.full_name from JSON: expected string, got 5"],
  ["an object for a string", createContact, '{"full_name":{}}', "CreateContactRequest.full_name from JSON"],
  ["its name in JSON", createContact, '{"fullName":[]}', "CreateContactRequest.full_name from JSON"],
  ["a string for a number", listSessions, '{"limit":"many"}', "ListSessionsRequest.limit from JSON"],
  ["a broken number", listSessions, '{"limit":1.5}', "ListSessionsRequest.limit from JSON"],
  ["a large number", listSessions, '{"offset":3000000000}', "ListSessionsRequest.offset from JSON"],
  ["an unknown property", createContact, '{"full_name":"x","foo":1}', 'key "foo" is unknown'],
  ["an unknown property without a name", createContact, '{"full_name":"x","":1}', 'key "" is unknown'],
  ["one property twice", createContact, '{"full_name":"a","full_name":"b"}', 'duplicate object key "full_name"'],
  ["one property twice, once escaped", createContact, '{"full_name":"a","full\\u005fname":"b"}', 'duplicate object key "full_name"'],
  ["one property under both its names", createContact, '{"full_name":"a","fullName":"b"}', "full_name from JSON: set multiple times"],
  ["a lone surrogate", createContact, '{"full_name":"lone \\ud83d"}', "CreateContactRequest.full_name from JSON"],
  ["a lone surrogate in a name", createContact, '{"full_name":"x","\\ud83d":1}', ""],
  ["a mask that is no string", updateContact, `{"update_mask":5,"contact_id":"00000000-0000-4000-8000-000000000000"}`, "google.protobuf.FieldMask from JSON"],
  ["an array", createContact, "[]", "CreateContactRequest from JSON"],
  ["null", createContact, "null", "CreateContactRequest from JSON"],
  ["nothing", createContact, "", "Unexpected end of JSON input"],
  ["no JSON", createContact, "no", "is not valid JSON"],
  ["no UTF-8", createContact, Buffer.from('{"full_name":"\xff"}', "latin1"), "the message must be UTF-8"],
  ["depth", createContact, `{"full_name":${"[".repeat(200)}${"]".repeat(200)}}`, "CreateContactRequest.full_name from JSON"],
  ["a name of many letters", createContact, `{"${"x".repeat(100_000)}":1}`, "CreateContactRequest from JSON: key \"xxx"],
];

test.each(wrongJson)("JSON with %s is invalid_argument with INVALID_REQUEST, and says where [VAL-01, VAL-02, VAL-03, VAL-06, VAL-12, WIR-06, ERR-03]", async (_what, rpc, json, words) => {
  const before = await counts(service());
  for (const form of forms.filter((one) => one.json)) {
    const answer = await send(service().base, form, rpc, enveloped(form, Buffer.from(json)), key);
    expectUnreadable(answer, form, words);
    expect(JSON.stringify([...answer.headers]).length, form.name).toBeLessThan(8_192);
  }
  expect(await counts(service())).toEqual(before);
});

test("JSON that is no UTF-8 inside gzip is refused too [VAL-12]", async () => {
  const broken = gzipSync(Buffer.from('{"full_name":"\xff"}', "latin1"));
  for (const form of forms.filter((one) => one.json)) {
    expectUnreadable(await send(service().base, form, createContact, enveloped(form, broken, 1), { ...key, ...encoding(form, "gzip") }), form, "the message must be UTF-8");
  }
});

test.each([
  ["bytes that are no message", "ffffff", "premature EOF"],
  ["a string that is cut off", "0a05", "premature EOF"],
  ["an illegal tag", "00", "illegal tag: field no 0 wire type 0"],
  ["a string that is no UTF-8", "0a02c328", "utf-8"],
  ["a surrogate in UTF-8", "0a03eda080", "utf-8"],
])("binary with %s is invalid_argument with INVALID_REQUEST, also over gRPC [VAL-01, VAL-02, VAL-12, WIR-06]", async (_what, hex, words) => {
  for (const form of forms.filter((one) => !one.json)) expectUnreadable(await send(service().base, form, createContact, enveloped(form, Buffer.from(hex, "hex")), key), form, words);
});

test("an envelope that is cut off is invalid_argument [VAL-01, WIR-06]", async () => {
  for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
    const whole = enveloped(form, written(form, createContact, { fullName: "x" }));
    for (const length of [1, 4, whole.length - 1]) {
      expectUnreadable(await send(service().base, form, createContact, whole.subarray(0, length), key), form, "incomplete envelope");
    }
  }
});

test("an empty message is read as one: what is required is missing [VAL-01, WIR-06]", async () => {
  for (const form of forms) {
    const empty = form.json ? Buffer.from("{}") : Buffer.alloc(0);
    expectRefused(await send(service().base, form, createContact, enveloped(form, empty), key), form, ["full_name: must not be empty"]);
  }
});

test("everything that is wrong with a message that can be read is told at once [ERR-03, WIR-06]", async () => {
  for (const form of forms) {
    const answer = await send(service().base, form, createContact, enveloped(form, written(form, createContact, { fullName: "", email: "x", phone: "1".repeat(51) })), key);
    expect(answer.violations.map((one) => one.split(":")[0]), form.name).toEqual(["full_name", "email", "phone"]);
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
        expectUnreadable(answer, form, "decompression failed");
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
        expectUnreadable(answer, form, "cannot be read");
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
      expectRefused(answer, form, [": the message must be at most 262144 bytes"]);
      expect(after.external + after.heapUsed - before.external - before.heapUsed, form.name).toBeLessThan(64 * 1024 * 1024);
    }
  });
});

describe("a message over the limit", () => {
  const tooLarge = [": the message must be at most 262144 bytes"];
  /** A message of so many bytes, in an envelope where there is one. */
  function ofSize(form: Form, size: number): Buffer {
    const around = written(form, createContact, { fullName: "a".repeat(100_000) }).length - 100_000;
    return enveloped(form, written(form, createContact, { fullName: "a".repeat(size - around) }));
  }

  test("is invalid_argument and says the limit, and never resource_exhausted, which would be tried again [VAL-04, WIR-06]", async () => {
    for (const form of forms) {
      for (const size of [256 * 1024 + 1, 256 * 1024 + 7, 4_000_000]) expectRefused(await send(service().base, form, createContact, ofSize(form, size), key), form, tooLarge);
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
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([400, "the message must be at most 262144 bytes"]);
  });

  test("is known by what its envelope promises, before it has come [VAL-04, WIR-06]", async () => {
    for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
      for (const size of [256 * 1024 + 1, 0xffff_ffff]) {
        const body = enveloped(form, Buffer.from("x"));
        body.writeUInt32BE(size, 1);
        expectRefused(await send(service().base, form, createContact, body, key), form, tooLarge);
      }
    }
  });

  test("of exactly the limit is read: it is refused for what is in it [VAL-04, WIR-06]", async () => {
    for (const form of forms) expectRefused(await send(service().base, form, createContact, ofSize(form, 256 * 1024), key), form, ["full_name: must be at most 200 characters"]);
  });

  test("is what the rpc's proto says: a kibibyte for health, and batches of ingest are far larger [WIR-06]", async () => {
    const checkHealth = HealthService.method.checkHealth;
    for (const form of forms) {
      const large = form.json ? Buffer.from(`{}${" ".repeat(1023)}`) : Buffer.concat([Buffer.from([0xfa, 0x7f, 0xfe, 0x07]), Buffer.alloc(1022)]);
      expectRefused(await send(service().base, form, checkHealth, enveloped(form, large), {}), form, [": the message must be at most 1024 bytes"]);
      if (form.json) expect((await send(service().base, form, checkHealth, enveloped(form, Buffer.from(`{}${" ".repeat(1022)}`)), {})).code, form.name).toBe("ok");
      const headers = { authorization: `Bearer ${service().serviceToken}` };
      const batch = written(form, IngestService.method.upsertContactNotes, { accountId: owner.id, notes: [{ contactId: owner.contact, content: "a".repeat(2_000_000) }] });
      expect((await send(service().internal, form, IngestService.method.upsertContactNotes, enveloped(form, batch), headers)).code, form.name).toBe("ok");
    }
  });
});

test("every rpc says how large its messages may be [WIR-06]", () => {
  const services = [HealthService, ContactService, SessionService, NoteService, IngestService, AccountService, InterfaceService];
  for (const rpc of services.flatMap(({ methods }) => methods)) expect(maxMessageBytes(rpc), rpc.name).toBeGreaterThan(0);
});

test("on the internal listener what is unknown or ill-typed in a batch is refused as a whole [VAL-06, ADM-01, WIR-06]", async () => {
  const headers = { authorization: `Bearer ${service().serviceToken}` };
  const rpc = IngestService.method.upsertSessionNotes;
  const cases: readonly (readonly [unknown, string])[] = [
    [{ account_id: owner.id, notes: [{ content: "a" }, { type: "FOO" }] }, 'enum records.v1.SessionNoteType from JSON: "FOO"'],
    [{ account_id: owner.id, notes: [{ created_at: "tomorrow" }] }, "google.protobuf.Timestamp from JSON"],
    [{ account_id: owner.id, notes: [{ position: "x" }] }, ".position from JSON"],
    [{ account_id: owner.id, notes: [{}, { foo: 1 }] }, 'key "foo" is unknown'],
    [{ account_id: owner.id, notes: [null] }, ".notes from JSON"],
    [{ account_id: owner.id, notes: {} }, ".notes from JSON"],
  ];
  for (const [message, words] of cases) {
    for (const form of forms.filter((one) => one.json)) {
      expectUnreadable(await send(service().internal, form, rpc, enveloped(form, Buffer.from(JSON.stringify(message))), headers), form, words);
    }
  }
});

test.each(["02-30T00:00:00", "02-29T09:00:00", "04-31T09:00:00", "06-31T24:00:00"])("a date-time that does not exist is named by its place, in gzip as well: 2026-%s [VAL-06, ING-01]", async (time) => {
  const headers = { authorization: `Bearer ${service().serviceToken}` };
  const rpc = IngestService.method.upsertSessionNotes;
  const message = Buffer.from(JSON.stringify({ account_id: owner.id, notes: [{}, { session_id: owner.session, created_at: `2026-${time}Z` }] }));
  const violation = "notes[1].created_at: must be a date-time that exists, such as 2026-01-31T09:30:00Z";
  for (const form of forms.filter((one) => one.json)) {
    expect((await send(service().internal, form, rpc, enveloped(form, message), headers)).violations, form.name).toContain(violation);
    const zipped = await send(service().internal, form, rpc, enveloped(form, gzipSync(message), 1), { ...headers, ...encoding(form, "gzip") });
    expect(zipped.violations, form.name).toContain(violation);
  }
});

test("gRPC's trailers stay small, whatever is wrong [ERR-03, WIR-06]", async () => {
  const json = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, at])));
  for (const form of forms.filter((one) => one.json)) {
    const answer = await send(service().base, form, createContact, enveloped(form, Buffer.from(json)), key);
    expectUnreadable(answer, form, 'key "p0" is unknown');
    expect(JSON.stringify([...answer.headers]).length, form.name).toBeLessThan(8_192);
  }
});

test("by Connect's GET a message that is missing or cannot be read is invalid_argument [VAL-01, WIR-06]", async () => {
  const cases: readonly (readonly [query: string, words: string])[] = [
    ["?encoding=json", "Unexpected end of JSON input"],
    ["?encoding=proto", "contact_id: must not be empty"],
    ["?encoding=json&message=no", "is not valid JSON"],
    [`?encoding=json&message=${encodeURIComponent('{"contact_id":5}')}`, "GetContactRequest.contact_id from JSON"],
    ["?encoding=proto&base64=1&message=*", "cannot be read"],
    ["?encoding=proto&base64=1&message=____", "premature EOF"],
    ["?encoding=proto&base64=1&message=____&compression=gzip", "decompression failed"],
  ];
  for (const [query, words] of cases) {
    const { status, code, reason, violations } = await get(service().base, getContact, query, key);
    expect([status, code, reason], query).toEqual([400, "invalid_argument", "INVALID_REQUEST"]);
    expect(violations[0], query).toContain(words);
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
  const [two, many] = await Promise.all([2, 50_000].map((count) => send(service().base, form, createContact, Buffer.alloc(5 * count), key)));
  expect(two?.code).not.toBe("internal");
  expect([many?.code, many?.message]).toEqual([two?.code, two?.message]);
});
