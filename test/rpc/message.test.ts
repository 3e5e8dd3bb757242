// How the one message of a call is taken out of its envelope, its compression and its form, without a service around it.
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CreateAccountRequestSchema } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import { ImportRequestSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { ArchiveContactsRequestSchema, UpsertContactNotesRequestSchema, UpsertContactsRequestSchema, UpsertSessionNotesRequestSchema, UpsertSessionsRequestSchema } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { CreateApiKeyRequestSchema } from "../../src/gen/records/v1/api_keys_pb.ts";
import { CreateContactRequestSchema, UpdateContactRequestSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { CheckHealthRequestSchema } from "../../src/gen/records/v1/health_pb.ts";
import { ListSessionsRequestSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import type { Request } from "../../src/http/listener.ts";
import { readFlawedJson } from "../../src/rpc/flawed-json.ts";
import type { Reading } from "../../src/rpc/message.ts";
import { readMessage } from "../../src/rpc/message.ts";
import type { Spoken } from "../../src/rpc/spoken.ts";

const input = CreateContactRequestSchema;
const ann = Buffer.from(toBinary(input, create(input, { fullName: "Ann" })));
const limit = 1_000;

function spoken(protocol: Spoken["protocol"], binary = true, parameters?: Record<string, string>): Spoken {
  return { protocol, binary, parameters: parameters && new URLSearchParams(parameters) };
}

function read(how: Spoken, body: Uint8Array, headers: Record<string, string> = {}, schema: DescMessage = input): Promise<Reading> {
  const request = Object.assign(Readable.from(body.length === 0 ? [] : [Buffer.from(body)]), { headers, aborted: false });
  return readMessage(schema, how, request as unknown as Request, limit);
}

function envelope(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

function refused(rule: string, message: string, field = ""): Reading {
  return { kind: "unreadable", violations: [{ field, rule, message }] };
}

const whole = { kind: "read", message: { fullName: "Ann" }, violations: [] };
const compressed = { "content-encoding": "gzip", "grpc-encoding": "gzip" };
const noGzip = refused("compression", "the message cannot be decompressed: it is no valid gzip");
const tooLarge = refused("size", "the message must be at most 1000 bytes");

test("a message is read out of every protocol's body", async () => {
  expect(await read(spoken("connect"), ann)).toMatchObject(whole);
  expect(await read(spoken("grpc"), envelope(ann))).toMatchObject(whole);
  expect(await read(spoken("grpc-web"), envelope(ann))).toMatchObject(whole);
  expect(await read(spoken("connect", false), Buffer.from('{"fullName":"Ann"}'))).toMatchObject(whole);
});

test("in gRPC-Web trailers may follow the message, and in gRPC no flag but one means anything", async () => {
  expect(await read(spoken("grpc-web"), Buffer.concat([envelope(ann), envelope(Buffer.from("a: b"), 0x80)]))).toMatchObject(whole);
  expect(await read(spoken("grpc-web"), envelope(Buffer.from("a: b"), 0x80))).toEqual({ kind: "foreign", foreign: { messages: 0 } });
  expect(await read(spoken("grpc"), envelope(ann, 0x80))).toMatchObject(whole);
});

test("that there is one message is for the protocol's library to say", async () => {
  expect(await read(spoken("grpc"), Buffer.alloc(0))).toEqual({ kind: "foreign", foreign: { messages: 0 } });
  expect(await read(spoken("grpc"), Buffer.concat([envelope(ann), envelope(ann)]))).toEqual({ kind: "foreign", foreign: { messages: 2 } });
});

test.each([
  ["grpc", Buffer.from([0, 0, 0])],
  ["grpc", envelope(ann, 0, ann.length + 1)],
  ["grpc", envelope(Buffer.alloc(0), 0, 3)],
  ["grpc-web", Buffer.concat([envelope(ann), Buffer.from([0, 0, 0, 0])])],
] as const)("an envelope of %s that promises more than came is cut off: case %#", async (protocol, body) => {
  expect(await read(spoken(protocol), body)).toEqual(refused("envelope", "the message is cut off: its envelope promises more bytes than came"));
});

test("a message of exactly the limit is read, and a larger one is refused, in an envelope or without", async () => {
  const of = (size: number): Buffer => Buffer.from(JSON.stringify({ fullName: "a".repeat(size - '{"fullName":""}'.length) }));
  for (const [protocol, wrap] of [["connect", (body: Buffer) => body], ["grpc", envelope]] as const) {
    expect(await read(spoken(protocol, false), wrap(of(limit)))).toMatchObject({ kind: "read" });
    expect(await read(spoken(protocol, false), wrap(of(limit + 1)))).toEqual(tooLarge);
    const packed = gzipSync(of(limit + 1));
    expect(await read(spoken(protocol, false), protocol === "grpc" ? envelope(packed, 1) : packed, compressed)).toEqual(tooLarge);
  }
  expect(await read(spoken("grpc"), envelope(ann, 0, limit + 1))).toEqual(tooLarge);
});

test("a compressed message is read, and one that is no gzip is refused", async () => {
  expect(await read(spoken("connect"), gzipSync(ann), compressed)).toMatchObject(whole);
  expect(await read(spoken("grpc"), envelope(gzipSync(ann), 1), compressed)).toMatchObject(whole);
  expect(await read(spoken("grpc"), envelope(ann), compressed)).toMatchObject(whole);
  expect(await read(spoken("connect"), ann, compressed)).toEqual(noGzip);
  expect(await read(spoken("grpc"), envelope(ann, 1), compressed)).toEqual(noGzip);
  expect(await read(spoken("grpc"), envelope(ann, 1))).toEqual(refused("compression", "the message is marked as compressed, and grpc-encoding does not say how"));
  expect(await read(spoken("connect"), ann, { "content-encoding": "br" })).toEqual({ kind: "foreign", foreign: { encoding: "br" } });
});

test("a message in the URL is read as text or as base64", async () => {
  const none = Buffer.alloc(0);
  expect(await read(spoken("connect", false, { message: '{"fullName":"Ann"}' }), none)).toMatchObject(whole);
  expect(await read(spoken("connect", true, { message: ann.toString("base64url"), base64: "1" }), none)).toMatchObject(whole);
  expect(await read(spoken("connect", true, { message: gzipSync(ann).toString("base64url"), base64: "1", compression: "gzip" }), none)).toMatchObject(whole);
  expect(await read(spoken("connect", false, { message: "{}", compression: "gzip" }), none)).toEqual(noGzip);
  expect(await read(spoken("connect", true, {}), none)).toEqual(refused("required", "is required", "message"));
  expect(await read(spoken("connect", true, { message: "*", base64: "1" }), none)).toEqual(refused("base64", "must be base64", "message"));
});

test("a timeout that is none is told before the message is looked at", async () => {
  expect(await read(spoken("grpc"), Buffer.from("x"), { "grpc-timeout": "soon" })).toMatchObject({ kind: "unreadable", violations: [{ field: "grpc-timeout", rule: "timeout" }] });
});

test("a client that has gone is told nothing", async () => {
  const gone = Object.assign(Readable.from([]), { headers: {}, aborted: true });
  expect(await readMessage(input, spoken("connect"), gone as unknown as Request, limit)).toEqual({ kind: "gone" });
});

test("what is no message in the binary form is told why", async () => {
  expect(await read(spoken("connect"), Buffer.from("ffffff", "hex"))).toEqual(refused("protobuf", "the message must be a records.v1.CreateContactRequest in protobuf's binary form: premature EOF"));
  expect(await read(spoken("connect"), Buffer.from([0x0a, 1, 0xff]))).toEqual(refused("utf8", "the message must hold no text that is not UTF-8"));
});

/** What is wrong with a message in JSON, each as `field rule: message`. */
async function told(schema: DescMessage, json: string | Buffer): Promise<string[]> {
  const reading = await read(spoken("connect", false), Buffer.from(json), {}, schema);
  return "violations" in reading ? reading.violations.map(({ field, rule, message }) => `${field} ${rule}: ${message}`) : [reading.kind];
}

const moment = "timestamp: must be a date-time that exists, such as 2026-01-31T09:30:00Z";
const form = "type: must be a date-time with an offset, such as 2026-01-31T09:30:00Z";
const properties = "unknown_property: is none of the properties full_name, email, phone";
const missing = " json: the message must be JSON: Unexpected end of JSON input";

test.each<[string | Buffer, string[], DescMessage]>([
  ["", [missing], input],
  ["[]", [" object: the message must be a JSON object"], input],
  [Buffer.from('{"full_name":"\xff"}', "latin1"), [" utf8: the message must be UTF-8"], input],
  ['{"full_name":5,"email":[],"nickname":1}', ["full_name type: must be a string", "email type: must be a string", `nickname ${properties}`], input],
  ['{"full_name":"a","full_name":"b"}', ["full_name duplicate: must not be given more than once"], input],
  ['{"fullName":"a","fullName":"b"}', ["full_name duplicate: must not be given more than once"], input],
  ['{"a\\"b":1,"a\\"b":2}', ['a"b duplicate: must not be given more than once', `a"b ${properties}`], input],
  ['{"full_name":"a","fullName":"b"}', ["full_name duplicate: must not be given more than once"], input],
  ['{"nickname":1,"full_name":"a","fullName":"b"}', [`nickname ${properties}`, "full_name duplicate: must not be given more than once"], input],
  ['{"a":1}', ["a unknown_property: is unknown: there are no properties"], CheckHealthRequestSchema],
  ['{"contact_ids":["a",5]}', ["contact_ids[1] type: must be a string"], ArchiveContactsRequestSchema],
  ['{"contacts":["x",{"created_at":{}}]}', ["contacts[0] type: must be an object", `contacts[1].created_at ${form}`], UpsertContactsRequestSchema],
  ['{"position":"x","records":[{"sessionNote":{"position":"y"}}]}', ["position type: must be a value of its type", "records[0].session_note.position type: must be a whole number"], ImportRequestSchema],
  ['{"records":[{"contact":null},{"session_note":{"created_at":"2026-02-30T00:00:00Z"}}]}', [`records[1].session_note.created_at ${moment}`], ImportRequestSchema],
  ['{"full_name":"\\ud83d"}', ["full_name surrogate: must not hold a lone surrogate"], input],
  ['{"limit":"x","offset":3000000000}', ["limit type: must be a whole number", "offset range: must be at most 2147483647"], ListSessionsRequestSchema],
  ['{"offset":-3000000000}', ["offset range: must be at least -2147483648"], ListSessionsRequestSchema],
  ['{"limit":1.5}', ["limit type: must be a whole number"], ListSessionsRequestSchema],
  ['{"beta_enrolled":"yes"}', ["beta_enrolled type: must be true or false"], CreateAccountRequestSchema],
  ['{"update_mask":5}', ["update_mask type: must be a string of field names as JSON spells them, such as fullName,email"], UpdateContactRequestSchema],
  ['{"contacts":{}}', ["contacts type: must be a list"], UpsertContactsRequestSchema],
  ['{"contacts":[{},null,{"email":5,"phone":"1"}]}', ["contacts[1] type: must be an object", "contacts[2].email type: must be a string"], UpsertContactsRequestSchema],
  ['{"contacts":[{"created_at":"soon"}]}', [`contacts[0].created_at ${form}`], UpsertContactsRequestSchema],
  ['{"contacts":[{"created_at":"2026-02-30T00:00:00Z"},{"createdAt":"2026-01-31T00:00:00Z"},{"createdAt":"2026-04-31T00:00:00Z"}]}', [`contacts[0].created_at ${moment}`, `contacts[2].created_at ${moment}`], UpsertContactsRequestSchema],
  ['{"notes":[{"created_at":"2026-06-31T24:00:00Z","content":"T24:"}]}', [`notes[0].created_at ${moment}`], UpsertContactNotesRequestSchema],
  ['{"sessions":[{"session_date":"2024-02-29T09:00:00Z","title":"2026-02-30T"}]}', [], UpsertSessionsRequestSchema],
])("of %j this is wrong: %j", async (json, expected, schema) => {
  expect(await told(schema, json)).toEqual(expected);
});

test.each(["02-29", "02-30", "02-31", "04-31", "06-31", "09-31", "11-31"])("2026-%s is no day, whatever protobuf's JSON makes of it", async (day) => {
  expect(await told(UpsertSessionsRequestSchema, `{"sessions":[{"session_date":"2026-${day}T09:00:00Z"}]}`)).toEqual([`sessions[0].session_date ${moment}`]);
});

test("an enum's value is read by the name that REST gives it, beside protobuf's own", async () => {
  const json = JSON.stringify({ notes: [{ type: "ai_assistant" }, { type: "SESSION_NOTE_TYPE_AI_ASSISTANT" }, { type: 5, created_at: "2026-01-31T00:00:00Z" }] });
  const reading = await read(spoken("connect", false), Buffer.from(json), {}, UpsertSessionNotesRequestSchema);
  expect(reading).toMatchObject({ kind: "read", message: { notes: [{ type: 5 }, { type: 5 }, { type: 5 }] }, violations: [] });
  expect(await told(UpsertSessionNotesRequestSchema, '{"notes":[{"type":"ai_assistant","created_at":"2026-02-30T00:00:00Z"}]}')).toEqual([`notes[0].created_at ${moment}`]);
});

test.each(["unspecified", "AI_ASSISTANT", "assistant", "SESSION_NOTE_TYPE_", ""])("an enum has no value %j", async (name) => {
  const names = "SESSION_NOTE_TYPE_USER_MANUAL, SESSION_NOTE_TYPE_AI_MEETING_PREP, SESSION_NOTE_TYPE_USER_TEMPLATE, SESSION_NOTE_TYPE_AI_PREDEFINED, SESSION_NOTE_TYPE_AI_ASSISTANT, SESSION_NOTE_TYPE_READER_COMMENT";
  expect(await told(UpsertSessionNotesRequestSchema, JSON.stringify({ notes: [{ type: name }] }))).toEqual([`notes[0].type enum: must be one of ${names}`]);
});

test("an enum's value by REST's name is sound, wherever it stands and whatever else is wrong", async () => {
  const notes = { records: [{ session_note: { type: "ai_assistant" } }, { sessionNote: { type: "user_manual" } }] };
  expect(await told(ImportRequestSchema, JSON.stringify(notes))).toEqual([]);
  expect(await told(ImportRequestSchema, JSON.stringify({ ...notes, position: "x" }))).toEqual(["position type: must be a value of its type"]);
  expect(await told(UpsertSessionNotesRequestSchema, '{"notes":[{"type":"ai_assistant","created_at":5},null]}')).toEqual([`notes[0].created_at ${form}`, "notes[1] type: must be an object"]);
});

test("a caller is told of fifty things at most, in lists and their items too [ERR-03, WIR-06]", () => {
  const refused = new Error("unknown");
  const unknown = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, at]));
  const flawed = (schema: DescMessage, message: object) => readFlawedJson(schema, JSON.stringify(message), refused);
  expect(flawed(UpsertSessionNotesRequestSchema, { notes: Array.from({ length: 60 }, () => ({ foo: 1 })) }).violations).toHaveLength(50);
  expect(flawed(UpsertSessionNotesRequestSchema, { notes: [unknown(60)] }).violations).toHaveLength(50);
  expect(flawed(ArchiveContactsRequestSchema, { contact_ids: Array.from({ length: 60 }, () => 5) }).violations).toHaveLength(50);
  // What was not looked at is not said to be missing.
  expect(flawed(input, { ...unknown(60), full_name: "x" }).message).toBeUndefined();
  expect(flawed(input, { full_name: "x", ...unknown(50) }).message).toBeUndefined();
  expect(flawed(input, { full_name: "x", ...unknown(49) }).message).toMatchObject({ fullName: "x" });
});

test("beside what is wrong, what is sound is read, so that its rules are checked as well", async () => {
  expect(await read(spoken("connect", false), Buffer.from('{"full_name":"Ann","email":5,"nickname":1}'))).toMatchObject({ kind: "read", message: { fullName: "Ann" } });
  expect(await read(spoken("connect", false), Buffer.from('{"access":"none"}'), {}, CreateApiKeyRequestSchema)).toMatchObject({ kind: "read", violations: [{ field: "access", rule: "enum" }] });
  // A list with a hole in it would be judged for what it is not.
  expect(await read(spoken("connect", false), Buffer.from('{"account_id":"7","contacts":[{},5]}'), {}, UpsertContactsRequestSchema)).toMatchObject({ kind: "unreadable" });
});

test("what the library alone refuses is told in its words, and not at length", () => {
  expect(readFlawedJson(input, '{"full_name":"Ann"}', new Error("x".repeat(300)))).toEqual({ message: undefined, violations: [{ field: "", rule: "json", message: `the message cannot be read: ${"x".repeat(200)}` }] });
});
