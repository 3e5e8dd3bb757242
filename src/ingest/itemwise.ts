// A batch whose items are each right or wrong by themselves: the right ones are written, the wrong ones are reported
// why.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { WriteScope } from "../call/scope.ts";
import type { Violation } from "../errors.ts";
import { Failure } from "../errors.ts";
import type { ItemResult } from "../gen/records/ingest/v1/items_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { mapInPieces } from "../large/pieces.ts";
import { violationsOf } from "../guards/validate.ts";
import type { Outcome, RecordName } from "../db/named.ts";

/** Writes the valid items, and returns one result for each item, in their order. */
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
    violations.length === 0 ? (written[next++] as Outcome) : { failure: invalid(violations) },
  );
}

/** Checks an item by the rules of its message. Removes empty optional texts, so that they are stored as null. */
export function byRulesOf(schema: DescMessage): (item: Message) => readonly Violation[] {
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

/** Ids and external ids name a record: an empty one is invalid. */
function isName(field: string): boolean {
  return /(?:^|_)id$/.test(field);
}

function invalid(violations: readonly Violation[]): Failure {
  const message = violations.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
  return new Failure(Reason.INVALID_REQUEST, { message, violations });
}

/** The results of a batch, one for each item, in the same order. */
export function resultsOf(items: readonly RecordName[], outcomes: readonly Outcome[]): ItemResult[] {
  return items.map(({ id, externalId }, at) => {
    const outcome = outcomes[at];
    const named = externalId === undefined ? {} : { externalId };
    const base = { $typeName: "records.ingest.v1.ItemResult", ...named } as const;
    if (outcome === undefined || "id" in outcome) return { ...base, id: outcome?.id.toHexString() ?? "" };
    const { reason, message } = outcome.failure;
    return { ...base, id: id ?? "", error: { $typeName: "records.ingest.v1.ItemError", reason, message } };
  });
}
