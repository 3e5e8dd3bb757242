// Date-times that do not exist are found in protobuf's JSON, wherever they are, and no other text is.
import { expect, test } from "vitest";
import { timesThatDoNotExist } from "../../src/http/timestamps.ts";
import { RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { UpsertContactsRequestSchema } from "../../src/gen/records/ingest/v1/ingest_pb.ts";

const found = (value: unknown): readonly string[] => timesThatDoNotExist(RecordSchema, JSON.stringify(value));
const inContact = (time: unknown): readonly string[] => found({ contact: { updatedAt: time } });

test.each([
  ...["2026-02-29", "2026-02-30", "2026-02-31", "2026-04-31", "2026-06-31", "2026-09-31", "2026-11-31"].map(
    (day) => `${day}T10:00:00Z`,
  ),
  "2026-01-31T24:00:00Z",
])("%s does not exist", (time) => {
  expect(inContact(time)).toEqual(["contact.updated_at"]);
});

test.each(["2028-02-29", "2026-01-31", "2026-03-31", "2026-04-30", "2026-12-31"])("%s exists", (day) => {
  expect(inContact(`${day}T10:00:00Z`)).toEqual([]);
});

test.each(["\\u0033", "\\u002d", "\\u002D", "\\u0054"])("one is found although its %s is escaped", (escaped) => {
  const character = JSON.parse(`"${escaped}"`) as string;
  const time = "2026-02-30T10:00:00Z".replace(character, escaped);
  expect(timesThatDoNotExist(RecordSchema, `{"contact":{"updatedAt":"${time}"}}`)).toEqual(["contact.updated_at"]);
});

test("each field is named as in the proto, also in a list, whichever name the JSON has", () => {
  const time = "2026-02-30T10:00:00Z";
  const contacts = [{ createdAt: time, updated_at: time }, { createdAt: "2026-02-28T10:00:00Z" }, { archivedAt: time }];
  expect(timesThatDoNotExist(UpsertContactsRequestSchema, JSON.stringify({ contacts }))).toEqual([
    "contacts[0].created_at",
    "contacts[0].updated_at",
    "contacts[2].archived_at",
  ]);
});

test("texts, unknown fields and values that are no time are left to the library", () => {
  const text = "2026-02-30T10:00:00Z";
  expect(found({ contact: { fullName: text, nickname: text, nested: { updatedAt: text } } })).toEqual([]);
  for (const value of [7, null, true, { seconds: text }]) expect(inContact(value), String(value)).toEqual([]);
  expect(found({ contact: null, nickname: text })).toEqual([]);
  for (const value of [text, [{ contact: { updatedAt: text } }], null]) expect(found(value)).toEqual([]);
});
