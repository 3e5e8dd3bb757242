// Recipes for the operations of records.ingest.v1, over Connect with JSON, and over gRPC for streams.
import { create, fromJson } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { ImportRequestSchema, RecordSchema } from "../../../src/gen/records/ingest/v1/import_pb.ts";
import type { Lane } from "./lane.ts";
import type { Recipe } from "./recipe.ts";
import { call, count, drained, fresh } from "./recipe.ts";

const ingest = "records.ingest.v1.IngestService";

/** An idempotent write of one item with an external id. */
function item(rpc: string, batch: string, collection: string, fields: (lane: Lane) => Record<string, unknown>): Recipe {
  return {
    operation: `${ingest}/${rpc}`,
    prepare(lane) {
      const external_id = fresh();
      const message = { account_id: lane.account.id, [batch]: [{ external_id, ...fields(lane) }] };
      return Promise.resolve({
        send: () => call(lane, `${ingest}/${rpc}`, message),
        effects: () => count(lane, collection, { external_id }),
        repeatable: true,
      });
    },
  };
}

function archiving(rpc: string, before: "active" | "archived"): Recipe {
  return {
    operation: `${ingest}/${rpc}`,
    async prepare(lane) {
      const id = await lane.put.contact({ full_name: fresh() });
      if (before === "archived") await lane.put.archive(id);
      const after = before === "active" ? { $ne: null } : null;
      return {
        send: () => call(lane, `${ingest}/${rpc}`, { account_id: lane.account.id, contact_ids: [id] }),
        effects: () => count(lane, "contacts", { _id: UUID.createFromHexString(id), archived_at: after }),
        repeatable: true,
      };
    },
  };
}

async function* importOf(accountId: string, externalId: string) {
  yield create(ImportRequestSchema, { accountId, importId: externalId, position: 0n });
  const record = (json: JsonObject) => fromJson(RecordSchema, json);
  yield create(ImportRequestSchema, {
    records: [
      record({ contact: { external_id: externalId, full_name: "Bo" } }),
      record({ session: { external_id: externalId, contact_external_id: externalId, title: "Plan" } }),
      record({
        contact_note: { external_id: externalId, contact_external_id: externalId, content: "Hello", source: "import" },
      }),
    ],
  });
}

const noteOfSession = { content: "Summary", type: "SESSION_NOTE_TYPE_AI_PREDEFINED" };

export const ingestRecipes: readonly Recipe[] = [
  item("UpsertContacts", "contacts", "contacts", () => ({ full_name: "Bo" })),
  item("UpsertSessions", "sessions", "sessions", ({ contact }) => ({ contact_id: contact, title: "Plan" })),
  item("UpsertSessionNotes", "notes", "notes", ({ session }) => ({ session_id: session, ...noteOfSession })),
  item("UpsertContactNotes", "notes", "notes", ({ contact }) => ({
    contact_id: contact,
    content: "Hello",
    source: "import",
  })),
  {
    operation: `${ingest}/PutTranscripts`,
    async prepare(lane) {
      const id = await lane.put.session({ title: fresh() });
      const message = { account_id: lane.account.id, transcripts: [{ session_id: id, transcript: "Bo: hello" }] };
      return {
        send: () => call(lane, `${ingest}/PutTranscripts`, message),
        effects: () => count(lane, "transcripts", { _id: UUID.createFromHexString(id) }),
        repeatable: true,
      };
    },
  },
  archiving("ArchiveContacts", "active"),
  archiving("RestoreContacts", "archived"),
  {
    operation: `${ingest}/DeleteRecords`,
    async prepare(lane) {
      const id = await lane.put.contact({ full_name: fresh() });
      return {
        send: () => call(lane, `${ingest}/DeleteRecords`, { account_id: lane.account.id, contact_ids: [id] }),
        effects: async () => 1 - (await count(lane, "contacts", { _id: UUID.createFromHexString(id) })),
      };
    },
  },
  {
    operation: `${ingest}/Import`,
    streams: true,
    prepare(lane) {
      const external_id = fresh();
      return Promise.resolve({
        send: () => drained(lane.streams.import(importOf(lane.account.id, external_id))),
        effects: () => count(lane, "notes", { external_id }),
        repeatable: true,
      });
    },
  },
  {
    operation: `${ingest}/Export`,
    streams: true,
    // Not the account of the trials, which grows.
    prepare: (lane) =>
      Promise.resolve({ send: () => drained(lane.streams.export({ accountId: lane.seen.accountId })) }),
  },
];
