// Makes protobuf's JSON reader accept REST's enum names too: `user_manual` and `SESSION_NOTE_TYPE_USER_MANUAL`.
import type { DescEnum, DescEnumValue, DescMessage } from "@bufbuild/protobuf";

const known = new Set<DescMessage | DescEnum>();

/**
 * Adds the short names to the enums of a message and of its nested messages, for reading only. Output keeps protobuf's
 * own name, which is the first of each number. Call this before the library first decodes the message, because that is
 * when it reads the names.
 */
export function acceptShortEnumNames(message: DescMessage): void {
  if (known.has(message)) return;
  known.add(message);
  for (const field of message.fields) {
    if (field.enum !== undefined) addShortNames(field.enum);
    if (field.message !== undefined) acceptShortEnumNames(field.message);
  }
}

function addShortNames(names: DescEnum): void {
  const { sharedPrefix, values } = names;
  if (sharedPrefix === undefined || known.has(names)) return;
  known.add(names);
  const short = values
    .filter(({ number }) => number !== 0)
    .map((value) => {
      const name = value.name.toLowerCase().slice(sharedPrefix.length);
      return { ...value, name, jsonName: name };
    });
  (values as DescEnumValue[]).push(...short);
}
