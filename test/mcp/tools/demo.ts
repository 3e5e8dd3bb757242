// The demo's records in the account of a test, and what of them a test may look up.
import { fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../../../src/gen/records/ingest/v1/items_pb.ts";
import type { DemoRecords } from "../../../src/embedded/demo/records.ts";
import { demoRecords } from "../../../src/embedded/demo/records.ts";
import type { Holder } from "./set-up.ts";

const batch = 100;

/** Fills in what a user of the demo has today, and answers it. */
export async function fillDemo({ put }: Pick<Holder, "put">): Promise<DemoRecords> {
  const records = demoRecords("demo", new Date());
  await send("UpsertContacts", "contacts", ContactItemSchema, records.contacts);
  await send("UpsertSessions", "sessions", SessionItemSchema, records.sessions);
  await send("PutTranscripts", "transcripts", TranscriptItemSchema, records.transcripts);
  await send("UpsertContactNotes", "notes", ContactNoteItemSchema, records.contactNotes);
  await send("UpsertSessionNotes", "notes", SessionNoteItemSchema, records.sessionNotes);
  return records;

  async function send<D extends DescMessage>(
    rpc: string,
    name: string,
    schema: D,
    items: readonly MessageShape<D>[],
  ): Promise<void> {
    for (let at = 0; at < items.length; at += batch) {
      // By way of bytes: the demo's items are bare objects, which the JSON writer does not take.
      const part = items
        .slice(at, at + batch)
        .map((item) => toJson(schema, fromBinary(schema, toBinary(schema, item))));
      const failed = (await put.send(rpc, name, part)).find(({ error }) => error !== undefined);
      if (failed !== undefined) throw new Error(`${rpc}: ${JSON.stringify(failed)}`);
    }
  }
}
