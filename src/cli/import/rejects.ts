// What of an import was rejected: the first of it for the summary, all of it for the file of `--rejects`.
import { createWriteStream } from "node:fs";
import type { WriteStream } from "node:fs";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { refuseUsage } from "../exit.ts";

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
  add(reject: Reject): void;
  /** The first of them. */
  readonly first: readonly Omit<Reject, "input">[];
  readonly total: () => number;
  /** Whether the file had something in it already, from a run before. */
  readonly continued: boolean;
  close(): Promise<void>;
}

const shownInSummary = 100;

/** A file of NDJSON, one rejected entry a line: `line`, `reason`, `message`, and `input` as it stood. What is there is kept. */
export async function collectRejects(file: string | undefined): Promise<Rejects> {
  const first: Omit<Reject, "input">[] = [];
  const continued = file !== undefined && (await stat(file).then(({ size }) => size > 0, () => false));
  const stream = file === undefined ? undefined : await open(file);
  let total = 0;
  return {
    first,
    total: () => total,
    continued,
    add(reject) {
      total++;
      const { line, reason, message, input = null } = reject;
      if (first.length < shownInSummary) first.push({ line, reason, message });
      stream?.write(`${JSON.stringify({ line, reason, message, input })}\n`);
    },
    async close() {
      if (stream === undefined) return;
      stream.end();
      await once(stream, "finish");
    },
  };
}

async function open(file: string): Promise<WriteStream> {
  // It may hold what was rejected of people's data.
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  await once(stream, "open").catch((error: NodeJS.ErrnoException) => refuseUsage(`--rejects: ${file} cannot be written (${error.code ?? ""}).`));
  return stream;
}
