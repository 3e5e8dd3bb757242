// Reads the files of a backup: their checksums, and their documents in batches.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { StoredDocument } from "../../gen/records/admin/v1/backup_pb.ts";
import { linesOf } from "../formats/lines.ts";
import { documentOf } from "./documents.ts";

/** Returns the checksum of a file and its last line; undefined if it cannot be read. */
export async function checksumOf(
  path: string,
): Promise<{ readonly sha256: string; readonly lastLine: string } | undefined> {
  const hash = createHash("sha256");
  let lastLine = "";
  try {
    for await (const lines of linesOf(hashed(path, hash))) lastLine = lines.at(-1)?.text ?? lastLine;
    return { sha256: hash.digest("hex"), lastLine };
  } catch {
    return undefined;
  }
}

async function* hashed(path: string, hash: ReturnType<typeof createHash>): AsyncIterable<Uint8Array> {
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield chunk;
  }
}

/** The limits of a batch, which is one transaction and must stay well within a request's time limit. */
const maxBatch = { documents: 100, bytes: 500_000 };

/** Yields the documents of a file in batches. The last batch contains the account, preceded by its active key. */
export async function* batchesOf(path: string): AsyncIterable<StoredDocument[]> {
  let batch: StoredDocument[] = [];
  let bytes = 0;
  for await (const lines of linesOf(createReadStream(path))) {
    for (const { text } of lines) {
      const document = documentOf(text);
      if (document.collection !== "accounts" && (batch.length >= maxBatch.documents || bytes >= maxBatch.bytes)) {
        yield batch;
        [batch, bytes] = [[], 0];
      }
      batch.push(document);
      bytes += document.bson.length;
    }
  }
  if (batch.length > 0) yield batch;
}
