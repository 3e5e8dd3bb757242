// Runs `records import`: names the import, sends it, shows its progress, and reports a summary.
import type { Entry, Format } from "../formats/entry.ts";
import { randomUUID } from "node:crypto";
import type { ImportResponse } from "../../gen/records/ingest/v1/import_pb.ts";
import { ImportRestart } from "../../gen/records/ingest/v1/import_pb.ts";
import type { ExitCode } from "../exit.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import { findAccount } from "../find-account.ts";
import type { Columns } from "../formats/csv-columns.ts";
import type { Interrupt } from "../interrupt.ts";
import { onInterrupt } from "../interrupt.ts";
import type { Link } from "../link.ts";
import type { Output } from "../output.ts";
import { counted } from "../output.ts";
import type { Progress } from "../progress.ts";
import { createProgress } from "../progress.ts";
import { isSameFile, standardStreams } from "../same-file.ts";
import { columnLines, preview } from "./preview.ts";
import { createRejections } from "./rejections.ts";
import type { Reject, Rejects } from "./rejects.ts";
import { collectRejects, unreadable as unreadableReason } from "./rejects.ts";
import type { Source } from "./source.ts";
import { failChanged, openSource } from "./source.ts";
import { transfer } from "./stream.ts";
import { ifInterrupted, outcomeDocument, outcomeLines, placeOf, resumeInstruction } from "./summary.ts";
import type { PlanOptions } from "./plan.ts";
import { planOf } from "./plan.ts";
import { surveyOf } from "./survey.ts";
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
  const onColumns = (columns: Columns): void => columnLines(columns).forEach((line) => void output.note(line));
  const onEncoding = (found: string): void => {
    if (found !== "utf-8") output.note(`Encoding: ${found.toUpperCase()}`);
  };
  const source = await openSource({ file, ...how, updateBy, onColumns, onEncoding });
  const link = await connect();
  const { id: accountId, email } = await findAccount(link, options.account);
  const ownName = await source.name(accountId);
  const opened = { link, accountId, email, file, source };
  const plan = await planOf(opened, options, async (enough) => {
    const survey = await openSource({ file, ...how, updateBy, onColumns: () => undefined });
    if ((await survey.name(accountId)) !== ownName) failChanged(file);
    return surveyOf(survey.entries(), enough);
  });
  const importId = options.name ?? (again ? undefined : ownName) ?? `import-${randomUUID()}`;
  const named = options.name !== undefined || importId === ownName;
  const resumeOptions = named ? "" : `with --name ${importId}${again ? " instead of --again" : ""}`;

  const begunAt = performance.now();
  const rejects = await collectRejects(options.rejects);
  const progress = await createProgress(output, "Importing", source.size);
  const interrupt = onInterrupt(() =>
    progress.note("Stopping after the records that were sent. Press Ctrl-C again to stop at once."),
  );
  let sent: Sent;
  let archived = 0;
  try {
    const onRepeat = (): void => progress.note("The service cannot be reached, or cannot respond. Trying again …");
    archived = await archive(link, accountId, plan.missing, interrupt.signal, onRepeat);
    const updateByEmail = sync || updateBy === "email";
    const restart = sync
      ? ImportRestart.ALWAYS
      : importId === ownName
        ? ImportRestart.IF_FINISHED
        : ImportRestart.UNSPECIFIED;
    const how = { updateByEmail, restart, entries: plan.entries, contactFields: plan.contactFields };
    const sending = { ...how, link, accountId, importId, source, rejects, progress, interrupt, resumeOptions };
    sent = await send({ ...sending, strict: options.strict === true, keepInputs: options.rejects !== undefined });
  } finally {
    interrupt.end();
    progress.end();
    source.close();
    await rejects.close();
  }

  const { complete, resumedFrom, last, unreadable, skipped, leftOut } = sent;
  const rejected = Number(last?.rejected ?? 0) + unreadable;
  const seconds = (performance.now() - begunAt) / 1_000;
  const outcome = {
    importId,
    accountId,
    email,
    file,
    format: source.format,
    complete,
    resumedFrom,
    position: Number(last?.position ?? 0),
    written: last?.written,
    changes: last?.contactChanges,
    rejected,
    skipped,
    leftOut,
    archived,
    notArchived: plan.notArchived,
    rejects,
    seconds,
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
interface Sending {
  readonly link: Link;
  readonly accountId: string;
  readonly importId: string;
  readonly updateByEmail: boolean;
  readonly source: Source;
  readonly entries: AsyncIterable<Entry>;
  readonly contactFields: () => readonly string[] | undefined;
  readonly restart: ImportRestart;
  readonly rejects: Rejects;
  readonly progress: Progress;
  readonly interrupt: Interrupt;
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
  const { source, entries, rejects, progress, resumeOptions } = sending;
  const breaks = createBreaks(sending);
  let last: ImportResponse | undefined;
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
  const window = createWindow(entries, sending.keepInputs, source.read, {
    onUnreadable({ line, input, problem }) {
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

  try {
    const stop = sending.interrupt.signal;
    const complete = await transfer(sending.link, {
      ...sending,
      ...breaks,
      window,
      onResponse,
      stop,
      acknowledged: rejections.acknowledged,
    });
    return { complete, resumedFrom: breaks.resumedFrom(), last, unreadable, skipped, leftOut };
  } catch (error) {
    const settled = Number(last?.position ?? 0);
    const isStrict = error instanceof CommandError && error.code === stoppedByStrict;
    if (settled > 0 && !isStrict)
      progress.note(`${counted(settled, "record")} written or rejected. ${resumeInstruction(resumeOptions)}`);
    throw error;
  }
}

/** Reports where the stream breaks, and from which position it continues. */
function createBreaks({ importId, progress, resumeOptions }: Sending) {
  let resumedFrom: number | undefined;
  let cut = false;
  return {
    resumedFrom: () => resumedFrom ?? 0,
    onBreak(): void {
      if (!cut) progress.note("The service cannot be reached, or cannot respond. Trying again …");
      cut = true;
    },
    onResume(position: number, isAtEnd: boolean): void {
      if (resumedFrom !== undefined) progress.note(`Resuming after ${counted(position, "record")}.`);
      else if (position > 0 && !isAtEnd)
        progress.note(`The import "${importId}" resumes after ${counted(position, "record")}.`);
      // Before anything is written, because a process that is killed prints nothing more.
      else if (position === 0 && resumeOptions !== "") progress.note(ifInterrupted(resumeOptions));
      resumedFrom ??= position;
      cut = false;
    },
  };
}
