// The sum of an import, for programs and for people.
import type { ContactChanges, RecordCounts } from "../../gen/records/ingest/v1/import_pb.ts";
import type { Format } from "../formats/entry.ts";
import type { Json } from "../output.ts";
import { count, counted, facts } from "../output.ts";
import type { Reject, Rejects } from "./rejects.ts";

/** What came of an import. */
export interface Outcome {
  readonly importId: string;
  readonly accountId: string;
  readonly email: string;
  readonly file: string;
  readonly format: Format;
  /** False where it was stopped before its end. */
  readonly complete: boolean;
  /** How many records were settled before this run, and are now. */
  readonly resumedFrom: number;
  readonly position: number;
  readonly written: RecordCounts | undefined;
  /** What became of the contacts among them. */
  readonly changes: ContactChanges | undefined;
  /** How many entries were rejected, by the service or as unreadable, in all runs. */
  readonly rejected: number;
  readonly rejects: Rejects;
  readonly seconds: number;
  /** What the same command needs besides to continue; empty where it needs nothing. */
  readonly toGoOn: string;
}

const mostShown = 20;

/** The document of `--json`. */
export function outcomeDocument({ rejects, ...outcome }: Outcome): Json {
  return {
    import_id: outcome.importId,
    account_id: outcome.accountId,
    email: outcome.email,
    file: outcome.file,
    format: outcome.format,
    done: outcome.complete,
    resumed_from: outcome.resumedFrom,
    position: outcome.position,
    written: countsOf(outcome.written),
    contact_changes: changesOf(outcome.changes),
    rejected: outcome.rejected,
    rejections: rejects.first.map((one) => ({ ...one })),
    rejections_left_out: outcome.rejected - rejects.first.length,
    seconds: Math.round(outcome.seconds * 1_000) / 1_000,
  };
}

/** The same in lines; `rejectsFile` is where all that was rejected can be looked up. */
export function outcomeLines(outcome: Outcome, rejectsFile: string | undefined): string[] {
  const { rejected } = outcome;
  const first = outcome.rejects.first.slice(0, mostShown);
  return [
    headline(outcome),
    ...facts([
      ["import", outcome.importId],
      ...Object.entries(countsOf(outcome.written)).map(
        ([kind, number]) => [kind, shownCount(outcome, kind, number)] as const,
      ),
      ["rejected", count(rejected)],
    ]),
    ...first.map((one) => `  ${placeOf(one)}: ${one.message}`),
    ...(rejected > first.length
      ? [
          `  … and ${count(rejected - first.length)} more${rejectsFile === undefined ? "; --rejects FILE saves all of them" : `, see ${rejectsFile}`}`,
        ]
      : []),
  ];
}

function headline({
  complete,
  file,
  email,
  position,
  resumedFrom,
  written,
  rejected,
  seconds,
  toGoOn,
}: Outcome): string {
  if (!complete) return `Stopped after ${counted(position, "record")}. ${goOn(toGoOn)}`;
  if (position > 0 && position === resumedFrom)
    return `${file} was imported into ${email} before. Nothing was written. To import it once more, add --again.`;
  const total = Object.values(countsOf(written)).reduce((sum, number) => sum + number, 0);
  const counts = `${count(total)} ${total === 1 ? "record" : "records"} imported, ${count(rejected)} rejected`;
  return `${file} into ${email}: ${counts}, in ${seconds.toFixed(1)} s.`;
}

function shownCount({ changes }: Outcome, kind: string, number: number): string {
  const shownChanges = Object.entries(changesOf(changes)).flatMap(([change, many]) =>
    many === 0 ? [] : [`${count(many)} ${change}`],
  );
  return kind === "contacts" && shownChanges.length > 0
    ? `${count(number)} (${shownChanges.join(", ")})`
    : count(number);
}

function changesOf(changes: ContactChanges | undefined): Readonly<Record<string, number>> {
  return {
    created: Number(changes?.created ?? 0),
    updated: Number(changes?.updated ?? 0),
    unchanged: Number(changes?.unchanged ?? 0),
  };
}

/** How an import that is not at its end continues. */
export function goOn(needed: string): string {
  return `To resume, run the same command again${needed === "" ? "" : ` ${needed}`}.`;
}

/** Where a rejected entry is, as a sentence about it begins. */
export function placeOf({ line }: Pick<Reject, "line">): string {
  return line === null ? "an unknown line" : `line ${line}`;
}

function countsOf(counts: RecordCounts | undefined): Readonly<Record<string, number>> {
  return {
    contacts: Number(counts?.contacts ?? 0),
    sessions: Number(counts?.sessions ?? 0),
    transcripts: Number(counts?.transcripts ?? 0),
    session_notes: Number(counts?.sessionNotes ?? 0),
    contact_notes: Number(counts?.contactNotes ?? 0),
  };
}
