// How a message is completed and checked against its proto, on whatever wire: defaults, masks, ids, and the words of
// each rejection.
import { create } from "@bufbuild/protobuf";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { Violation } from "../../src/call/errors.ts";
import { Failure } from "../../src/call/errors.ts";
import {
  CreateContactRequestSchema,
  GetContactRequestSchema,
  GetContactResponseSchema,
  UpdateContactRequestSchema,
} from "../../src/gen/records/v1/contacts_pb.ts";
import { CreateApiKeyRequestSchema } from "../../src/gen/records/v1/api_keys_pb.ts";
import { SetLogLevelRequestSchema } from "../../src/gen/records/admin/v1/instance_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { ListSessionsRequestSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import { RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { SearchNotesRequestSchema } from "../../src/gen/records/v1/notes_pb.ts";
import {
  ArchiveContactsRequestSchema,
  ExternalNameSchema,
  PutTranscriptsRequestSchema,
  UpsertContactsRequestSchema,
  UpsertSessionNotesRequestSchema,
} from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { validate, validateBatch, violationsOf } from "../../src/guards/validate.ts";

const id = "3f2a8c54-0000-4000-8000-00000000000a";

/** What a message is rejected for, `found` being wrong already; nothing where it passes. */
function rejections<Schema extends DescMessage>(
  schema: Schema,
  init: MessageInitShape<Schema>,
  found: readonly Violation[] = [],
  check = validate,
): readonly Violation[] {
  try {
    check(schema, create(schema, init), found);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.reason).toBe(Reason.INVALID_REQUEST);
    return error.violations;
  }
}

/** The same, each as `field: message`. */
function faultsOf<Schema extends DescMessage>(
  schema: Schema,
  init: MessageInitShape<Schema>,
  found?: readonly Violation[],
): string[] {
  return rejections(schema, init, found).map(({ field, message }) => `${field}: ${message}`);
}

/** The message as the service gets it. */
function completed<Schema extends DescMessage>(
  schema: Schema,
  init: MessageInitShape<Schema>,
): Record<string, unknown> {
  const message = create(schema, init);
  validate(schema, message);
  const { $typeName: _, ...fields } = message as unknown as Record<string, unknown>;
  return fields;
}

test("blanks are those of ECMA-262, as in the OpenAPI document that shows the pattern", () => {
  for (const blank of [" ", "\u00a0", "\u2003", "\ufeff"])
    expect(
      faultsOf(CreateContactRequestSchema, { fullName: "Ann", email: `a${blank}n@example.com` }),
      JSON.stringify(blank),
    ).toHaveLength(1);
  expect(faultsOf(CreateContactRequestSchema, { fullName: "Ann", email: "\u{1F600}@example.com" })).toEqual([]);
});

test("an omitted field gets its default, and a sent value stays", () => {
  expect(completed(ListSessionsRequestSchema, {})).toEqual({ limit: 10, offset: 0 });
  expect(completed(ListSessionsRequestSchema, { limit: 25, offset: 7 })).toEqual({ limit: 25, offset: 7 });
  expect(faultsOf(ListSessionsRequestSchema, { limit: 0 })).toEqual(["limit: must be from 1 to 25"]);
});

test("an id is accepted in either case and passed in lower case, in a batch too", () => {
  expect(completed(GetContactRequestSchema, { contactId: id.toUpperCase() })).toEqual({ contactId: id });
  expect(completed(ListSessionsRequestSchema, { contactId: id.toUpperCase(), query: "ANN" })).toMatchObject({
    contactId: id,
    query: "ANN",
  });
  const batch = create(ArchiveContactsRequestSchema, { accountId: id.toUpperCase(), contactIds: [id] });
  validateBatch(ArchiveContactsRequestSchema, batch);
  expect(batch.accountId).toBe(id);
});

test.each([
  ["2026-01-31", []],
  ["2026-01-31T09:30:00+02:00", []],
  ["", ["string.date_or_date_time"]],
  ["2026-02-30", ["string.date_or_date_time"]],
  ["2026-01-31T09:30:00", ["string.date_or_date_time"]],
])("a session's window accepts a date or an existing instant: %j has the violations %j", (from, rules) => {
  expect(rejections(ListSessionsRequestSchema, { from }).map(({ field, rule }) => [field, rule])).toEqual(
    rules.map((rule) => ["from", rule]),
  );
  expect(
    violationsOf(ListSessionsRequestSchema, create(ListSessionsRequestSchema, { to: from })).map(({ rule }) => rule),
  ).toEqual(rules);
});

