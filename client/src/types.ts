// The client's types, derived from the generated schema.
import type { components, operations, paths } from "./schema.ts";

/**
 * Opens every enum of a type. The service may add values within a version, so a program that switches over an enum
 * needs a default. Editors still suggest the known values.
 */
export type Open<T> = T extends string
  ? string extends T
    ? T
    : T | (string & {})
  : T extends readonly (infer Item)[]
    ? Open<Item>[]
    : T extends object
      ? { [Name in keyof T]: Open<T[Name]> }
      : T;

type Schemas = components["schemas"];

export type Contact = Open<Schemas["Contact"]>;
export type ContactTimelineNote = Open<Schemas["ContactTimelineNote"]>;
export type ContactRecentSession = Open<Schemas["ContactRecentSession"]>;
export type SessionSummary = Open<Schemas["SessionSummary"]>;
/**
 * The name of `google_doc_url` contains the deployment's document provider. With another provider, read the field by
 * that provider's name.
 */
export type SessionDetail = Open<Schemas["SessionDetail"]> & { readonly [name: `${string}_doc_url`]: string | null };
export type SessionNote = Open<Schemas["SessionNote"]>;
export type Transcript = Open<Schemas["Transcript"]>;
export type NoteSearchResult = Open<Schemas["NoteSearchResult"]>;
export type Health = Open<Schemas["Health"]>;
export type Pagination = Schemas["Pagination"];
/** An invalid part of a request. */
export type ErrorDetail = Schemas["ErrorDetail"];

export type NewContact = Schemas["CreateContactRequest"];
export type ContactChanges = Schemas["UpdateContactRequest"];
export type NewNote = Schemas["AppendContactNoteRequest"];
export type ContactQuery = Query<operations["searchContacts"]>;
export type SessionQuery = Query<operations["listSessions"]>;
export type NoteQuery = Query<operations["searchNotes"]>;

/** A page of a list. */
export interface Page<Item> {
  readonly data: Item[];
  readonly pagination: Pagination;
}

export type Path = keyof paths;
/** The methods that a path supports. */
export type MethodOf<P extends Path> = {
  [M in "get" | "post" | "patch"]: paths[P][M] extends { responses: object } ? M : never;
}["get" | "post" | "patch"];
export type OperationOf<P extends Path, M extends MethodOf<P>> = paths[P][M];

type Json<Content> = Content extends { content: { "application/json": infer Value } } ? Value : never;
export type Query<Operation> = Operation extends { parameters: { query?: infer Value } } ? NonNullable<Value> : never;
type PathParameters<Operation> = Operation extends { parameters: { path?: infer Value } } ? NonNullable<Value> : never;
type Body<Operation> = Operation extends { requestBody?: infer Value } ? Json<NonNullable<Value>> : never;

/** The parameters and body of an operation's request. */
export interface Input<Operation> {
  readonly path?: PathParameters<Operation>;
  readonly query?: Query<Operation>;
  readonly body?: Body<Operation>;
}

/** The body of an operation's successful response. */
export type ResponseBody<Operation> = Operation extends { responses: infer Responses }
  ? Open<Json<Responses[keyof Responses & (200 | 201)]>>
  : never;
