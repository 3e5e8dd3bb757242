// Runs `records export`: reads the stream, writes the file, and counts the records.
import { IngestService } from "../../gen/records/ingest/v1/ingest_pb.ts";
import type { RecordKindName } from "../../ingest/record-kinds.ts";
import { recordKinds } from "../../ingest/record-kinds.ts";
import type { ExitCode } from "../exit.ts";
import { exitCodes, rejectUsage } from "../exit.ts";
import { findAccount } from "../find-account.ts";
import type { CsvColumns } from "../formats/csv-writer.ts";
import { csvWriter } from "../formats/csv-writer.ts";
import type { ExportFormat, ImportedRecord } from "../formats/entry.ts";
import { ndjsonLine } from "../formats/ndjson.ts";
import type { VcardVersion } from "../formats/vcard-writer.ts";
import { vcard } from "../formats/vcard-writer.ts";
import { formatOf } from "../import/source.ts";
import { onInterrupt } from "../interrupt.ts";
import type { Link } from "../link.ts";
import type { Output } from "../output.ts";
import { count, counted, facts, totalOf } from "../output.ts";
import type { Progress } from "../progress.ts";
import { createProgress } from "../progress.ts";
import { retryWhileUnavailable } from "../retry.ts";
import { isSameFile, standardStreams } from "../same-file.ts";
import type { Target } from "./target.ts";
import { openTarget } from "./target.ts";

/** The options of `records export`. */
export interface ExportOptions {
  readonly account: string;
  readonly format?: ExportFormat;
  /** The columns of a CSV file. */
  readonly columns?: CsvColumns;
  /** Whether a CSV file begins with a byte order mark, by which Excel recognizes UTF-8. */
  readonly bom?: boolean;
  readonly vcardVersion?: VcardVersion;
}

/** The number of records of each kind. */
type Counts = Record<RecordKindName, number>;

/** Runs an export and reports its summary. Returns the exit code. */
export async function runExport(output: Output, link: Link, name: string, options: ExportOptions): Promise<ExitCode> {
  const file = (await isSameFile(name, standardStreams.output)) ? "-" : name;
  if (file === "-" && output.json)
    rejectUsage(
      "--json cannot be used with standard output, because the result would be mixed with the records. Name a file.",
    );
  const format = formatOf(file, options.format);
  if (format === "transcript" || format === "icalendar")
    rejectUsage("Sessions can only be exported as NDJSON. Add --format ndjson.");
  const writer = writerOf(format, options);
  const { id: accountId, email } = await findAccount(link, options.account);
  const begunAt = performance.now();
  const target = await openTarget(file);
  const progress = await createProgress(output, "Exporting", undefined);
  const interrupt = onInterrupt(() => progress.note("Stopping. No file is left."));
  let counts: Counts;
  try {
    // If the connection breaks, the export starts again, unless part of the output can no longer be taken back.
    const onRepeat = (): void => progress.note("The service cannot be reached, or cannot respond. Starting again …");
    counts = await retryWhileUnavailable({ stop: interrupt.signal, onRepeat, restart: target.restart }, () =>
      write(link, accountId, format, writer, target, progress, interrupt.signal),
    );
  } catch (error) {
    await target.discard();
    if (interrupt.signal.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    interrupt.end();
    progress.end();
  }
  await target.finish();

  const seconds = (performance.now() - begunAt) / 1_000;
  const total = totalOf(counts);
  const lines = [
    `Exported ${counted(total, "record")} of ${email} to ${file} in ${seconds.toFixed(1)} s.`,
    ...facts(Object.entries(counts).map(([kind, number]) => [kind, count(number)])),
  ];
  if (file === "-") for (const line of lines) output.note(line);
  else
    output.result(
      {
        account_id: accountId,
        email,
        file,
        format,
        written: { ...counts },
        seconds: Math.round(seconds * 1_000) / 1_000,
      },
      lines,
    );
  return exitCodes.ok;
}

async function write(
  link: Link,
  accountId: string,
  format: ExportFormat,
  { header, textOf }: Writer,
  target: Target,
  progress: Progress,
  stop: AbortSignal,
): Promise<Counts> {
  const call = new AbortController();
  const counts: Counts = { contacts: 0, sessions: 0, transcripts: 0, session_notes: 0, contact_notes: 0 };
  const begunAt = performance.now();
  const end = (): void => call.abort();
  stop.addEventListener("abort", end, { once: true });
  try {
    if (header !== "") await target.write(header);
    for await (const { records } of link.client(IngestService).export({ accountId }, { signal: call.signal })) {
      const texts: string[] = [];
      for (const record of records) {
        const text = textOf(record);
        if (text === undefined || record.record.case === undefined) continue;
        counts[recordKinds[record.record.case]]++;
        texts.push(text);
      }
      await target.write(texts.join("")).catch((error: unknown) => {
        // Without the abort, leaving the loop would wait for the stream, which waits for its reader.
        call.abort();
        throw error;
      });
      const total = totalOf(counts);
      progress.show({ records: total, rate: total / ((performance.now() - begunAt) / 1_000), bytes: 0 });
      // Contacts come first in the stream, and CSV and vCard contain nothing else.
      if (format !== "ndjson" && records.some(({ record }) => record.case !== "contact")) break;
    }
    return counts;
  } finally {
    stop.removeEventListener("abort", end);
    call.abort();
  }
}

/** How a file is written. */
interface Writer {
  readonly header: string;
  /** Returns undefined for a record that the format leaves out. */
  readonly textOf: (record: ImportedRecord) => string | undefined;
}

/** Returns the writer of a format. Fails with a usage error if an option is for another format. */
function writerOf(format: ExportFormat, { columns, bom = false, vcardVersion }: ExportOptions): Writer {
  if (format !== "csv" && (columns !== undefined || bom)) rejectUsage("--columns and --bom are only for CSV files.");
  if (format !== "vcard" && vcardVersion !== undefined) rejectUsage("--vcard-version is only for vCard files.");
  if (format === "ndjson") return { header: "", textOf: ndjsonLine };
  if (format === "vcard")
    return {
      header: "",
      textOf: ({ record }) =>
        record.case === "contact" && record.value.archivedAt === undefined
          ? vcard(record.value, vcardVersion)
          : undefined,
    };
  const { header, row } = csvWriter(columns ?? "records");
  return {
    header: `${bom ? "\uFEFF" : ""}${header}`,
    textOf: ({ record }) => (record.case === "contact" ? row(record.value) : undefined),
  };
}