test("a violation says what is allowed", () => {
  const date =
    "must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z";
  expect(faultsOf(ListSessionsRequestSchema, { from: "soon" })).toEqual([`from: ${date}`]);
  expect(faultsOf(CreateContactRequestSchema, { fullName: "Ann", email: "ann" })).toEqual([
    "email: must be an email address such as name@example.com",
  ]);
  expect(faultsOf(UpdateContactRequestSchema, { contactId: id, fullName: "" })).toEqual([
    "full_name: must be at least 1 character",
  ]);
  expect(faultsOf(UpdateContactRequestSchema, { contactId: id, phone: "1".repeat(51) })).toEqual([
    "phone: must be at most 50 characters",
  ]);
  expect(faultsOf(GetContactRequestSchema, { contactId: "7" })).toEqual(["contact_id: must be a valid UUID"]);
  expect(faultsOf(ListSessionsRequestSchema, { contactId: "" })).toEqual(["contact_id: must be a valid UUID"]);
  expect(faultsOf(ListSessionsRequestSchema, { offset: -1 })).toEqual(["offset: must be at least 0"]);
  expect(faultsOf(SetLogLevelRequestSchema, { level: "loud" })).toEqual([
    "level: must be one of fatal, error, warn, info, debug, trace, silent",
  ]);
  const kinds = ["CONTACT", "SESSION", "TRANSCRIPT", "SESSION_NOTE", "CONTACT_NOTE"].map(
    (kind) => `RECORD_KIND_${kind}`,
  );
  for (const kind of [0, 99])
    expect(faultsOf(ExternalNameSchema, { kind: kind as never, externalId: "a" })).toEqual([
      `kind: must be one of ${kinds.join(", ")}`,
    ]);
});

test.each<[MessageInitShape<typeof SearchNotesRequestSchema>, string[], Violation[]?]>([
  [{}, ["query: must not be empty"]],
  [{ limit: 5 }, ["query: must not be empty"]],
  [{ contactId: id }, []],
  [{ contactId: "7" }, ["contact_id: must be a valid UUID"]],
  [{ contactId: id, query: "a" }, ["query: must be at least 2 characters"]],
  [{}, ["session_id: must be a string"], [{ field: "session_id", rule: "type", message: "must be a string" }]],
])(
  "a search needs no words if it has a field beyond REST, valid or not: %j has the violations %j",
  (init, faults, found) => {
    expect(faultsOf(SearchNotesRequestSchema, init, found)).toEqual(faults);
  },
);

test("an empty text that must not be empty is rejected as such, and a missing message is required", () => {
  expect(faultsOf(GetContactRequestSchema, {})).toEqual(["contact_id: must not be empty"]);
  expect(faultsOf(GetContactResponseSchema, {})).toEqual(["contact: is required"]);
});

test("a text that is too long gets no second violation for its pattern [VAL-14]", () => {
  expect(faultsOf(CreateContactRequestSchema, { fullName: "Ann", email: "a".repeat(255) })).toEqual([
    "email: must be at most 254 characters",
  ]);
  expect(faultsOf(CreateContactRequestSchema, { fullName: "a".repeat(201), email: "ann" })).toEqual([
    "full_name: must be at most 200 characters",
    "email: must be an email address such as name@example.com",
  ]);
  const contacts = [{ email: "a".repeat(255) }, { email: "ann" }];
  expect(
    violationsOf(UpsertContactsRequestSchema, create(UpsertContactsRequestSchema, { accountId: id, contacts })),
  ).toEqual([
    { field: "contacts[0].email", rule: "string.max_len", message: "must be at most 254 characters" },
    { field: "contacts[1].email", rule: "string.pattern", message: expect.any(String) as unknown },
  ]);
});

test("the violations that a surface found come first, and each field is named once", () => {
  const found = [{ field: "contact_id", rule: "encoding", message: "must be percent-encoded UTF-8" }];
  expect(rejections(GetContactRequestSchema, {}, found)).toEqual(found);
  expect(faultsOf(UpdateContactRequestSchema, { contactId: "7", email: "x" }, found)).toEqual([
    "contact_id: must be percent-encoded UTF-8",
    "email: must be an email address such as name@example.com",
  ]);
});

test("reports only that a message could not be read, and no field that is missing as a result", () => {
  const unread = [{ field: "", rule: "json", message: "the body must be JSON" }];
  expect(rejections(CreateContactRequestSchema, {}, unread)).toEqual(unread);
  expect(faultsOf(CreateContactRequestSchema, { fullName: "a".repeat(201) }, unread)).toEqual([
    ": the body must be JSON",
    "full_name: must be at most 200 characters",
  ]);
  expect(rejections(UpdateContactRequestSchema, { contactId: id }, unread)).toEqual(unread);
  expect(
    faultsOf(CreateContactRequestSchema, {}, [{ field: "email", rule: "type", message: "must be a string" }]),
  ).toEqual(["email: must be a string", "full_name: must not be empty"]);
});

test("an update changes the fields that are set, or those of its mask, each once; * names all of them [CUP-14, WIR-11]", () => {
  const mask = (init: MessageInitShape<typeof UpdateContactRequestSchema>): unknown =>
    (completed(UpdateContactRequestSchema, { contactId: id, ...init })["updateMask"] as { paths: string[] }).paths;
  expect(mask({ fullName: "Ann", phone: "" })).toEqual(["full_name", "phone"]);
  expect(mask({ fullName: "Ann", phone: "1", updateMask: { paths: [] } })).toEqual(["full_name", "phone"]);
  expect(mask({ fullName: "Ann", phone: "1", updateMask: { paths: ["email", "phone", "email"] } })).toEqual([
    "email",
    "phone",
  ]);
  expect(mask({ fullName: "Ann", updateMask: { paths: ["*"] } })).toEqual(["full_name", "email", "phone"]);
  expect(mask({ fullName: "Ann", updateMask: { paths: ["phone", "*"] } })).toEqual(["phone", "full_name", "email"]);
});

