// Source of an import: opens the file, names it by its contents, and reads it entry by entry.
import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { createReadStream } from "node:fs";
import { access, constants, readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import type { Readable } from "node:stream";
import { TextDecoder } from "node:util";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import type { ColumnMap, Columns } from "../formats/csv-columns.ts";
import { parseMap } from "../formats/csv-columns.ts";
import { readCsv } from "../formats/csv.ts";
import type { Entry, Format } from "../formats/entry.ts";
import { readIcalendar } from "../formats/icalendar.ts";
import { contactsIn, readJsonContacts } from "../formats/json-contacts.ts";
import { readLdif } from "../formats/ldif.ts";
import { linesOf } from "../formats/lines.ts";
import { jsonIn } from "../formats/members.ts";
import { beginsRecord, readNdjson } from "../formats/ndjson.ts";
import { hasMeeting, readRecording } from "../formats/recording.ts";
import { ownPropertyBegin } from "../formats/vcard-contact.ts";
import { isKnown } from "../formats/time-zones.ts";
import { readVcards } from "../formats/vcard.ts";
import { beginningOf, formatByBeginning, requireText } from "./beginning.ts";
import { createRecognizer } from "./recognizer.ts";

/** The file to read, and how to read it. */
export interface SourceOptions {
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly format: Format | undefined;
  /** The label that the user set. By default, the encoding is recognized. */
  readonly encoding: string | undefined;
  readonly map?: readonly string[] | undefined;
  /** The time zone of events in a calendar that name none that is known: a name of the IANA database. */
  readonly timeZone?: string | undefined;
  /** The field, besides ids, by which existing contacts are found and updated. Part of the import's name. */
  readonly updateBy?: "email" | undefined;
  readonly onColumns: (columns: Columns) => void;
  /** Called with the encoding of a file, if its contents are known in advance. */
  readonly onEncoding?: ((encoding: string) => void) | undefined;
}

/** A file of records, or standard input. */
export interface Source {
  readonly format: Format;
  /** The size in bytes; undefined if it is known only at the end. */
  readonly size: number | undefined;
  /** Returns the number of bytes that the latest entries were read from. */
  readonly read: () => number;
  /**
   * Returns the same name for the same contents, read in the same way, into the same account. Returns undefined if the
   * contents are not known in advance.
   */
  name(accountId: string): Promise<string | undefined>;
  /**
   * Reads the contents ahead. Recognizes the encoding, and fails with a usage error if the contents are not in it. Does
   * nothing if they are not known in advance. `name` does the same.
   */
  check(): Promise<void>;
  /** Returns whether a file may have properties of vCard that only Records writes. `name` looks for them. */
  mayHaveOwnProperties(): boolean;
  /** Returns the fields of contacts that a CSV file has, once its header is read. */
  columnFields(): readonly string[] | undefined;
  /**
   * Yields the entries, those of a file from its beginning at each call. Fails at the end if the contents have changed
   * since they were read ahead.
   */
  entries(): AsyncIterable<Entry>;
  /** Closes the file. A pending read would keep the process running. */
  close(): void;
}

/** A longer file of JSON has no contacts of another program. */
const maxJsonLength = 100 * 1024 * 1024;

/** Changes when a reader finds other records in a file. */
const readerVersion = 9;

const formatsByExtension: Readonly<Record<string, Format>> = {
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".json": "ndjson",
  ".csv": "csv",
  ".tsv": "csv",
  ".ldif": "csv",
  ".vcf": "vcard",
  ".vcard": "vcard",
  ".vtt": "transcript",
  ".srt": "transcript",
  ".sbv": "transcript",
  ".txt": "transcript",
  ".md": "transcript",
  ".ics": "icalendar",
  ".ical": "icalendar",
  ".vcs": "icalendar",
};

/**
 * Returns the requested format, or else the format of the file's extension. The default of standard input and output is
 * NDJSON. Fails with a usage error for any other file, which names the formats that are `advised`.
 */
export function formatOf(file: string, said: Format | undefined, advised: string): Format {
  const format = said ?? (file === "-" ? "ndjson" : formatsByExtension[extname(file).toLowerCase()]);
  return format ?? rejectUsage(`Can't tell the format of ${file}. Add --format ${advised}.`);
}

/**
 * Opens a source. Fails with a usage error if the file, the format, the encoding or the mapping of columns is invalid.
 */
export async function openSource(options: SourceOptions): Promise<Source> {
  const { file, encoding, map = [], timeZone, updateBy, onColumns } = options;
  const facts = file === "-" ? undefined : await factsOf(file);
  if (facts?.isDirectory() === true) rejectUsage(`${file} is a folder: name a file, or - for standard input.`);
  const targets = parseMap(map);
  if (encoding !== undefined) requireEncoding(encoding);
  const size = facts?.isFile() === true ? facts.size : undefined;
  const beginning = size === undefined ? "" : await beginningOf(file, encoding);
  requireText(file, beginning, options.format);
  const told = formatByBeginning(file, beginning);
  // Columns are only mapped for contacts.
  const found = options.format ?? (told === "transcript" && map.length > 0 ? undefined : told);
  const named = formatOf(file, found, "ndjson, csv, vcard, transcript or icalendar");
  const isJson = named === "ndjson" && extname(file).toLowerCase() === ".json" && options.format === undefined;
  const content = isJson && size !== undefined ? await contentOf(file, size, beginning, targets) : "records";
  const format = content === "records" ? named : content === "contacts" ? "csv" : "transcript";
  if (map.length > 0 && format !== "csv") rejectUsage("--map is only for CSV files.");
  if (timeZone !== undefined) requireTimeZone(timeZone, format);
  let read = 0;
  let reading: Readable | undefined = file === "-" ? process.stdin : undefined;
  let digest: Buffer | undefined;
  let recognized = encoding;
  let columnFields: readonly string[] | undefined;
  let mayHaveOwn = true;

  async function* counted(): AsyncIterable<Uint8Array> {
    const hash = createHash("sha256");
    read = 0;
    for await (const chunk of bytes()) {
      read += chunk.length;
      if (digest !== undefined) hash.update(chunk);
      yield chunk;
    }
    if (digest !== undefined && !hash.digest().equals(digest)) failChanged(file);
  }
  // Data appended meanwhile belongs to another import.
  const bytes = (): AsyncIterable<Buffer> => {
    if (size === 0) return nothing();
    const bounds = size === undefined ? {} : { end: size - 1 };
    reading = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024, ...bounds });
    return reading;
  };

  async function readAhead(): Promise<void> {
    if (size === undefined) return;
    const recognizer = createRecognizer(file, format, encoding);
    const hash = createHash("sha256");
    let [end, hasOwn] = ["", false];
    for await (const chunk of bytes()) {
      recognizer.read(chunk);
      hash.update(chunk);
      if (format !== "vcard" || hasOwn) continue;
      const text = end + chunk.toString("latin1").toUpperCase();
      hasOwn = text.includes(ownPropertyBegin);
      end = text.slice(-ownPropertyBegin.length);
    }
    digest = hash.digest();
    recognized = recognizer.end();
    mayHaveOwn = hasOwn || recognized.startsWith("utf-16");
    options.onEncoding?.(recognized);
  }

  return {
    format,
    size,
    read: () => read,
    check: readAhead,
    async name(accountId) {
      await readAhead();
      if (digest === undefined) return undefined;
      const how = JSON.stringify([
        accountId,
        format,
        // Another reader counts other records, so an import of a previous release is not resumed at its position.
        format === "ndjson" ? (encoding ?? "utf-8") : [readerVersion, recognized],
        [...targets],
        ...(updateBy === undefined ? [] : [updateBy]),
        ...(timeZone === undefined ? [] : [timeZone]),
      ]);
      return `file-${createHash("sha256").update(how).update(digest).digest("hex").slice(0, 32)}`;
    },
    mayHaveOwnProperties: () => mayHaveOwn,
    columnFields: () => columnFields,
    entries() {
      if (format === "vcard") return readVcards(counted(), recognized);
      if (format === "icalendar") return readIcalendar(counted(), { encoding: recognized, timeZone });
      const lines = linesOf(counted(), recognized);
      const found = (columns: Columns): void => {
        if (columnFields === undefined) onColumns(columns);
        columnFields = columns.fields;
      };
      if (format === "transcript") return readRecording(lines, file);
      if (content === "contacts") return readJsonContacts(lines, targets, found);
      if (format === "csv" && extname(file).toLowerCase() === ".ldif") return readLdif(lines, targets, found);
      return format === "csv" ? readCsv(lines, targets, found) : readNdjson(lines);
    },
    close: () => void reading?.destroy(),
  };
}

