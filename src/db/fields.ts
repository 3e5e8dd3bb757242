// Maps message fields to document fields by tables that do not compile if a field is missing.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { dateOf, timestamp } from "./message.ts";

type Meta = "$typeName" | "$unknown";
/** The names of a message's fields whose values have a type. */
type Named<M, Value> = {
  [Name in keyof M]-?: [Exclude<M[Name], undefined>] extends [Value] ? Name : never;
}[keyof M];

/**
 * A table of the document names of all text and time fields of a message. Other code handles the fields in `Own`. No
 * table satisfies the type if any other field is neither text nor time.
 */
export type FieldsOf<M, Own extends keyof M> = {
  readonly texts: { readonly [Name in Exclude<Named<M, string>, Own | Meta>]: string };
  readonly times: { readonly [Name in Exclude<Named<M, Timestamp>, Own | Meta>]: string };
} & ([Exclude<keyof M, Named<M, string> | Named<M, Timestamp> | Own | Meta>] extends [never] ? unknown : never);

type Table = Readonly<Record<string, string>>;
/** The document fields that a table names. */
export type Stored<Fields extends Table, Value> = { [Name in Fields[keyof Fields]]: Value };

/** The document names of text and time fields, which need no conversion of their own. */
export interface Tables {
  readonly texts: Table;
  readonly times: Table;
}
/** The document names of all fields in the tables. */
export type StoredName<T extends Tables> = T["texts"][keyof T["texts"]] | T["times"][keyof T["times"]];

/** Returns the projection of a document to these fields. */
export function projectionOf({ texts, times }: Tables): Readonly<Record<string, 1>> {
  return Object.fromEntries([...Object.values(texts), ...Object.values(times)].map((name) => [name, 1]));
}

/** Returns the text and time fields of a message that the document has. */
export function fieldsIn<Texts extends Table, Times extends Table>(
  { texts, times }: { readonly texts: Texts; readonly times: Times },
  document: { readonly [Name in Texts[keyof Texts]]?: string | null } & {
    readonly [Name in Times[keyof Times]]?: Date | null;
  },
): { [Name in keyof Texts]?: string } & { [Name in keyof Times]?: Timestamp } {
  const stored = document as Readonly<Record<string, unknown>>;
  const set: Record<string, unknown> = {};
  for (const name in texts) {
    const value = stored[texts[name] as string];
    if (value !== null && value !== undefined) set[name] = value;
  }
  for (const name in times) {
    const value = stored[times[name] as string];
    if (value !== null && value !== undefined) set[name] = timestamp(value as Date);
  }
  return set as { [Name in keyof Texts]?: string } & { [Name in keyof Times]?: Timestamp };
}

/** Returns the document's text fields for a message. Unset fields are null. */
export function storedTexts<Fields extends Table>(
  fields: Fields,
  message: { readonly [Name in keyof Fields]?: string | undefined },
): Stored<Fields, string | null> {
  const stored: Record<string, string | null> = {};
  for (const name in fields) stored[fields[name] as string] = message[name] ?? null;
  return stored as Stored<Fields, string | null>;
}

/** Returns the document's time fields for a message. Unset fields are null. */
export function storedTimes<Fields extends Table>(
  fields: Fields,
  message: { readonly [Name in keyof Fields]?: Timestamp | undefined },
): Stored<Fields, Date | null> {
  const stored: Record<string, Date | null> = {};
  for (const name in fields) stored[fields[name] as string] = dateOf(message[name]) ?? null;
  return stored as Stored<Fields, Date | null>;
}
