// The kinds of records: their names in the ingest interface, and in counts.
import type { MessageShape } from "@bufbuild/protobuf";
import type { RecordSchema } from "../gen/records/ingest/v1/import_pb.ts";

/** The name in counts by the name in a message. Records of a kind can belong to those of the kinds before it. */
export const recordKinds = {
  contact: "contacts",
  session: "sessions",
  transcript: "transcripts",
  sessionNote: "session_notes",
  contactNote: "contact_notes",
} as const satisfies Readonly<Record<NonNullable<MessageShape<typeof RecordSchema>["record"]["case"]>, string>>;
export type RecordKindName = (typeof recordKinds)[keyof typeof recordKinds];
