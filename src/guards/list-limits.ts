// Limits of lists in requests: a list that is too long is one violation, and nothing reads its items.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Violation } from "../call/errors.ts";
import { perMessage } from "./per-message.ts";

/** The lists of a message that are too long, and the message without their items. */
export interface LimitedLists {
  readonly violations: readonly Violation[];
  readonly message: Message;
}

type Values = Message & Record<string, unknown>;

/**
 * Returns a violation for each list with more items than its rules allow. 256 KiB can hold 130,000 items. To check
 * them all takes a second of processor time, in which no other request runs.
 */
export function limitLists(schema: DescMessage, message: Message): LimitedLists {
  const values = message as Values;
  const long = lists(schema).filter(
    ({ field, max }) => max !== undefined && (values[field.localName] as readonly unknown[]).length > max,
  );
  if (long.length === 0) return { violations: [], message };
  const violations = long.map(({ field, max }) => {
    const message = `must contain at most ${max} items`;
    return { field: field.name, rule: "repeated.max_items", message };
  });
  const empty = Object.fromEntries(long.map(({ field }) => [field.localName, []]));
  return { violations, message: { ...message, ...empty } };
}

/** Returns a copy of the message with only as many items in each list as the rules of the list need, all empty. */
export function withoutItems(schema: DescMessage, message: Message): Message {
  const values = { ...message } as Values;
  for (const { field, min } of lists(schema)) {
    const length = Math.min((values[field.localName] as readonly unknown[]).length, min);
    const item = field.message === undefined ? "" : reflect(field.message).message;
    values[field.localName] = new Array<unknown>(length).fill(item);
  }
  return values;
}

/** The lists of a message, and the limits of their rules. Without a minimum it is 1: a required list needs an item. */
const lists = perMessage((schema) =>
  schema.fields.flatMap((field) => {
    if (field.fieldKind !== "list") return [];
    const { type } = getOption(field, fieldRules);
    const { minItems = 0n, maxItems = 0n } = type.case === "repeated" ? type.value : {};
    return [{ field, min: Math.max(1, Number(minItems)), max: maxItems > 0n ? Number(maxItems) : undefined }];
  }),
);