/** Returns what a file of JSON has: our records, contacts of another program, or a meeting. */
async function contentOf(
  file: string,
  size: number,
  beginning: string,
  map: ColumnMap,
): Promise<"records" | "contacts" | "meeting"> {
  if (beginsRecord(beginning)) return "records";
  if (size > maxJsonLength) return "meeting";
  const text = (await readFile(file, "utf8")).replace(/^\uFEFF/, "");
  try {
    const hasContacts = contactsIn(jsonIn(text), map) !== undefined;
    return hasContacts && !hasMeeting(text, file) ? "contacts" : "meeting";
  } catch {
    return "meeting";
  }
}

function requireEncoding(encoding: string): void {
  try {
    new TextDecoder(encoding);
  } catch {
    rejectUsage(
      `--encoding: "${encoding}" is not known. Use an encoding such as utf-8, windows-1252, iso-8859-15 or utf-16le.`,
    );
  }
}

function requireTimeZone(timeZone: string, format: Format): void {
  if (format !== "icalendar") rejectUsage("--time-zone is only for calendars.");
  if (!isKnown(timeZone))
    rejectUsage(`--time-zone: "${timeZone}" is not known. Use a name such as Europe/Berlin or America/New_York.`);
}

function failChanged(file: string): never {
  throw new CommandError(
    exitCodes.failed,
    "changed",
    `${file} changed while it was imported, so records may be missing or incomplete. Import it again when nothing writes to it.`,
  );
}

async function factsOf(file: string): Promise<Stats> {
  try {
    await access(file, constants.R_OK);
    return await stat(file);
  } catch (error) {
    return unreadable(file, error as NodeJS.ErrnoException);
  }
}

function unreadable(file: string, { code = "" }: NodeJS.ErrnoException): never {
  const why =
    code === "ENOENT"
      ? "does not exist"
      : code === "EACCES"
        ? "cannot be read: you do not have permission"
        : `cannot be read (${code})`;
  return rejectUsage(`${file} ${why}.`);
}

async function* nothing(): AsyncIterable<Buffer> {}
