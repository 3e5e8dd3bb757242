// The contents of each collection in a backup: the types of its fields, what its readers make of a document, and what
// the document takes in the database.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Binary, Document } from "mongodb";
import { accountMessage } from "../accounts/service.ts";
import type { AccountDocument, IdentityDocument } from "../accounts/store.ts";
import { emailKey, identitiesOf } from "../accounts/store.ts";
import { apiKeyMessage } from "../api-keys/service.ts";
import type { ApiKeyDocument } from "../api-keys/store.ts";
import { entryMessage } from "../audit/service.ts";
import type { AuditDocument } from "../audit/store.ts";
import { collections } from "../db/collections.ts";
import { AccountSchema } from "../gen/records/admin/v1/accounts_pb.ts";
import { SwitchChangeSchema } from "../gen/records/admin/v1/interface_pb.ts";
import { ApiKeySchema } from "../gen/records/v1/api_keys_pb.ts";
import { AuditEntrySchema } from "../gen/records/v1/audit_pb.ts";
import type { ImportDocument } from "../ingest/progress-store.ts";
import { progressOf } from "../ingest/progress-store.ts";
import { openRejections } from "../ingest/rejections.ts";
import { laterThanOf } from "../sign-in/ended-store.ts";
import type { SessionEndDocument } from "../sign-in/ended-store.ts";
import { changeMessage } from "../switches/service.ts";
import type { SwitchChangeDocument } from "../switches/store.ts";
import type { Shape } from "./shapes.ts";
import {
  aCount,
  aFlag,
  aHash,
  aNull,
  aNumber,
  aText,
  aPastTime,
  aTime,
  anId,
  anObjectId,
  anyOf,
  documentOf,
  listOf,
  oneOf,
  optional,
  someBytes,
  unset,
} from "./shapes.ts";

/** The maximum size of a document in MongoDB. */
export const maxDocumentBytes = 16 * 2 ** 20;

/** The messages that together have every field of a document that a read returns. */
type Messages = readonly (readonly [DescMessage, Message])[];

/** A document that a document names, and that must not belong to another account. */
export interface Reference {
  readonly collection: string;
  /** The field with the id; `_id` by default. */
  readonly field?: string;
  readonly id: Binary;
}

/** What restores know of the documents of a collection. */
export interface Contents<T extends object> {
  readonly shape: Shape<T>;
  /** Maps a document by the functions of its readers. Fails if they fail. */
  reads(document: T): Messages | Promise<Messages>;
  /** Returns what is wrong with the document as a whole; undefined if nothing is. */
  problem?(document: T): string | undefined;
  readonly references?: (document: T) => readonly Reference[];
  /** The maximum size in bytes of a document that the service stores; 2 MiB by default. */
  readonly maxBytes?: number;
  /** Returns the values of its unique indexes within the collection, other than `_id`. */
  readonly unique?: (document: T) => readonly (readonly unknown[])[];
}

/** Contents of documents whose type only the collection's own functions know. */
export type AnyContents = Contents<Document>;

export function contents<T extends object>(own: Contents<T>): AnyContents {
  return own as unknown as AnyContents;
}

const identityShape: Shape<IdentityDocument> = { issuer: aText, subject: aText };

export const accountContents = contents<AccountDocument>({
  shape: {
    _id: anId,
    email: aText,
    email_key: aText,
    beta_enrolled: aFlag,
    created_at: aTime,
    identities: optional(listOf(documentOf(identityShape), 1)),
    suspension: optional(documentOf({ at: aTime, reason: aText, token: aText })),
    key_changes: optional(aNumber),
  },
  reads: (account) => [[AccountSchema, accountMessage(account)]],
  problem: ({ email, email_key }) =>
    email_key === emailKey(email) ? undefined : "email_key must be the email in lower case",
  unique: (account) => [
    ["email_key", account.email_key],
    ...identitiesOf(account).map(({ issuer, subject }) => ["identity", issuer, subject]),
  ],
});

export const apiKeyContents = contents<ApiKeyDocument>({
  shape: {
    _id: aHash,
    key_id: anId,
    account_id: anId,
    prefix: aText,
    access: oneOf("read_write", "read_only"),
    created_at: aTime,
    last_used_at: optional(aTime),
    active: optional(oneOf(true)),
    revoked_at: optional(aTime),
    suspended: optional(oneOf(true)),
  },
  reads: (key) => [[ApiKeySchema, apiKeyMessage(key)]],
  problem: ({ active, revoked_at }) =>
    (active === true) === (revoked_at === undefined) ? undefined : "a key must be either active or revoked",
  // An operator revokes a key by this id, which must therefore name one key.
  references: ({ key_id }) => [{ collection: collections.apiKeys, field: "key_id", id: key_id }],
  unique: ({ active, account_id, key_id }) => [
    ["key_id", key_id],
    ...(active === true ? [["active", account_id]] : []),
  ],
});

export const auditContents = contents<AuditDocument>({
  shape: {
    _id: anId,
    account_id: anId,
    created_at: aTime,
    event: aText,
    detail: unset(aText),
    key_prefix: unset(aText),
    person: unset(aText),
    request_id: aText,
    address: aText,
  },
  reads: (entry) => [[AuditEntrySchema, entryMessage(entry)]],
});

export const importContents = contents<ImportDocument>({
  // With the rejections that were not acknowledged.
  maxBytes: maxDocumentBytes,
  shape: {
    _id: documentOf({ account_id: anId, import_id: aText }, true),
    account_id: anId,
    position: aCount,
    written: documentOf({
      contacts: aCount,
      sessions: aCount,
      transcripts: aCount,
      session_notes: aCount,
      contact_notes: aCount,
    }),
    rejected: aCount,
    contact_changes: optional(documentOf({ created: aCount, updated: aCount, unchanged: aCount })),
    unacknowledged: optional(someBytes),
    finished: optional(aFlag),
    changed_at: aTime,
  },
  async reads(document) {
    await openRejections(progressOf(document).unacknowledged);
    return [];
  },
  problem: ({ _id, account_id }) =>
    _id.account_id.equals(account_id) ? undefined : "_id.account_id must be the account of the import",
});

export const endedContents = contents<SessionEndDocument>({
  shape: {
    _id: anyOf(
      "a user, a session, or a user without a session",
      documentOf({ issuer: aText, subject: aText }, true),
      documentOf({ issuer: aText, sid: aText }, true),
      documentOf({ issuer: aText, subject: aText, sid: aNull }, true),
    ),
    // One in the future would lock its owner out until then.
    ended_at: aPastTime,
    later_than: optional(aPastTime),
  },
  reads(end) {
    if (laterThanOf(end) === Infinity) throw new TypeError("the end has no time");
    return [];
  },
});

export const switchChangeContents = contents<SwitchChangeDocument>({
  shape: {
    _id: anObjectId,
    switch: oneOf("publicInterface", "writes"),
    enabled: aFlag,
    reason: aText,
    changed_at: aTime,
    address: aText,
    token: aText,
    request_id: aText,
  },
  reads: (change) => [[SwitchChangeSchema, changeMessage(change)]],
});

/** Returns the reference to a record. */
export function referenceTo(kind: "contact" | "session", id: Binary): Reference {
  return { collection: kind === "contact" ? collections.contacts : collections.sessions, id };
}
