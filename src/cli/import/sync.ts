// Keeps an account in step with a file: what to clear, what to restore, and which contacts the file no longer has.
import { IngestService } from "../../gen/records/ingest/v1/ingest_pb.ts";
import { confirm } from "../confirm.ts";
import type { ProblemContent } from "../formats/entry.ts";
import type { Entry, ImportedRecord } from "../formats/entry.ts";
import type { Link } from "../link.ts";
import { count } from "../output.ts";
import type { Transfer } from "../transfer.ts";
import { messagesOf } from "../transfer.ts";
import type { Survey } from "./survey.ts";

/** The contacts of an account, compared with those of a file. */
export interface Comparison {
  /** The ids of active contacts that the file no longer has. */
  readonly missing: readonly string[];
  /** How many active contacts could be missing. */
  readonly total: number;
  /** The ids of archived contacts by their email in lower case, if no active contact has it. */
  readonly archived: ReadonlyMap<string, string>;
  /** The external ids of all contacts. */
  readonly externalIds: ReadonlySet<string>;
}

/** A file may lack this share of the contacts, and one in any case, before a confirmation is needed. */
const maxShare = 0.2;
const maxArchived = 500;

/**
 * Compares an account with a file. Contacts that the file cannot name are never missing: those without an external id
 * if the file has external ids, and those without an email if it has neither ids nor external ids.
 */
export async function compareWith(link: Link, accountId: string, survey: Survey): Promise<Comparison> {
  const { ids, externalIds: known, emails } = survey;
  const missing: string[] = [];
  const active = new Set<string>();
  const archived = new Map<string, string>();
  const externalIds = new Set<string>();
  let total = 0;
  for await (const { records } of messagesOf((options) => link.client(IngestService).export({ accountId }, options))) {
    for (const { record } of records) {
      if (record.case !== "contact") continue;
      const { id = "", externalId, email: exact, archivedAt } = record.value;
      const email = exact?.toLowerCase();
      if (externalId !== undefined) externalIds.add(externalId);
      if (archivedAt !== undefined) {
        if (email !== undefined) archived.set(email, id);
        continue;
      }
      if (email !== undefined) active.add(email);
      const isNamed = ids.size > 0 || (known.size > 0 ? externalId : (externalId ?? email)) !== undefined;
      if (!isNamed) continue;
      total++;
      const isKnown = ids.has(id) || known.has(externalId ?? "") || emails.has(email ?? "");
      if (!isKnown) missing.push(id);
    }
    // Contacts come first.
    if (records.some(({ record }) => record.case !== "contact")) break;
  }
  for (const email of active) archived.delete(email);
  return { missing, total, archived, externalIds };
}

/** Prompts for a confirmation if a file lacks so many contacts that it may be truncated. */
export async function confirmMissing(
  { missing, total }: Comparison,
  file: string,
  email: string,
  yes: boolean,
): Promise<void> {
  if (missing.length <= Math.max(1, Math.floor(total * maxShare)) && missing.length < total) return;
  if (missing.length === 0) return;
  const lacks = `${file} lacks ${count(missing.length)} of the ${count(total)} contacts of ${email}, so it may be incomplete.`;
  await confirm({ warning: `${lacks} This archives all of them.`, expected: email, yes });
}

/** Archives contacts. Returns their number. Contacts that were deleted meanwhile are passed over. */
export async function archive(
  link: Link,
  accountId: string,
  ids: readonly string[],
  retry: Transfer["retry"],
): Promise<number> {
  let archived = 0;
  for (let at = 0; at < ids.length; at += maxArchived) {
    const contactIds = ids.slice(at, at + maxArchived);
    const { results } = await retry(() => link.client(IngestService).archiveContacts({ accountId, contactIds }));
    archived += results.filter(({ error }) => error === undefined).length;
  }
  return archived;
}

const nameless: ProblemContent = {
  problem: "has no id, external id or email, so that the next --sync could not find its record again",
};

/**
 * Yields entries that can be imported repeatedly. A contact whose email only an archived contact has gets the id of
 * that contact, so that it is restored. A record that cannot be found again becomes a problem.
 */
export async function* repeatable(
  entries: AsyncIterable<Entry>,
  comparison: Pick<Comparison, "archived" | "externalIds"> | undefined,
): AsyncIterable<Entry> {
  for await (const entry of entries) {
    if (!("record" in entry.content)) yield entry;
    else if (isNameless(entry.content.record)) yield { ...entry, content: nameless };
    else {
      if (comparison !== undefined) restore(entry.content.record, comparison);
      yield entry;
    }
  }
}

function isNameless({ record }: ImportedRecord): boolean {
  if (record.case === undefined || record.case === "transcript") return false;
  const { id, externalId } = record.value;
  return (id ?? externalId ?? (record.case === "contact" ? record.value.email : undefined)) === undefined;
}

function restore(
  { record }: ImportedRecord,
  { archived, externalIds }: Pick<Comparison, "archived" | "externalIds">,
): void {
  if (record.case !== "contact" || record.value.id !== undefined) return;
  const { externalId, email } = record.value;
  const id = archived.get(email?.toLowerCase() ?? "");
  if (id !== undefined && (externalId === undefined || !externalIds.has(externalId))) record.value.id = id;
}
