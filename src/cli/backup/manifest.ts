// The manifest of a backup: a line for each complete file, so that an interrupted export resumes, and a last line when
// the backup is complete.
import { createHash, randomUUID } from "node:crypto";
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { release } from "../../observability/release.ts";
import { CommandError, exitCodes } from "../exit.ts";

/** Documents by their collection. */
export type Counts = Readonly<Record<string, number>>;

/** A complete file. */
export interface FileEntry {
  readonly file: string;
  /** Null for the documents of the service that belong to no account. */
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

/** The last line; `sha256` is that of all lines before. */
interface Completion {
  readonly complete: true;
  readonly finished_at: string;
  /** Accounts that were deleted while they were exported. */
  readonly left_out: readonly string[];
  readonly sha256: string;
}

/** What a manifest says. */
export interface Manifest {
  readonly header: Header;
  /** By file; of two lines for a file the later one. */
  readonly files: ReadonlyMap<string, FileEntry>;
  readonly completion: Completion | undefined;
}

/** The version of the format: another one cannot be restored. */
const format = 1;
export const manifestFile = "manifest.ndjson";
export const serviceFile = "service.ndjson";
const fileName = /^(?:service|[\da-f-]{36})\.ndjson$/;

/** The manifest in a folder; undefined where there is none. Fails, in words, where it cannot be used. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, manifestFile);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new CommandError(exitCodes.failed, "file", `${path} cannot be read (${error.code ?? ""}).`);
  });
  if (text === undefined) return undefined;
  // The last line may have been cut off.
  const [header, ...rest] = text.split("\n").slice(0, -1).map(parse) as [Header?, ...(FileEntry | Completion)[]];
  if (header?.records_backup !== format)
    throw new CommandError(
      exitCodes.failed,
      "format",
      `${path} is damaged, or of a version that this program does not support. Use the program of the release that wrote it.`,
    );
  const files = new Map(rest.flatMap((entry) => ("file" in entry ? [[entry.file, entry] as const] : [])));
  // A name with a path would lead out of the folder.
  if ([...files.keys()].some((name) => !fileName.test(name))) failDamaged(path);
  const last = rest.at(-1);
  if (last === undefined || !("complete" in last)) return { header, files, completion: undefined };
  const before = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
  if (digest(before) !== last.sha256) failDamaged(path);
  return { header, files, completion: last };
}

/** Writes the manifest of a backup that is not complete: a new one, or what holds of an earlier one. */
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

/** Adds a complete file. */
export async function addFile(folder: string, entry: FileEntry): Promise<void> {
  await appendFile(join(folder, manifestFile), line(entry), { flush: true });
}

/** Marks the backup as complete. */
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

/** The sums of several counts. */
export function sum(all: Iterable<Counts>): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

/** How many documents that is. */
export function total(counts: Counts): number {
  return Object.values(counts).reduce((before, count) => before + count, 0);
}

function failDamaged(path: string): never {
  throw new CommandError(exitCodes.failed, "damaged", `${path} is damaged.`);
}

function line(entry: object): string {
  return `${JSON.stringify(entry)}\n`;
}

/** An empty object for a line that is none. */
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
