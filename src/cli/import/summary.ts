// Summary of an import, as JSON and as text.
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ContactChanges, RecordCounts } from "../../gen/records/ingest/v1/import_pb.ts";
import { ContactChangesSchema, RecordCountsSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import type { Format } from "../formats/entry.ts";
import type { Json } from "../output.ts";
import { count, counted, facts, rounded, totalOf } from "../output.ts";
import type { Reject, Rejects } from "./rejects.ts";

/** The result of an import. */
export interface Outcome {
  readonly importId: string;
  readonly accountId: string;
  readonly email: string;
  readonly file: string;
  readonly format: Format;
  /** False if the import was stopped before its end. */
  readonly complete: boolean;
  /** The number of settled records: `resumedFrom` before this run, `position` after it. */
  readonly resumedFrom: number;
  readonly position: number;
  readonly written: RecordCounts | undefined;
  /** How many of the written contacts were created, updated or unchanged. */
  readonly changes: ContactChanges | undefined;
  /** The number of rejected entries in all runs, whether by the service or as unreadable. */
  readonly rejected: number;
  /** The number of groups, which are no contacts, or of tasks and of events that are cancelled or last whole days. */
  readonly skipped: number;
  /** The number of values that cannot be read or stored. */
  readonly leftOut: number;
  /** The number of contacts that were archived because the file lacks them. */
  readonly archived: number;
  /** The number of contacts that the file lacks, and that stay active because it has unreadable entries. */
  readonly notArchived: number;
  readonly rejects: Rejects;
  readonly seconds: number;
  /** The additional options with which the same command resumes; empty if there are none. */
  readonly resumeOptions: string;
}

const maxShown = 20;

/** Returns the JSON document of `--json`. */
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
    written: numbersOf(RecordCountsSchema, outcome.written),
    contact_changes: numbersOf(ContactChangesSchema, outcome.changes),
    rejected: outcome.rejected,
    ...skippedCounts(outcome.format, outcome.skipped),
    values_left_out: outcome.leftOut,
    archived: outcome.archived,
    not_archived: outcome.notArchived,
    rejections: rejects.first.map(({ contact_id, ...one }) => ({
      ...one,
      ...(contact_id === undefined ? {} : { contact_id }),
    })),
    rejections_left_out: outcome.rejected - rejects.first.length,
    seconds: rounded(outcome.seconds),
  };
}

/** Returns the lines of the summary. `rejectsFile` is the file with all rejected entries. */
export function outcomeLines(outcome: Outcome, rejectsFile: string | undefined): string[] {
  const { rejected } = outcome;
  const first = outcome.rejects.first.slice(0, maxShown);
  return [
    headline(outcome),
    ...facts([
      ["import", outcome.importId],
      ...Object.entries(numbersOf(RecordCountsSchema, outcome.written)).map(
        ([kind, number]) => [kind, shownCount(outcome, kind, number)] as const,
      ),
      ["rejected", count(rejected)],
      ...leftOutFacts(outcome.format, outcome.skipped, outcome.leftOut),
      ...(outcome.archived === 0 ? [] : [["archived", count(outcome.archived)] as const]),
      ...(outcome.notArchived === 0
        ? []
        : [["not archived, because some entries cannot be read", count(outcome.notArchived)] as const]),
    ]),
    ...first.map((one) => `  ${placeOf(one)}: ${one.message}${holderOf(one)}`),
    ...(rejected > first.length
      ? [
          `  … and ${count(rejected - first.length)} more${rejectsFile === undefined ? ", which no file has: set --rejects FILE when you import" : `, see ${rejectsFile}`}`,
        ]
      : []),
  ];
}

/** Names the contact that has an email. */
function holderOf({ contact_id }: Pick<Reject, "contact_id">): string {
  return contact_id === undefined ? "" : ` Its id is ${contact_id}.`;
}

/** Returns the members of a JSON document with what an import skipped. */
export function skippedCounts(format: Format, skipped: number): Readonly<Record<string, number>> {
  const isCalendar = format === "icalendar";
  return { groups_skipped: isCalendar ? 0 : skipped, events_skipped: isCalendar ? skipped : 0 };
}

/** Returns what an import passed over, as far as there is any. */
export function leftOutFacts(
  format: Format,
  skipped: number,
  leftOut: number,
): (readonly [name: string, value: string])[] {
  const kind = format === "icalendar" ? "events skipped, cancelled or of whole days, and tasks" : "groups skipped";
  return [
    ...(skipped === 0 ? [] : [[kind, count(skipped)] as const]),
    ...(leftOut === 0 ? [] : [["values left out, unreadable or too long", count(leftOut)] as const]),
  ];
}

function headline({
  complete,
  importId,
  file,
  email,
  position,
  resumedFrom,
  written,
  rejected,
  seconds,
  resumeOptions,
}: Outcome): string {
  if (!complete) return `Stopped after ${counted(position, "record")}. ${resumeInstruction(resumeOptions)}`;
  if (position > 0 && position === resumedFrom)
    return `The import ${importId} into ${email} is finished, and nothing was written. To import ${file} once more, choose another --name.`;
  const total = totalOf(numbersOf(RecordCountsSchema, written));
  const counts = `${count(total)} ${total === 1 ? "record" : "records"} imported, ${count(rejected)} rejected`;
  return `${file} into ${email}: ${counts}, in ${seconds.toFixed(1)} s.`;
}

function shownCount({ changes }: Outcome, kind: string, number: number): string {
  const shownChanges = Object.entries(numbersOf(ContactChangesSchema, changes)).flatMap(([change, many]) =>
    many === 0 ? [] : [`${count(many)} ${change}`],
  );
  return kind === "contacts" && shownChanges.length > 0
    ? `${count(number)} (${shownChanges.join(", ")})`
    : count(number);
}

/** Returns the instruction to resume an incomplete import, with the options that it needs. */
export function resumeInstruction(needed: string): string {
  return `To resume, run the same command again${needed === "" ? "" : ` ${needed}`}.`;
}

/** Returns how to resume an import that cannot be found by its contents. */
export function ifInterrupted(needed: string): string {
  return `If the import is interrupted, run the same command again ${needed}.`;
}

/** Returns the line of a rejected entry, as the beginning of a message. */
export function placeOf({ line }: Pick<Reject, "line">): string {
  return line === null ? "an unknown line" : `line ${line}`;
}

/** Returns the numbers of a message by their names; 0 for all if it is missing. */
function numbersOf<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc> | undefined,
): Readonly<Record<string, number>> {
  const numbers = message as Readonly<Record<string, unknown>> | undefined;
  return Object.fromEntries(schema.fields.map(({ name, localName }) => [name, Number(numbers?.[localName] ?? 0)]));
}
