// What of an import was rejected: the first of it for the summary, all of it for the file of `--rejects`.
import { createWriteStream } from "node:fs";
import type { WriteStream } from "node:fs";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";

/** An entry of the file that was not written. */
export interface Reject {
  /** Where it begins in the file; null where it is not known any more. */
  readonly line: number | null;
  /** Its reason, as the service names it; UNREADABLE where it is no record at all. */
  readonly reason: string;
  readonly message: string;
  readonly input: string | undefined;
}

/** Collects what was rejected. */
export interface Rejects {
  /** Fails once the file can no longer be written. */
  add(reject: Reject): void;
  /** The first of them. */
  readonly first: readonly Omit<Reject, "input">[];
  /** Whether the file had something in it already, from a run before. */
  readonly continued: boolean;
  /** Whether all of it is in the file: what is not is lost when the command is killed. */
  isSaved(): boolean;
  /** Waits until all of it is in the file. Fails where it can no longer be written. */
  close(): Promise<void>;
}

const shownInSummary = 100;

/**
 * A file of NDJSON, one rejected entry a line: `line`, `reason`, `message`, and `input` as it was. What is there is
 * kept.
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
      // A stream that failed is closed, and never finished.
      await new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once("close", resolve).end()));
      requireWhole();
    },
  };
}

async function open(file: string): Promise<WriteStream> {
  // It may hold what was rejected of people's data.
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  await once(stream, "open").catch((error: NodeJS.ErrnoException) =>
    rejectUsage(`--rejects: ${file} cannot be written (${error.code ?? ""}).`),
  );
  return stream;
}
