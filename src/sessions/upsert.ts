// Upserts of sessions: creates and replaces them in batches.
import type { MongoClient, UUID } from "mongodb";
import { termsOfBatch } from "../db/batch-terms.ts";
import { collections } from "../db/collections.ts";
import { newRevision } from "../db/conflicts.ts";
import { projectionOf, storedTexts, storedTimes } from "../db/fields.ts";
import type { KnownRecord, LockNamed, Outcome, RecordName } from "../db/named.ts";
import { identityOf, parentOf } from "../db/named.ts";
import { putBatch } from "../db/put-batch.ts";
import type { WriteOptions } from "../db/write.ts";
import type { SessionItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import type { SessionClientNames, SessionDocument } from "./document.ts";
import { sessionFields } from "./document.ts";
import { deriveSession, ownTerms } from "./store.ts";
import type { TranscriptStore } from "./transcripts.ts";

/**
 * Creates or replaces sessions. An item fails with NOT_FOUND if the account has no such contact. All fail with
 * INVALID_REQUEST if several items together have more than `maxTerms` search terms.
 */
export type UpsertSessions = (
  scope: WriteScope,
  items: readonly SessionItem[],
  maxTerms?: number,
) => Promise<Outcome[]>;

type Client = KnownRecord & SessionClientNames;

/**
 * Creates the upserts of a database's sessions. The transaction locks their contacts, and copies new titles into their
 * notes, and new ranks into their transcripts.
 */
export function createSessionUpserts(
  client: MongoClient,
  lockContacts: LockNamed<Client>,
  relabelNotes: (scope: WriteScope, sessionId: UUID, title: string | null, options: WriteOptions) => Promise<void>,
  moveTranscript: TranscriptStore["move"],
): UpsertSessions {
  const sessions = client.db().collection<SessionDocument>(collections.sessions);
  const clientOf = ({ contactId: id, contactExternalId: externalId }: SessionItem): RecordName => ({ id, externalId });
  return async (scope, items, maxTerms) => {
    const found = await termsOfBatch(scope, items, maxTerms, ownTerms);
    return putBatch(client, scope, sessions, {
      names: items,
      find: { fields: { contact_id: 1, rank: 1, ...projectionOf(sessionFields) } },
      async prepare(session) {
        const clients = await lockContacts(scope, items.map(clientOf), session);
        return (at, before) => {
          const item = items[at] as SessionItem;
          const named = clientOf(item);
          const contact =
            (named.id ?? named.externalId) === undefined ? undefined : parentOf("contact", named, clients);
          return deriveSession(sessionDocument(scope, item, before, contact), found[at]);
        };
      },
      async finish(changed, options) {
        for (const { before, record } of changed) {
          if (before === undefined) continue;
          if (before.title !== record.title) await relabelNotes(scope, record._id, record.title, options);
          if (before.rank !== record.rank) await moveTranscript(scope, record._id, record.rank, options);
        }
      },
    });
  };
}

function sessionDocument(
  scope: WriteScope,
  item: SessionItem,
  before: SessionDocument | undefined,
  contact: Client | undefined,
): Parameters<typeof deriveSession>[0] {
  const now = new Date();
  const times = storedTimes(sessionFields.times, item);
  const session = {
    ...identityOf(scope, item, before),
    version: newRevision(),
    contact_id: contact?._id ?? null,
    client:
      contact === undefined
        ? null
        : { full_name: contact.full_name, inferred_name: contact.inferred_name, email: contact.email },
    ...storedTexts(sessionFields.texts, item),
    ...times,
    created_at: times.created_at ?? before?.created_at ?? now,
  };
  const unchangedSince = before !== undefined && isUnchanged(session, before) ? before.updated_at : now;
  return { ...session, updated_at: times.updated_at ?? unchangedSince };
}

const compared = [...Object.keys(projectionOf(sessionFields)), "external_id", "contact_id"] as const;

/** Whether a session that is written again has the same values, apart from when it was changed. */
function isUnchanged(session: object, before: object): boolean {
  const [values, earlier] = [valuesOf(session), valuesOf(before)];
  return compared.every((name) => name === "updated_at" || values.get(name) === earlier.get(name));
}

function valuesOf(session: object): ReadonlyMap<string, string | number> {
  return new Map(
    Object.entries(session).flatMap(([name, value]: [string, unknown]) =>
      value === null || value === undefined ? [] : [[name, value instanceof Date ? value.getTime() : String(value)]],
    ),
  );
}
