// Protobuf's JSON accepts REST's names of enum values as well, and writes its own.
import { create, createFileRegistry, fromJson, toJson } from "@bufbuild/protobuf";
import type { DescFile } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, file_google_protobuf_descriptor } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { acceptShortEnumNames } from "../../src/http/enum-names.ts";
import { file_records_ingest_v1_ingest } from "../../src/gen/records/ingest/v1/ingest_pb.ts";

/** A message that has the enum in its notes, from descriptors of its own: the library remembers those of a process. */
function ownMessage(root = file_records_ingest_v1_ingest, name = "records.ingest.v1.UpsertSessionNotesRequest") {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    file.dependencies.forEach(add);
    files.set(file.proto.name, file);
  };
  add(root);
  const set = create(FileDescriptorSetSchema, { file: [...files.values()].map(({ proto }) => proto) });
  const message = createFileRegistry(set).getMessage(name);
  if (message === undefined) throw new Error("the message has another name");
  return message;
}

const named = (type: string) => ({ notes: [{ content: "Hello", type }] });

test("a note's type is read by its short and by its own name, and written by its own", () => {
  const message = ownMessage();
  acceptShortEnumNames(message);
  const own = named("SESSION_NOTE_TYPE_AI_MEETING_PREP");
  for (const given of [own, named("ai_meeting_prep")]) expect(toJson(message, fromJson(message, given))).toEqual(own);
});

test("no other text is accepted as a name, and the unspecified value has no short name", () => {
  const message = ownMessage();
  acceptShortEnumNames(message);
  for (const type of ["unspecified", "Ai_Meeting_Prep", "ai_meeting", "type_ai_meeting_prep", ""])
    expect(() => fromJson(message, named(type)), type).toThrow(/SessionNoteType/);
});

test("without the short names only its own is read", () => {
  expect(() => fromJson(ownMessage(), named("ai_meeting_prep"))).toThrow(/SessionNoteType/);
});

test("the names are added once, however often the message is used", () => {
  const message = ownMessage();
  const values = message.fields[1]?.message?.fields.find(({ name }) => name === "type")?.enum?.values ?? [];
  const count = values.length;
  for (let times = 0; times < 3; times++) acceptShortEnumNames(message);
  expect([count > 1, values.length]).toEqual([true, 2 * count - 1]);
});

test("a message may contain itself, and values without a common prefix have no short names", () => {
  const message = ownMessage(file_google_protobuf_descriptor, "google.protobuf.DescriptorProto");
  acceptShortEnumNames(message);
  const typed = (ctype: string) => ({ nestedType: [{ field: [{ options: { ctype } }] }] });
  expect(toJson(message, fromJson(message, typed("CORD")))).toEqual(typed("CORD"));
  expect(() => fromJson(message, typed("cord"))).toThrow(/CType/);
});
