// Manifest of a backup: a line for each complete file, from which an interrupted export resumes, and a last line on
// completion.
import { createHash, randomUUID } from "node:crypto";
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { release } from "../../observability/release.ts";
import { uuidForm } from "../../text/uuid.ts";
import { CommandError, exitCodes } from "../exit.ts";
import { parseJson } from "./documents.ts";
import { openFile } from "./files.ts";

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

/** Returns the name of an account's file, or that of the service's if the id is empty. */
export function fileOf(accountId: string): string {
  return accountId === "" ? serviceFile : `${accountId}.ndjson`;
}

/**
 * Reads the manifest of a folder. Returns undefined if there is none. Fails with a message for the user if it cannot be
 * used.
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, manifestFile);
  const text = await textOf(path);
  if (text === undefined) return undefined;
  // An interrupted write can leave an incomplete last line.
  const [first, ...rest] = text.split("\n").slice(0, -1);
  const header = parseJson(first ?? "");
  if (!isHeader(header))
    throw new CommandError(
      exitCodes.failed,
      "format",
      `${path} is damaged, or of a version that this program does not support. Use the program of the release that wrote it.`,
    );
  const files = new Map<string, FileEntry>();
  for (const [at, line] of rest.entries()) {
    const entry = parseJson(line);
    if (isFileEntry(entry)) files.set(entry.file, entry);
    else if (at + 1 < rest.length || !isCompletion(entry)) failDamaged(`${path}, line ${at + 2},`);
    else if (digest(text.slice(0, -line.length - 1)) !== entry.sha256) failDamaged(path);
    else return { header, files, completion: entry };
  }
  return { header, files, completion: undefined };
}

async function textOf(path: string): Promise<string | undefined> {
  const handle = await openFile(path);
  try {
    return await handle?.readFile("utf8");
  } finally {
    await handle?.close();
  }
}

type Fields<T> = { readonly [Name in keyof T]?: unknown };

function isHeader(value: unknown): value is Header {
  const { records_backup, id, begun_at } = (value ?? {}) as Fields<Header>;
  return records_backup === format && typeof id === "string" && uuidForm.test(id) && typeof begun_at === "string";
}

/**
 * Whether a line is that of a file. Its name follows from the account: a name with a path could be outside the folder.
 */
function isFileEntry(value: unknown): value is FileEntry {
  const { file, account_id: id, sha256, documents } = (value ?? {}) as Fields<FileEntry>;
  const isNamed =
    id === null ? file === serviceFile : typeof id === "string" && uuidForm.test(id) && file === fileOf(id);
  return isNamed && typeof sha256 === "string" && isCounts(documents);
}

function isCounts(value: unknown): value is Counts {
  return typeof value === "object" && value !== null && Object.values(value).every(Number.isSafeInteger);
}

function isCompletion(value: unknown): value is Completion {
  const { complete: isComplete, left_out: leftOut, sha256 } = (value ?? {}) as Fields<Completion>;
  return isComplete === true && Array.isArray(leftOut) && typeof sha256 === "string";
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

function failDamaged(what: string): never {
  throw new CommandError(exitCodes.failed, "damaged", `${what} is damaged. Use another copy of the backup.`);
}

function line(entry: object): string {
  return `${JSON.stringify(entry)}\n`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
