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
import type { Link } from "../link.ts";
import type { Output } from "../output.ts";
import { counted, countFacts, rounded, totalOf } from "../output.ts";
import { isSameFile, standardStreams } from "../same-file.ts";
import type { Transfer } from "../transfer.ts";
import { messagesOf, runTransfer } from "../transfer.ts";
import type { Target } from "./target.ts";
import { openTarget, rejectFolder } from "./target.ts";

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
  await rejectFolder(file);
  const format = formatOf(file, options.format, "ndjson, csv or vcard");
  if (format === "transcript" || format === "icalendar")
    rejectUsage("Sessions can only be exported as NDJSON. Add --format ndjson.");
  const writer = writerOf(format, options);
  const { id: accountId, email } = await findAccount(link, options.account);
  const target = await openTarget(file);
  const how = { verb: "Exporting", onStop: "Stopping. No file is left." };
  const done = await runTransfer(output, how, async (transfer) => {
    // If the connection breaks, the export starts again, unless part of the output can no longer be taken back.
    const counts = await transfer.retry(() => write(link, accountId, format, writer, target, transfer), target);
    return { counts, seconds: transfer.seconds() };
  }).catch(async (error: unknown) => {
    await target.discard();
    throw error;
  });
  if (done === undefined) {
    await target.discard();
    return exitCodes.interrupted;
  }
  await target.finish();

  const { counts, seconds } = done;
  const lines = [
    `Exported ${counted(totalOf(counts), "record")} of ${email} to ${file} in ${seconds.toFixed(1)} s.`,
    ...countFacts(counts),
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
        seconds: rounded(seconds),
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
  { progress, stop }: Transfer,
): Promise<Counts> {
  const counts: Counts = { contacts: 0, sessions: 0, transcripts: 0, session_notes: 0, contact_notes: 0 };
  if (header !== "") await target.write(header);
  const messages = messagesOf((options) => link.client(IngestService).export({ accountId }, options), stop);
  for await (const { records } of messages) {
    const texts: string[] = [];
    for (const record of records) {
      const text = textOf(record);
      if (text === undefined || record.record.case === undefined) continue;
      counts[recordKinds[record.record.case]]++;
      texts.push(text);
    }
    await target.write(texts.join(""));
    progress.show({ records: totalOf(counts) });
    // Contacts come first in the stream, and CSV and vCard contain nothing else.
    if (format !== "ndjson" && records.some(({ record }) => record.case !== "contact")) break;
  }
  return counts;
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
