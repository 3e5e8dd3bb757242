// Records for tests, written as the services inside write them: through the ingest rpcs of the internal listener.
import type { TestService } from "./service.ts";

/** An item in protobuf's JSON, with the fields' own names. */
export type Item = Readonly<Record<string, unknown>>;

/** What became of an item, as the rpc answers. */
export interface Result {
  readonly id: string;
  readonly externalId?: string;
  readonly error?: { readonly reason: string; readonly message: string };
}

/** Writes into one account. All but `send` fail when an item does, and answer the ids in the order of the items. */
export interface Ingest {
  contacts(...items: Item[]): Promise<string[]>;
  contact(item: Item): Promise<string>;
  sessions(...items: Item[]): Promise<string[]>;
  session(item: Item): Promise<string>;
  transcript(item: Item): Promise<string>;
  sessionNotes(...items: Item[]): Promise<string[]>;
  contactNotes(...items: Item[]): Promise<string[]>;
  archive(...ids: string[]): Promise<string[]>;
  restore(...ids: string[]): Promise<string[]>;
  /** The results, good or bad. */
  send(rpc: string, batch: string, items: readonly unknown[]): Promise<Result[]>;
}

/** Writes into this account of the service. */
export function ingestInto(service: Pick<TestService, "internalCall">, accountId: string): Ingest {
  async function send(rpc: string, batch: string, items: readonly unknown[]): Promise<Result[]> {
    const { status, text, body } = await service.internalCall(`records.ingest.v1.IngestService/${rpc}`, {
      account_id: accountId,
      [batch]: items,
    });
    if (status !== 200) throw new Error(`${rpc}: ${status} ${text}`);
    return body.results as Result[];
  }
  async function write(rpc: string, batch: string, items: readonly unknown[]): Promise<string[]> {
    const results = await send(rpc, batch, items);
    const failed = results.find(({ error }) => error !== undefined);
    if (failed !== undefined) throw new Error(`${rpc}: ${JSON.stringify(failed)}`);
    return results.map(({ id }) => id);
  }
  const one = ([id]: string[]): string => id ?? "";
  const contacts = (...items: Item[]): Promise<string[]> => write("UpsertContacts", "contacts", items);
  const sessions = (...items: Item[]): Promise<string[]> => write("UpsertSessions", "sessions", items);
  return {
    contacts,
    contact: async (item) => one(await contacts(item)),
    sessions,
    session: async (item) => one(await sessions(item)),
    transcript: async (item) => one(await write("PutTranscripts", "transcripts", [item])),
    sessionNotes: (...items) => write("UpsertSessionNotes", "notes", items),
    contactNotes: (...items) => write("UpsertContactNotes", "notes", items),
    archive: (...ids) => write("ArchiveContacts", "contact_ids", ids),
    restore: (...ids) => write("RestoreContacts", "contact_ids", ids),
    send,
  };
}
