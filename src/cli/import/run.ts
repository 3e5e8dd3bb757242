// Runs `records import`: names the import, sends it, shows its progress, and reports a summary.
import { randomUUID } from "node:crypto";
import type { ImportResponse } from "../../gen/records/ingest/v1/import_pb.ts";
import { ImportRestart } from "../../gen/records/ingest/v1/import_pb.ts";
import type { ExitCode } from "../exit.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import { findAccount } from "../find-account.ts";
import type { Columns } from "../formats/csv-columns.ts";
import type { Format } from "../formats/entry.ts";
import type { Link } from "../link.ts";
import type { Output } from "../output.ts";
import { counted } from "../output.ts";
import { isSameFile, standardStreams } from "../same-file.ts";
import type { Transfer } from "../transfer.ts";
import { runTransfer } from "../transfer.ts";
import { columnLines, preview } from "./preview.ts";
import { createRejections } from "./rejections.ts";
import type { Reject, Rejects } from "./rejects.ts";
import { collectRejects, unreadable as unreadableReason } from "./rejects.ts";
import { openSource } from "./source.ts";
import { sendRecords } from "./stream.ts";
import { ifInterrupted, outcomeDocument, outcomeLines, placeOf, resumeInstruction } from "./summary.ts";
import type { Opened, Plan, PlanOptions } from "./plan.ts";
import { planOf } from "./plan.ts";
import { archive } from "./sync.ts";
import { createWindow } from "./window.ts";

/** The options of `records import`. */
export interface ImportOptions extends PlanOptions {
  readonly account: string;
  readonly format?: Format;
  readonly map?: readonly string[];
  readonly encoding?: string;
  readonly timeZone?: string;
  readonly name?: string;
  readonly again?: boolean;
  readonly rejects?: string;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
}

/** Runs an import and reports its summary. Returns the exit code. */
export async function runImport(
  output: Output,
  connect: () => Promise<Link>,
  file: string,
  options: ImportOptions,
): Promise<ExitCode> {
  await checkOptions(file, options);
  const { format, encoding, map, timeZone, again = false, sync = false, updateBy } = options;
  const how = { format, encoding, map, timeZone };
  if (options.dryRun === true) return preview(output, file, how);
  let notes: Pick<Output, "note"> = output;
  const onColumns = (columns: Columns): void => columnLines(columns).forEach((line) => void notes.note(line));
  const onEncoding = (found: string): void => {
    if (found !== "utf-8") output.note(`Encoding: ${found.toUpperCase()}`);
  };
  const source = await openSource({ file, ...how, updateBy, onColumns, onEncoding });
  const link = await connect();
  const { id: accountId, email } = await findAccount(link, options.account);
  const ownName = await source.name(accountId);
  const opened = { link, accountId, email, file, source };
  const plan = await planOf(opened, options);
  const importId = options.name ?? (again ? undefined : ownName) ?? `import-${randomUUID()}`;
  const named = options.name !== undefined || importId === ownName;
  const resumeOptions = named ? "" : `with --name ${importId}${again ? " instead of --again" : ""}`;

  const updateByEmail = sync || updateBy === "email";
  const restart = sync
    ? ImportRestart.ALWAYS
    : importId === ownName
      ? ImportRestart.IF_FINISHED
      : ImportRestart.UNSPECIFIED;
  const rejects = await collectRejects(options.rejects);
  const onStop = "Stopping after the records that were sent. Press Ctrl-C again to stop at once.";
  const done = await runTransfer(output, { verb: "Importing", size: source.size, onStop }, async (transfer) => {
    notes = transfer.progress;
    const archived = await archive(link, accountId, plan.missing, transfer.retry);
    const sending = { ...opened, importId, updateByEmail, restart, plan, rejects, transfer, resumeOptions };
    const strict = options.strict === true;
    const sent = await send({ ...sending, strict, keepInputs: options.rejects !== undefined });
    return { ...sent, archived, seconds: transfer.seconds() };
  }).finally(async () => {
    source.close();
    await rejects.close();
  });
  // Stopped before the first record was sent.
  if (done === undefined) return exitCodes.interrupted;

  const { complete, last, unreadable } = done;
  const rejected = Number(last?.rejected ?? 0) + unreadable;
  const outcome = {
    ...done,
    importId,
    accountId,
    email,
    file,
    format: source.format,
    position: Number(last?.position ?? 0),
    written: last?.written,
    changes: last?.contactChanges,
    rejected,
    notArchived: plan.notArchived,
    rejects,
    resumeOptions,
  };
  output.result(outcomeDocument(outcome), outcomeLines(outcome, options.rejects));
  if (!complete) return exitCodes.interrupted;
  if (outcome.position === 0 && rejected === 0) output.note("0 records. The file may be empty.");
  return rejected > 0 ? exitCodes.rejected : exitCodes.ok;
}

