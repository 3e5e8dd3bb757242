// Manifest of a backup: a line for each complete file, from which an interrupted export resumes, and a last line on
// completion.
import { createHash, randomUUID } from "node:crypto";
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { release } from "../../observability/release.ts";
import { CommandError, exitCodes } from "../exit.ts";

/** The number of documents in each collection. */
export type Counts = Readonly<Record<string, number>>;

/** The line of a complete file. */
export interface FileEntry {
  readonly file: string;
  /** Null for the service's own documents, which belong to no account. */
  readonly account_id: string | null;
  readonly bytes: number;
  readonly sha256: string;
  readonly documents: Counts;
}

/** The first line. */
interface Header {
  readonly records_backup: number;
  readonly id: string;
  readonly release: string;
  readonly begun_at: string;
}

/** The last line. `sha256` is the checksum of all lines before it. */
interface Completion {
  readonly complete: true;
  readonly finished_at: string;
  /** The ids of accounts that were deleted during the export. */
  readonly left_out: readonly string[];
  readonly sha256: string;
}

/** The contents of a manifest. */
export interface Manifest {
  readonly header: Header;
  /** The files by name. A later line for a file replaces an earlier one. */
  readonly files: ReadonlyMap<string, FileEntry>;
  readonly completion: Completion | undefined;
}

/** The version of the format. Backups of another version cannot be restored. */
const format = 1;
export const manifestFile = "manifest.ndjson";
export const serviceFile = "service.ndjson";
const fileName = /^(?:service|[\da-f-]{36})\.ndjson$/;

/**
 * Reads the manifest of a folder. Returns undefined if there is none. Fails with a message for the user if it cannot be
 * used.
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, manifestFile);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new CommandError(exitCodes.failed, "file", `${path} cannot be read (${error.code ?? ""}).`);
  });
  if (text === undefined) return undefined;
  // An interrupted write can leave an incomplete last line.
  const [header, ...rest] = text.split("\n").slice(0, -1).map(parse) as [Header?, ...(FileEntry | Completion)[]];
  if (header?.records_backup !== format)
    throw new CommandError(
      exitCodes.failed,
      "format",
      `${path} is damaged, or of a version that this program does not support. Use the program of the release that wrote it.`,
    );
  const files = new Map(rest.flatMap((entry) => ("file" in entry ? [[entry.file, entry] as const] : [])));
  // A name with a path could point outside the folder.
  if ([...files.keys()].some((name) => !fileName.test(name))) failDamaged(path);
  const last = rest.at(-1);
  if (last === undefined || !("complete" in last)) return { header, files, completion: undefined };
  const before = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
  if (digest(before) !== last.sha256) failDamaged(path);
  return { header, files, completion: last };
}

/** Writes the manifest of an incomplete backup. Keeps the header of an earlier manifest. */
export async function writeManifest(
  folder: string,
  before: Manifest | undefined,
  files: readonly FileEntry[],
): Promise<void> {
  const header: Header = before?.header ?? {
    records_backup: format,
    id: randomUUID(),
    release,
    begun_at: new Date().toISOString(),
  };
  const path = join(folder, manifestFile);
  await writeFile(`${path}.part`, [header, ...files].map(line).join(""), { mode: 0o600, flush: true });
  await rename(`${path}.part`, path);
}

/** Appends the line of a complete file. */
export async function addFile(folder: string, entry: FileEntry): Promise<void> {
  await appendFile(join(folder, manifestFile), line(entry), { flush: true });
}

/** Appends the last line, which marks the backup as complete. */
export async function complete(folder: string, leftOut: readonly string[]): Promise<void> {
  const path = join(folder, manifestFile);
  const sha256 = digest(await readFile(path, "utf8"));
  const completion: Completion = {
    complete: true,
    finished_at: new Date().toISOString(),
    left_out: leftOut,
    sha256,
  };
  await appendFile(path, line(completion), { flush: true });
}

/** Returns the sum of the counts for each collection. */
export function sum(all: Iterable<Counts>): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function failDamaged(path: string): never {
  throw new CommandError(exitCodes.failed, "damaged", `${path} is damaged.`);
}

function line(entry: object): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Parses a line. Returns an empty object if it is not JSON. */
function parse(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
