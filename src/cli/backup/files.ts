// Reads the files of a backup: their checksums, and their documents in batches.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { StoredDocument } from "../../gen/records/admin/v1/backup_pb.ts";
import { CommandError, exitCodes } from "../exit.ts";
import type { Line } from "../formats/lines.ts";
import { linesOf } from "../formats/lines.ts";
import { parseLine } from "./documents.ts";

/** The checksum of a file, and its last line. */
export interface Checksum {
  readonly sha256: string;
  readonly last: Line | undefined;
}

/** Documents of a file, with the number of each one's line. */
export interface Batch {
  readonly documents: StoredDocument[];
  readonly lines: number[];
}

/**
 * Opens a file of a backup. Returns undefined if there is none. Fails with a message for the user if it is no regular
 * file: a link could lead to any other file, and a pipe would never end.
 */
export async function openFile(path: string): Promise<FileHandle | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      // The code by which a system reports a link.
      if (error.code === "ELOOP" || error.code === "EMLINK") return rejectFile(path);
      throw new CommandError(exitCodes.failed, "file", `${path} cannot be read (${error.code ?? ""}).`);
    },
  );
  if (handle !== undefined && !(await handle.stat()).isFile()) {
    await handle.close();
    rejectFile(path);
  }
  return handle;
}

function rejectFile(path: string): never {
  throw new CommandError(
    exitCodes.failed,
    "file",
    `${path} is not a regular file. Copy the backup so that it has no links, and try again.`,
  );
}

/** Returns the checksum of a file and its last line; undefined if there is no such file. */
export async function checksumOf(path: string): Promise<Checksum | undefined> {
  const handle = await openFile(path);
  if (handle === undefined) return undefined;
  const hash = createHash("sha256");
  let last: Line | undefined;
  for await (const lines of linesOf(hashed(chunksOf(handle, path), hash), "utf-8")) last = lines.at(-1) ?? last;
  return { sha256: hash.digest("hex"), last };
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Yields the bytes of a file, and closes it. */
async function* chunksOf(handle: FileHandle, path: string): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of handle.createReadStream() as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    throw new CommandError(exitCodes.failed, "file", `${path} cannot be read (${code}).`);
  }
}

/** The limits of a batch, which is one transaction and must stay well within a request's time limit. */
const maxBatch = { documents: 100, bytes: 500_000 };

/**
 * Yields the documents of a file in batches. The last batch contains the account, preceded by its active key. Fails
 * with a message for the user if a line is damaged.
 */
export async function* batchesOf(path: string): AsyncIterable<Batch> {
  const handle = await openFile(path);
  if (handle === undefined) throw new CommandError(exitCodes.failed, "damaged", `${path} is missing.`);
  let [documents, lines]: [StoredDocument[], number[]] = [[], []];
  let bytes = 0;
  for await (const read of linesOf(chunksOf(handle, path), "utf-8")) {
    for (const line of read) {
      const document = documentIn(path, line);
      if (document.collection !== accounts && (documents.length >= maxBatch.documents || bytes >= maxBatch.bytes)) {
        yield { documents, lines };
        [documents, lines, bytes] = [[], [], 0];
      }
      documents.push(document);
      lines.push(line.number);
      bytes += document.bson.length;
    }
  }
  if (documents.length > 0) yield { documents, lines };
}

/** The name of the collection whose document comes last. */
export const accounts = "accounts";

/** Returns the document in a line. Fails with a message for the user if the line is damaged. */
export function documentIn(path: string, { number, text, problem }: Line): StoredDocument {
  const parsed = problem === undefined ? parseLine(text) : { problem: "it isn't UTF-8, or is longer than 30 MiB" };
  if ("problem" in parsed) throw lineError(path, number, "damaged", `is damaged: ${parsed.problem}`);
  return parsed;
}

/** Returns the error of a line, because of which nothing is restored. */
export function lineError(path: string, number: number, code: string, what: string): CommandError {
  return new CommandError(exitCodes.failed, code, `Nothing was restored: ${basename(path)}, line ${number}, ${what}.`);
}
