// How lists and field masks are checked that have more items than a request needs: none of their items is read.
import { create } from "@bufbuild/protobuf";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { everyService } from "../fixtures/clients/descriptors.ts";
import { Failure } from "../../src/call/errors.ts";
import { RestoreDocumentsRequestSchema } from "../../src/gen/records/admin/v1/backup_pb.ts";
import {
  ArchiveContactsRequestSchema,
  DeleteRecordsRequestSchema,
  ExternalNameSchema,
  UpsertContactsRequestSchema,
} from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { UpdateContactRequestSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { completeMask } from "../../src/guards/mask.ts";
import { validate, validateBatch } from "../../src/guards/validate.ts";
import { createIngestService } from "../../src/ingest/service.ts";

const id = "3f2a8c54-0000-4000-8000-00000000000a";

/** The violations of a message, each as `field: message`, and how many items of the list were read. */
function checked<Schema extends DescMessage>(
  check: typeof validate,
  schema: Schema,
  init: MessageInitShape<Schema>,
  name = "",
): { readonly faults: readonly string[]; readonly read: number } {
  const message = create(schema, init) as Record<string, unknown>;
  const { items, read } = counted(message[name] as unknown[] | undefined);
  if (name !== "") message[name] = items;
  try {
    check(schema, message as never);
    return { faults: [], read: read() };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { faults: error.violations.map(({ field, message }) => `${field}: ${message}`), read: read() };
  }
}

function counted<Item>(list: readonly Item[] = []): { readonly items: Item[]; readonly read: () => number } {
  let read = 0;
  const items = new Proxy([...list], {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) read += 1;
      return Reflect.get(target, key) as unknown;
    },
  });
  return { items, read: () => read };
}

const times = <T>(count: number, item: T): T[] => new Array<T>(count).fill(item);

test("a mask of more than 100 paths is rejected with one violation, whatever the paths are [WIR-11, CUP-11]", () => {
  const distinct = Array.from({ length: 40_000 }, (_, at) => `n${at}`);
  for (const paths of [distinct, times(80_000, "*"), times(101, "phone"), times(101, "\ud800")])
    expect(
      checked(validate, UpdateContactRequestSchema, { contactId: id, phone: "1", updateMask: { paths } }).faults,
    ).toEqual(["update_mask: must have at most 100 paths"]);
  const paths = times(100, "phone");
  expect(
    checked(validate, UpdateContactRequestSchema, { contactId: id, phone: "1", updateMask: { paths } }).faults,
  ).toEqual([]);
});

test("of a mask only the first wrong path is reported, and nothing reads a rejected mask again [CUP-11]", () => {
  const paths = ["a", "b", "full_name", "\ud800"];
  const message = create(UpdateContactRequestSchema, { contactId: id, updateMask: { paths } });
  expect(completeMask(UpdateContactRequestSchema, message)).toEqual([
    { field: "update_mask", rule: "update_mask", message: '"a" is not one of full_name, email, phone' },
    { field: "full_name", rule: "not_null", message: "cannot be cleared" },
  ]);
  expect(message.updateMask).toBeUndefined();
});

test("a list of more items than its rules allow is one violation, and none of its items is read [ING-03]", () => {
  const documents = times(1_001, { collection: "" });
  expect(checked(validate, RestoreDocumentsRequestSchema, { backupId: "7", documents }, "documents")).toEqual({
    faults: ["documents: must contain at most 1000 items", "backup_id: must be a valid UUID"],
    read: 0,
  });
  const fitting = checked(validate, RestoreDocumentsRequestSchema, { backupId: id, documents: documents.slice(1) });
  expect(fitting.faults).toContain("documents[999].collection: must be at least 1 character");
});

test("the check of a batch reads no item of its lists, of texts or of messages [ING-03]", () => {
  const contactIds = times(1_000, "7");
  const batch = { accountId: id, contactIds };
  expect(checked(validateBatch, ArchiveContactsRequestSchema, batch, "contactIds")).toEqual({ faults: [], read: 0 });
  for (const [schema, init] of [
    [ArchiveContactsRequestSchema, { accountId: "7", contactIds: [...contactIds, "7"] }],
    [UpsertContactsRequestSchema, { accountId: "7", contacts: times(1_001, {}) }],
  ] as const) {
    const name = "contacts" in init ? "contacts" : "contactIds";
    expect(checked(validateBatch, schema as DescMessage, init as never, name)).toEqual({
      faults: [
        `${name === "contacts" ? name : "contact_ids"}: must contain at most 1000 items`,
        "account_id: must be a valid UUID",
      ],
      read: 0,
    });
  }
  const external = times(5_000, {});
  expect(checked(validateBatch, DeleteRecordsRequestSchema, { accountId: id, external }, "external")).toEqual({
    faults: [],
    read: 0,
  });
});

test("a deletion of more than 1,000 names is rejected before any of them is read [ING-03]", async () => {
  const none = {} as never;
  const service = createIngestService(none, none, none);
  const { items: external, read } = counted(times(1_001, create(ExternalNameSchema)));
  const request = Object.assign(create(DeleteRecordsRequestSchema, { accountId: id }), { external });
  const scopeFor = (): Promise<never> => Promise.resolve(none);
  await expect(service.deleteRecords(request, { scopeFor } as never)).rejects.toThrow("from 1 to 1,000 records");
  expect(read()).toBe(0);
});

/** The lists of a message without a limit in its rules, at any depth. */
function unlimitedLists(schema: DescMessage, path: string, depth = 0): string[] {
  return schema.fields.flatMap((field): string[] => {
    const name = `${path}.${field.name}`;
    const deeper = field.message === undefined || depth > 5 ? [] : unlimitedLists(field.message, name, depth + 1);
    const isBounded = depth === 0 && field.fieldKind === "list" && overLimit(schema, field.name);
    return (field.fieldKind === "list" && !isBounded) || field.fieldKind === "map" ? [name, ...deeper] : deeper;
  });
}

/** Whether a list of 1,001 items is rejected for their number alone. */
function overLimit(schema: DescMessage, name: string): boolean {
  const field = schema.fields.find((one) => one.name === name);
  const item = field?.message === undefined ? "" : {};
  const { faults } = checked(validate, schema, { [field?.localName ?? ""]: times(1_001, item) } as never);
  return faults.some((fault) => fault.startsWith(`${name}: must contain at most `));
}

test("every list of a request has a limit in its rules, or another limit before its items are checked", () => {
  expect(
    everyService.flatMap(({ methods }) => methods).flatMap(({ input, name }) => unlimitedLists(input, name)),
  ).toEqual([
    // At most 100 paths.
    "UpdateContact.update_mask.paths",
    // At most 1,000 records in all.
    "DeleteRecords.contact_ids",
    "DeleteRecords.session_ids",
    "DeleteRecords.transcript_ids",
    "DeleteRecords.note_ids",
    "DeleteRecords.external",
    // At most 100 paths.
    "Import.contact_fields.paths",
  ]);
});
