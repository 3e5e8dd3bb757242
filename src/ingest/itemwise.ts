// Item-wise batches: writes the valid items, and reports a failure for each invalid one.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { WriteScope } from "../call/scope.ts";
import type { Failure, Violation } from "../call/errors.ts";
import { inputFailure } from "../call/errors.ts";
import type { ItemError, ItemResult } from "../gen/records/ingest/v1/items_pb.ts";
import { mapInPieces } from "../large/pieces.ts";
import { violationsOf } from "../guards/validate.ts";
import type { Outcome, RecordName } from "../db/named.ts";
import { uuidForm } from "../text/uuid.ts";

/** Writes the valid items. Returns an outcome for each item, in order. */
export async function itemwise<Item>(
  { deadline }: Pick<WriteScope, "deadline">,
  items: readonly Item[],
  check: (item: Item) => readonly Violation[],
  write: (items: readonly Item[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  const wrong = await mapInPieces(items, deadline, check);
  const right = items.filter((_, at) => wrong[at]?.length === 0);
  const written = right.length === 0 ? [] : await write(right);
  let next = 0;
  return wrong.map((violations) =>
    violations.length === 0 ? (written[next++] as Outcome) : { failure: inputFailure(violations) },
  );
}

/**
 * Returns a function that checks items by the rules of their message. It removes empty optional texts, so that they are
 * stored as null.
 */
export function createItemValidator(schema: DescMessage): (item: Message) => readonly Violation[] {
  const texts = schema.fields.filter(
    ({ fieldKind, scalar, presence, name }) =>
      fieldKind === "scalar" &&
      scalar === ScalarType.STRING &&
      presence === FeatureSet_FieldPresence.EXPLICIT &&
      !isName(name),
  );
  return (item) => {
    const values = item as Message & Record<string, unknown>;
    for (const { localName } of texts) if (values[localName] === "") delete values[localName];
    return violationsOf(schema, item);
  };
}

/** Whether a field is an id or an external id. Those must not be empty. */
function isName(field: string): boolean {
  return /(?:^|_)id$/.test(field);
}

/** Returns the results of a batch, one for each item, in order. */
export function resultsOf(items: readonly RecordName[], outcomes: readonly Outcome[]): ItemResult[] {
  return items.map(({ id, externalId }, at) => {
    const outcome = outcomes[at];
    const named = externalId === undefined ? {} : { externalId };
    const base = { $typeName: "records.ingest.v1.ItemResult", ...named } as const;
    if (outcome === undefined || "id" in outcome) return { ...base, id: outcome?.id.toHexString() ?? "" };
    const sent = id ?? "";
    return { ...base, id: uuidForm.test(sent) ? sent.toLowerCase() : sent, error: itemErrorOf(outcome.failure) };
  });
}

/** Returns the error of an item that could not be written. */
export function itemErrorOf({ reason, message, contactId }: Failure): ItemError {
  return { $typeName: "records.ingest.v1.ItemError", reason, message, ...(contactId !== undefined && { contactId }) };
}
