// Maps the fields of messages to those of documents by tables, which do not compile where a field is missing.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { dateOf, timestamp } from "./message.ts";

type Meta = "$typeName" | "$unknown";
/** The fields of a message whose values are of a type. */
type Named<M, Value> = {
  [Name in keyof M]-?: [Exclude<M[Name], undefined>] extends [Value] ? Name : never;
}[keyof M];

/**
 * A table of all fields of a message but those in `Own`, which have code of their own: the name of each text and of
 * each time in the document. Nothing satisfies it where a field is neither.
 */
export type FieldsOf<M, Own extends keyof M> = {
  readonly texts: { readonly [Name in Exclude<Named<M, string>, Own | Meta>]: string };
  readonly times: { readonly [Name in Exclude<Named<M, Timestamp>, Own | Meta>]: string };
} & ([Exclude<keyof M, Named<M, string> | Named<M, Timestamp> | Own | Meta>] extends [never] ? unknown : never);

type Table = Readonly<Record<string, string>>;
/** The fields of a document that a table names. */
export type Stored<Fields extends Table, Value> = { [Name in Fields[keyof Fields]]: Value };

/** The fields of a message that a document has as they are. */
export interface Tables {
  readonly texts: Table;
  readonly times: Table;
}
/** The names in a document of all fields of the tables. */
export type StoredName<T extends Tables> = T["texts"][keyof T["texts"]] | T["times"][keyof T["times"]];

/** The projection of a document to these fields. */
export function projectionOf({ texts, times }: Tables): Readonly<Record<string, 1>> {
  return Object.fromEntries([...Object.values(texts), ...Object.values(times)].map((name) => [name, 1]));
}

/** The texts of a document that are set, for a message. */
export function textsOf<Fields extends Table>(
  fields: Fields,
  document: { readonly [Name in Fields[keyof Fields]]?: string | null },
): { [Name in keyof Fields]?: string } {
  const set: Record<string, string> = {};
  for (const name in fields) {
    const value = document[fields[name] as Fields[keyof Fields]];
    if (value !== null && value !== undefined) set[name] = value;
  }
  return set as { [Name in keyof Fields]?: string };
}

/** The times of a document that are set, for a message. */
export function timesOf<Fields extends Table>(
  fields: Fields,
  document: { readonly [Name in Fields[keyof Fields]]?: Date | null },
): { [Name in keyof Fields]?: Timestamp } {
  const set: Record<string, Timestamp> = {};
  for (const name in fields) {
    const value = document[fields[name] as Fields[keyof Fields]];
    if (value !== null && value !== undefined) set[name] = timestamp(value);
  }
  return set as { [Name in keyof Fields]?: Timestamp };
}

/** The texts of a message, for a document: null for what is unset. */
export function storedTexts<Fields extends Table>(
  fields: Fields,
  message: { readonly [Name in keyof Fields]?: string | undefined },
): Stored<Fields, string | null> {
  const stored: Record<string, string | null> = {};
  for (const name in fields) stored[fields[name] as string] = message[name] ?? null;
  return stored as Stored<Fields, string | null>;
}

/** The times of a message, for a document: null for what is unset. */
export function storedTimes<Fields extends Table>(
  fields: Fields,
  message: { readonly [Name in keyof Fields]?: Timestamp | undefined },
): Stored<Fields, Date | null> {
  const stored: Record<string, Date | null> = {};
  for (const name in fields) stored[fields[name] as string] = dateOf(message[name]) ?? null;
  return stored as Stored<Fields, Date | null>;
}