async function checkOptions(
  file: string,
  { again = false, name, rejects, sync = false, archiveMissing = false, yes = false, updateBy }: ImportOptions,
): Promise<void> {
  const excluded = { "--again": again, "--name": name !== undefined, "--update-by": updateBy !== undefined };
  const [wrong] = Object.entries(excluded).find(([, isSet]) => isSet) ?? [];
  if (sync && wrong !== undefined) rejectUsage(`${wrong} cannot be used with --sync. Remove it.`);
  if (archiveMissing && !sync) rejectUsage("--archive-missing needs --sync.");
  if (yes && !archiveMissing) rejectUsage("--yes needs --archive-missing.");
  if (again && name !== undefined) rejectUsage("--again chooses a new name. Remove --again, and set another --name.");
  if (rejects !== undefined && (await isSameFile(rejects, file === "-" ? standardStreams.input : file)))
    rejectUsage(`--rejects: ${rejects} is the file to import. Name another file.`);
}

/** The context of an import that is being sent. */
interface Sending extends Opened {
  readonly importId: string;
  readonly updateByEmail: boolean;
  readonly restart: ImportRestart;
  readonly plan: Plan;
  readonly rejects: Rejects;
  readonly transfer: Transfer;
  readonly resumeOptions: string;
  readonly strict: boolean;
  readonly keepInputs: boolean;
}

/** The error code of an import that --strict stopped. */
const stoppedByStrict = "rejected";

/** The result of sending an import. */
interface Sent {
  readonly complete: boolean;
  readonly resumedFrom: number;
  readonly last: ImportResponse | undefined;
  /** The number of entries in the file that are not valid records. */
  readonly unreadable: number;
  readonly skipped: number;
  readonly leftOut: number;
}

async function send(sending: Sending): Promise<Sent> {
  const { importId, source, plan, rejects, transfer, resumeOptions } = sending;
  const { progress } = transfer;
  let last: ImportResponse | undefined;
  let resumedFrom: number | undefined;
  let [unreadable, skipped, leftOut] = [0, 0, 0];

  function reject(one: Reject): void {
    if (!rejects.add(one) || !sending.strict) return;
    const rest = resumeOptions === "" ? "" : ` and ${resumeOptions}`;
    throw new CommandError(
      exitCodes.failed,
      stoppedByStrict,
      `${placeOf(one)}: ${one.message} (--strict stops the import here; later records may be written too). Save the corrected record in a separate file, and import that file. To import the rest, run the same command without --strict${rest}.`,
    );
  }

  const rejections = createRejections((position) => window.originOf(position), reject, rejects.isSaved);
  const window = createWindow(plan.entries, sending.keepInputs, source.read, {
    onUnreadable({ line, input }, problem) {
      unreadable++;
      reject({ line, reason: unreadableReason, message: problem, input });
    },
    onEntry({ content, leftOut: values = 0 }) {
      leftOut += values;
      if ("skipped" in content) skipped++;
    },
    onSkipped: rejections.name,
  });

  function onResponse(response: ImportResponse): void {
    last = response;
    rejections.receive(response);
    const doing = response.indexing ? { doing: "building the index" } : {};
    progress.show({
      records: Number(response.position),
      rate: response.rate,
      rejected: Number(response.rejected) + unreadable,
      bytes: window.settledBytes(),
      ...doing,
    });
  }

  function onResume(position: number, isAtEnd: boolean): void {
    if (resumedFrom !== undefined) progress.note(`Resuming after ${counted(position, "record")}.`);
    else if (position > 0 && !isAtEnd)
      progress.note(`The import "${importId}" resumes after ${counted(position, "record")}.`);
    // Before anything is written, because a process that is killed prints nothing more.
    else if (position === 0 && resumeOptions !== "") progress.note(ifInterrupted(resumeOptions));
    resumedFrom ??= position;
  }

  try {
    const { contactFields } = plan;
    const { acknowledged } = rejections;
    const work = { ...sending, contactFields, window, onResponse, onResume, acknowledged };
    const complete = await sendRecords(sending.link, transfer, work);
    return { complete, resumedFrom: resumedFrom ?? 0, last, unreadable, skipped, leftOut };
  } catch (error) {
    const settled = Number(last?.position ?? 0);
    const isStrict = error instanceof CommandError && error.code === stoppedByStrict;
    if (settled > 0 && !isStrict)
      progress.note(`${counted(settled, "record")} written or rejected. ${resumeInstruction(resumeOptions)}`);
    throw error;
  }
}
