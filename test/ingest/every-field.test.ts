// No field is lost: every field of every record is written, read on every wire, exported, erased and imported again.
import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import {
  ContactSchema,
  CreateContactRequestSchema,
  UpdateContactRequestSchema,
} from "../../src/gen/records/v1/contacts_pb.ts";
import { SessionDetailSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import { everyRecord, filled, recordIds } from "../fixtures/records/every-field.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { RecordJson } from "../support/streams.ts";
import { exportAll, importAll } from "../support/streams.ts";
import type { Rpc } from "../fixtures/clients/wires.ts";
import { openWires } from "../fixtures/clients/wires.ts";

let service: TestService;
let wires: ReturnType<typeof openWires>;
beforeAll(async () => {
  service = await startService();
  wires = openWires(service);
});
afterAll(async () => {
  wires.close();
  await service.stop();
});

const ids = recordIds();

const keyed = (all: readonly RecordJson[]): Record<string, unknown> =>
  Object.fromEntries(all.map((record) => [Object.keys(record)[0] ?? "", Object.values(record)[0]]));

async function shown(key: string, rpc: Rpc, request: JsonObject): Promise<Record<string, unknown>> {
  const outcomes = await Promise.all(wires.wires.map((wire) => wire.call({ rpc, key, request })));
  for (const { body } of outcomes) expect(body).toEqual(outcomes[0]?.body);
  return (outcomes[0]?.body as { data: Record<string, unknown> }).data;
}

/** The fields that a record has in common with a message that shows it. */
function common(record: unknown, { fields }: DescMessage): Record<string, unknown> {
  const names = new Set(fields.map(({ name }) => name));
  const entries = Object.entries(record as Record<string, unknown>).filter(([name]) => names.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, inMilliseconds(value)]));
}

const inMilliseconds = (value: unknown): unknown =>
  typeof value === "string" && /^\d{4}-.*Z$/.test(value) ? new Date(value).toISOString() : value;

test("every field of every record is stored by ingest, shown on every wire, exported, and restored by an import after an erasure", async () => {
  const { id: accountId, key } = await service.account();
  const given = everyRecord(ids);
  // Notes after what they belong to; an archived contact takes notes by ingest.
  const into = ingestInto(service, accountId);
  await into.contact(given["contact"] ?? {});
  await into.session(given["session"] ?? {});
  await into.transcript(given["transcript"] ?? {});
  await into.sessionNotes(given["session_note"] ?? {});
  await into.contactNotes(given["contact_note"] ?? {});
  const exported = await exportAll(service, accountId);
  expect(keyed(exported)).toEqual(given);

  const contact = await shown(key, "GetContact", { contact_id: ids.contact });
  expect(contact).toMatchObject(common(given["contact"], ContactSchema));
  const session = await shown(key, "GetSession", { session_id: ids.session });
  // The name of this property is a setting.
  const { provider_doc_url: documentUrl, ...named } = common(given["session"], SessionDetailSchema);
  expect(session).toMatchObject(named);
  expect(Object.values(session)).toContain(documentUrl);

  const account = "records.admin.v1.AccountService";
  await service.internalCall(`${account}/DeleteAccount`, { account_id: accountId });
  const { id: other } = await service.account();
  const responses = await importAll(service, { accountId: other, records: exported });
  expect(responses.flatMap(({ rejections }) => rejections)).toEqual([]);
  expect(await exportAll(service, other)).toEqual(exported);
});

test("the API writes every field of a create and of an update", async () => {
  const { key } = await service.account();
  const asJson = (schema: DescMessage): Record<string, unknown> => {
    const all = toJson(schema, filled(withoutMask(schema), ids.other, ids), { useProtoFieldName: true }) as JsonObject;
    return Object.fromEntries(Object.entries(all).filter(([name]) => name !== "contact_id" && name !== "update_mask"));
  };
  const create_ = asJson(CreateContactRequestSchema);
  const made = await service.rest("/v1/contacts", { method: "POST", key, body: create_ });
  expect(made.body.data).toMatchObject(create_);
  const update = Object.fromEntries(
    Object.entries(asJson(UpdateContactRequestSchema)).map(([name, value]) => [
      name,
      name === "email" ? "new@example.com" : `new ${String(value)}`,
    ]),
  );
  const { id } = made.body.data as { id: string };
  const changed = await service.rest(`/v1/contacts/${id}`, { method: "PATCH", key, body: update });
  expect(changed.body.data).toMatchObject(update);
  expect(await shown(key, "GetContact", { contact_id: id })).toMatchObject(update);
});

/** Reflection fills every field; a mask is not one that a caller sets. */
function withoutMask(schema: DescMessage): DescMessage {
  return Object.assign(Object.create(schema) as DescMessage, {
    fields: schema.fields.filter(({ message }) => message?.typeName !== "google.protobuf.FieldMask"),
  });
}

test("covers every kind of record that ingest writes", () => {
  const batches = Object.values(IngestService.method).flatMap(({ input }) =>
    input.fields.filter(({ fieldKind }) => fieldKind === "list"),
  );
  const kinds = new Set(batches.flatMap(({ message }) => (message === undefined ? [] : [message.typeName])));
  expect(new Set([...kinds].filter((name) => name.endsWith("Item")))).toEqual(
    new Set(RecordSchema.fields.map(({ message }) => message?.typeName)),
  );
});