test("rejects an update of nothing, and of fields that cannot be updated or cleared [CUP-10, CUP-11, CUP-12]", () => {
  const update = (paths: string[], rest = {}): unknown =>
    rejections(UpdateContactRequestSchema, { contactId: id, updateMask: { paths }, ...rest });
  const mask = { field: "update_mask", rule: "update_mask" };
  expect(update([])).toEqual([{ ...mask, message: "the update must change at least one of full_name, email, phone" }]);
  for (const path of ["contact_id", "update_mask", "fullName", "nickname"])
    expect(update([path])).toEqual([{ ...mask, message: `"${path}" is not one of full_name, email, phone` }]);
  expect(update(["full_name"])).toEqual([{ field: "full_name", rule: "not_null", message: "cannot be cleared" }]);
  expect(update(["full_name"], { fullName: "Ann" })).toEqual([]);
  expect(update(["email", "phone"])).toEqual([]);
  expect(update(["*"])).toEqual([{ field: "full_name", rule: "not_null", message: "cannot be cleared" }]);
});

test("ignores fields outside of an update's mask, also invalid ones [WIR-11]", () => {
  const outside = { fullName: "x".repeat(201), email: "no email", phone: "1", updateMask: { paths: ["phone"] } };
  expect(completed(UpdateContactRequestSchema, { contactId: id, ...outside })).toMatchObject({
    phone: "1",
    updateMask: { paths: ["phone"] },
  });
  expect(completed(UpdateContactRequestSchema, { contactId: id, ...outside })).not.toHaveProperty("fullName");
});

test("rejects a value that some wire cannot show, in any message at any depth [ING-09]", () => {
  const recording = { id, durationSeconds: Number.NaN, recordingStartedAt: { seconds: 253_402_300_800n, nanos: 0 } };
  const note = { sessionId: id, type: 99 as never, createdAt: { seconds: 0n, nanos: -1 } };
  const found = (schema: DescMessage, init: object): readonly string[] =>
    violationsOf(schema, create(schema, init as never)).map(({ field, message }) => `${field} ${message}`);
  const time = "must be a time from the year 1 to 9999, with nanos from 0 to 999999999";
  expect(found(PutTranscriptsRequestSchema, { accountId: id, transcripts: [{ recording }] })).toEqual([
    expect.stringMatching(/^transcripts\[0\]\.recording\.duration_seconds must be/),
    `transcripts[0].recording.recording_started_at ${time}`,
  ]);
  expect(found(RecordSchema, { record: { case: "sessionNote", value: note } })).toEqual([
    expect.stringMatching(/^session_note\.type /),
    `session_note.created_at ${time}`,
  ]);
  expect(found(CreateApiKeyRequestSchema, { access: 7 as never })).toEqual([
    "access must be one of API_KEY_ACCESS_READ_WRITE, API_KEY_ACCESS_READ_ONLY",
  ]);
  expect(found(SearchNotesRequestSchema, { query: "a\ud800" })).toEqual(["query must not contain a lone surrogate"]);
  expect(
    found(RecordSchema, {
      record: {
        case: "session",
        value: {
          sessionDate: { seconds: 253_402_300_799n, nanos: 999_999_999 },
          createdAt: { seconds: -62_135_596_800n, nanos: 0 },
        },
      },
    }),
  ).toEqual([]);
});

test("adds no mask to a message without one, although its fields are optional", () => {
  expect(completed(CreateApiKeyRequestSchema, {})).toEqual({});
  expect(completed(CreateContactRequestSchema, { fullName: "Ann" })).toEqual({ fullName: "Ann" });
});

test("checks a batch as a whole, and leaves the violations of an item to its handler", () => {
  const contacts = [{ fullName: "Ann" }, { fullName: "x".repeat(201) }];
  const batch = (
    init: MessageInitShape<typeof UpsertContactsRequestSchema>,
    found: Violation[] = [],
  ): readonly string[] =>
    rejections(UpsertContactsRequestSchema, init, found, validateBatch).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  expect(batch({ accountId: id, contacts })).toEqual([]);
  const notes = [{ sessionId: id }];
  expect(rejections(UpsertSessionNotesRequestSchema, { accountId: id, notes }, [], validateBatch)).toEqual([]);
  expect(batch({ accountId: "7", contacts: [] })).toEqual([
    "account_id: must be a valid UUID",
    "contacts: must contain at least 1 item",
  ]);
  expect(
    batch({ accountId: id, contacts }, [{ field: "contacts[0].email", rule: "type", message: "must be a string" }]),
  ).toEqual(["contacts[0].email: must be a string"]);
  expect(
    violationsOf(UpsertContactsRequestSchema, create(UpsertContactsRequestSchema, { accountId: id, contacts })),
  ).toEqual([{ field: "contacts[1].full_name", rule: "string.max_len", message: "must be at most 200 characters" }]);
});
