// Converts stored documents to and from lines of NDJSON in canonical Extended JSON, which keeps the types of BSON.
import { create } from "@bufbuild/protobuf";
import type { Document } from "mongodb";
import { BSON } from "mongodb";
import type { StoredDocument } from "../../gen/records/admin/v1/backup_pb.ts";
import { StoredDocumentSchema } from "../../gen/records/admin/v1/backup_pb.ts";

/** Returns a document as a line with its line feed. */
export function lineOf({ collection, bson }: StoredDocument): string {
  const document = BSON.EJSON.serialize(BSON.deserialize(bson, { promoteValues: false }), { relaxed: false });
  return `${JSON.stringify({ collection, document })}\n`;
}

/** Parses a line into a document. Throws if the line is invalid. */
export function documentOf(line: string): StoredDocument {
  const { collection, document } = JSON.parse(line) as { collection: string; document: Document };
  return create(StoredDocumentSchema, {
    collection,
    bson: BSON.serialize(BSON.EJSON.deserialize(document, { relaxed: false }) as Document),
  });
}
