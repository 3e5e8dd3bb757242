// Rejected entries of an import: the first ones for the summary, all of them for the `--rejects` file.
import { hash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import type { WriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import { linesOf } from "../formats/lines.ts";

/** An entry of the file that was not written. */
export interface Reject {
  /** The line where the entry begins; null if it is no longer known. */
  readonly line: number | null;
  /** The service's name of the reason, or UNREADABLE if the entry is not a valid record. */
  readonly reason: string;
  readonly message: string;
  /** The id of the contact that has the email, with DUPLICATE_EMAIL. */
  readonly contact_id?: string | undefined;
  readonly input: string | undefined;
}

/** A collector of rejected entries. */
export type Rejects = Awaited<ReturnType<typeof collectRejects>>;

const shownInSummary = 100;
/** The reason of an entry that is not a valid record. */
export const unreadable = "UNREADABLE";
const lineFeed = 0x0a;

/**
 * Creates a collector. With `file`, appends one line of NDJSON for each entry: `line`, `reason`, `message`, for an email
 * in use `contact_id`, and the original `input`. Fails with a usage error if the file cannot be opened.
 */
export async function collectRejects(file: string | undefined) {
  /** The first entries, for the summary. */
  const first: Omit<Reject, "input">[] = [];
  const { unreadableEntries, endsWithinLine } = await read(file);
  const stream = file === undefined ? undefined : await open(file);
  let broken: NodeJS.ErrnoException | undefined;
  stream?.on("error", (error) => (broken = error));
  // A run that was killed, or an editor, can leave a last line without its line feed.
  if (endsWithinLine) stream?.write("\n");
  const requireWhole = (): void => {
    if (broken === undefined) return;
    throw new CommandError(
      exitCodes.failed,
      "rejects",
      `--rejects: ${file ?? ""} cannot be written (${broken.code ?? broken.message}).`,
    );
  };
  return {
    first,
    /**
     * Adds an entry. Returns false if it is unreadable and the file already had it. Fails once the file can no longer be
     * written.
     */
    add(reject: Reject): boolean {
      requireWhole();
      const { line, reason, message, contact_id } = reject;
      if (first.length < shownInSummary) first.push({ line, reason, message, contact_id });
      const text = textOf(reject);
      const isNew = reason !== unreadable || !unreadableEntries.has(hash("sha256", text));
      if (isNew) stream?.write(`${text}\n`);
      return isNew;
    },
    /** Returns whether the file has all entries. Those that it lacks are lost if the command is killed. */
    isSaved: (): boolean => broken === undefined && (stream?.writableLength ?? 0) === 0,
    /** Waits until the file has all entries. Fails if it can no longer be written. */
    async close(): Promise<void> {
      if (stream === undefined) return;
      // A failed stream emits `close`, but never `finish`.
      await new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once("close", resolve).end()));
      requireWhole();
    },
  };
}

/** Returns the line of an entry in the file. */
function textOf({ line, reason, message, contact_id, input }: Reject): string {
  return JSON.stringify({ line, reason, message, contact_id, input: input ?? null });
}

/** What a file of rejects has before the import. */
interface Previous {
  /** The digests of its unreadable entries: each run of an import reads them again. */
  readonly unreadableEntries: ReadonlySet<string>;
  readonly endsWithinLine: boolean;
}

/** Reads a file of rejects. A device has nothing to read back. Fails with a usage error if the file cannot be read. */
async function read(file: string | undefined): Promise<Previous> {
  const unreadableEntries = new Set<string>();
  if (file === undefined || !(await stat(file).catch(() => undefined))?.isFile())
    return { unreadableEntries, endsWithinLine: false };
  let lastByte = lineFeed;
  async function* bytes(path: string): AsyncIterable<Buffer> {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      lastByte = chunk.at(-1) ?? lastByte;
      yield chunk;
    }
  }
  try {
    for await (const lines of linesOf(bytes(file), "utf-8", Infinity))
      for (const { text } of lines)
        if (text.includes(`"reason":"${unreadable}"`)) unreadableEntries.add(hash("sha256", text));
  } catch (error) {
    rejectUsage(`--rejects: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`);
  }
  return { unreadableEntries, endsWithinLine: lastByte !== lineFeed };
}

async function open(file: string): Promise<WriteStream> {
  // The file can contain personal data.
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  await once(stream, "open").catch((error: NodeJS.ErrnoException) =>
    rejectUsage(`--rejects: ${file} cannot be written (${error.code ?? ""}).`),
  );
  return stream;
}
