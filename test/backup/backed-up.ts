// The stored documents of an account with everything that a backup can have, and restores of them under new ids.
import { randomUUID } from "node:crypto";
import type { Document } from "mongodb";
import { BSON, Binary, UUID } from "mongodb";
import { displayPrefix, hashSecret, newSecret } from "../../src/api-keys/secret.ts";
import type { RestResponse, TestService } from "../fixtures/service/service.ts";
import type { Client } from "../support/client.ts";
import { newClient } from "../support/client.ts";

/** The collections of an account, in the order of a backup. */
export const ofAccounts = [
  ...["imports", "contacts", "sessions", "transcripts", "notes", "audit_log", "api_keys", "accounts"],
] as const;

/** A stored document with the name of its collection. Its numbers keep their BSON types. */
export type Stored = readonly [collection: string, document: Document];

export const issuer = "https://id.example.com";

/** Creates an account with every kind of document. */
export async function fillAccount(service: TestService): Promise<Client> {
  const client = await newClient(service);
  const { put } = client;
  const contact_id = await put.contact({ full_name: "Ann Lee", email: "Ann@example.org", external_id: "a-1" });
  const session_id = await put.session({ title: "Walk", contact_id, session_date: "0001-01-01T00:00:00Z" });
  await put.session({ title: "Undated" });
  const recording = { id: randomUUID(), duration_seconds: 1.5, recording_started_at: "9999-12-31T23:59:59.999Z" };
  await put.transcripts({ session_id, transcript: "Ann: hello", recording });
  await put.contactNotes({ contact_id, content: "Likes tea", source: "manual" });
  const type = "SESSION_NOTE_TYPE_AI_PREDEFINED";
  await put.sessionNotes({ session_id, title: "Decisions", content: "Friday", position: 0, type, external_id: "n-1" });
  await service.internalCall("records.admin.v1.AccountService/LinkIdentity", {
    account_id: client.id,
    issuer,
    subject: client.id,
  });
  const account_id = UUID.createFromHexString(client.id);
  await service.app.client
    .db()
    .collection("imports")
    .insertOne({
      _id: { account_id, import_id: "monday" } as never,
      account_id,
      position: 7,
      written: { contacts: 7, sessions: 0, transcripts: 0, session_notes: 0, contact_notes: 0 },
      rejected: 0,
      contact_changes: { created: 7, updated: 0, unchanged: 0 },
      changed_at: new Date(),
    });
  return client;
}

/** Returns everything that is stored for an account, in the order of a backup. */
export async function storedOf(service: TestService, accountId: string): Promise<Stored[]> {
  const db = service.app.client.db();
  const id = UUID.createFromHexString(accountId);
  const found = await Promise.all(
    ofAccounts.map(async (name) =>
      (
        await db
          .collection(name)
          .find({ [name === "accounts" ? "_id" : "account_id"]: id }, { promoteValues: false, sort: { _id: 1 } })
          .toArray()
      ).map((document) => [name, document] as const),
    ),
  );
  return found.flat();
}

/** Documents of an account that does not exist yet. */
export interface Renamed {
  readonly id: string;
  readonly key: string;
  readonly documents: Stored[];
}

/** Returns the documents under new ids, with a new email, identity and API key. References stay consistent. */
export function renamed(stored: readonly Stored[]): Renamed {
  const ids = new Map<string, Binary>();
  const rename = (value: unknown): unknown => {
    if (value instanceof Binary && value.sub_type === Binary.SUBTYPE_UUID) {
      const name = value.toString("hex");
      const id = ids.get(name) ?? new UUID();
      ids.set(name, id);
      return id;
    }
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rename(inner)]));
  };
  const key = newSecret();
  const documents = stored.map(([collection, document]): Stored => {
    const own = rename(document) as Document;
    if (collection === "api_keys") return [collection, { ...own, _id: hashSecret(key), prefix: displayPrefix(key) }];
    if (collection !== "accounts") return [collection, own];
    const email = `${randomUUID()}@Example.com`;
    const identities = [{ issuer, subject: email }];
    return [collection, { ...own, email, email_key: email.toLowerCase(), identities }];
  });
  const account = documents.at(-1)?.[1]["_id"] as UUID;
  return { id: account.toHexString(), key, documents };
}

/** The BSON of a document. The library takes `_bsontype` for a mark of its own types, so `~bsontype` stands for it. */
function bsonOf(document: Document): Buffer {
  return Buffer.from(
    Buffer.from(BSON.serialize(document)).toString("latin1").replaceAll("~bsontype", "_bsontype"),
    "latin1",
  );
}

/** Restores documents in one call, or checks them. Without an id, they are those of the service. */
export function restore(
  service: TestService,
  accountId: string,
  documents: readonly Stored[],
  { backup = randomUUID(), checkOnly = false }: { readonly backup?: string; readonly checkOnly?: boolean } = {},
): Promise<RestResponse> {
  return service.internalCall("records.admin.v1.BackupService/RestoreDocuments", {
    backup_id: backup,
    account_id: accountId,
    documents: documents.map(([collection, document]) => ({
      collection,
      bson: bsonOf(document).toString("base64"),
    })),
    check_only: checkOnly,
  });
}
