// Rejected entries of an import: the first ones for the summary, all of them for the `--rejects` file.
import { createWriteStream } from "node:fs";
import type { WriteStream } from "node:fs";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";

/** An entry of the file that was not written. */
export interface Reject {
  /** The line where the entry begins; null if it is no longer known. */
  readonly line: number | null;
  /** The service's name of the reason, or UNREADABLE if the entry is not a valid record. */
  readonly reason: string;
  readonly message: string;
  readonly input: string | undefined;
}

/** A collector of rejected entries. */
export interface Rejects {
  /** Adds an entry. Fails once the file can no longer be written. */
  add(reject: Reject): void;
  /** The first entries, for the summary. */
  readonly first: readonly Omit<Reject, "input">[];
  /** Whether the file already had contents from an earlier run. */
  readonly continued: boolean;
  /** Returns whether the file has all entries. Those that it lacks are lost if the command is killed. */
  isSaved(): boolean;
  /** Waits until the file has all entries. Fails if it can no longer be written. */
  close(): Promise<void>;
}

const shownInSummary = 100;

/**
 * Creates a collector. With `file`, appends one line of NDJSON for each entry: `line`, `reason`, `message`, and the
 * original `input`. Fails with a usage error if the file cannot be opened.
 */
export async function collectRejects(file: string | undefined): Promise<Rejects> {
  const first: Omit<Reject, "input">[] = [];
  const continued =
    file !== undefined &&
    (await stat(file).then(
      ({ size }) => size > 0,
      () => false,
    ));
  const stream = file === undefined ? undefined : await open(file);
  let broken: NodeJS.ErrnoException | undefined;
  stream?.on("error", (error) => (broken = error));
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
    continued,
    add(reject) {
      requireWhole();
      const { line, reason, message, input = null } = reject;
      if (first.length < shownInSummary) first.push({ line, reason, message });
      stream?.write(`${JSON.stringify({ line, reason, message, input })}\n`);
    },
    isSaved: () => broken === undefined && (stream?.writableLength ?? 0) === 0,
    async close() {
      if (stream === undefined) return;
      // A failed stream emits `close`, but never `finish`.
      await new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once("close", resolve).end()));
      requireWhole();
    },
  };
}

async function open(file: string): Promise<WriteStream> {
  // The file can contain personal data.
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  await once(stream, "open").catch((error: NodeJS.ErrnoException) =>
    rejectUsage(`--rejects: ${file} cannot be written (${error.code ?? ""}).`),
  );
  return stream;
}
