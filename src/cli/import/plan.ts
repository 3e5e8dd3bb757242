// How an import changes existing contacts: which fields their source has, and which contacts it no longer has.
import { contactFields } from "../formats/csv-columns.ts";
import type { Entry } from "../formats/entry.ts";
import { rejectUsage } from "../exit.ts";
import type { Link } from "../link.ts";
import type { Source } from "./source.ts";
import { surveyOf } from "./survey.ts";
import { compareWith, confirmMissing, repeatable } from "./sync.ts";

/** The options that determine the plan. */
export interface PlanOptions {
  readonly updateBy?: "email";
  readonly sync?: boolean;
  readonly archiveMissing?: boolean;
  readonly yes?: boolean;
}

/** The plan of an import. */
export interface Plan {
  readonly entries: AsyncIterable<Entry>;
  /** Returns the fields of contacts that the source has; undefined if contacts only get what their records set. */
  contactFields(): readonly string[] | undefined;
  /** The ids of contacts to archive. */
  readonly missing: readonly string[];
  /** The number of contacts that the file lacks, but that are not archived. */
  readonly notArchived: number;
}

/** An opened import. */
export interface Opened {
  readonly link: Link;
  readonly accountId: string;
  readonly email: string;
  readonly file: string;
  readonly source: Source;
}

const archivedField = "archived_at";
/** The fields that vCards of other programs can have. */
const vcardFields = ["full_name", "email", "phone", "notes"];
const changeable = contactFields.map(({ name }) => name).filter((name) => name !== "id" && name !== "external_id");

/**
 * Makes the plan of an import. Fails with a usage error if an import in step needs a file, or if a file lacks so many
 * contacts that this must be confirmed.
 */
export async function planOf(
  { link, accountId, email, file, source }: Opened,
  { sync = false, archiveMissing = false, updateBy, yes = false }: PlanOptions,
): Promise<Plan> {
  const isKnown = source.size !== undefined;
  const plain = { entries: source.entries(), missing: [], notArchived: 0 };
  if (!sync) {
    if (updateBy !== undefined || source.format === "transcript" || source.format === "icalendar")
      return { ...plain, contactFields: () => undefined };
    // A record of NDJSON is complete, apart from when it was archived.
    if (source.format === "ndjson")
      return { ...plain, contactFields: () => changeable.filter((name) => name !== archivedField) };
    if (source.format === "csv") return { ...plain, contactFields: () => listed(source.columnFields()) };
    const enough = source.mayHaveOwnProperties() ? changeable : vcardFields;
    const fields = isKnown ? listed([...(await surveyOf(source.entries(), enough)).fields]) : [];
    return { ...plain, contactFields: () => fields };
  }
  if (!isKnown) rejectUsage("--sync needs a file, because it reads the file twice.");
  const found = await surveyOf(source.entries());
  const comparison = archiveMissing ? await compareWith(link, accountId, found) : undefined;
  const entries = repeatable(source.entries(), comparison);
  const ofSource = (): readonly string[] =>
    listed([
      ...(source.format === "csv" ? (source.columnFields() ?? []) : found.fields),
      ...(archiveMissing ? [archivedField] : []),
    ]);
  if (comparison === undefined) return { ...plain, entries, contactFields: ofSource };
  if (found.unknown > 0)
    return { entries, contactFields: ofSource, missing: [], notArchived: comparison.missing.length };
  await confirmMissing(comparison, file, email, yes);
  return { entries, contactFields: ofSource, missing: comparison.missing, notArchived: 0 };
}

/** Returns the fields that an import can change, each once. */
function listed(fields: readonly string[] = []): readonly string[] {
  return changeable.filter((name) => fields.includes(name));
}
