// Rejections of an import: what its client has not acknowledged is repeated by the next stream.
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { ImportResponse, Rejection } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { ImportResponseSchema, RejectionSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { openRejections } from "../../src/ingest/rejections.ts";
import { newClient, useService } from "../support/client.ts";
import type { RecordJson } from "../support/streams.ts";
import { importAll } from "../support/streams.ts";

const service = useService();

const records: RecordJson[] = [
  { contact: { external_id: "a", email: "a@example.com" } },
  { contact: { external_id: "b", email: "A@example.com" } },
  { session: { external_id: "s", contact_external_id: "nobody" } },
  {},
];

const rejectionsIn = (responses: readonly ImportResponse[]): Rejection[] =>
  responses.flatMap(({ rejections }) => rejections);
const positionsIn = (responses: readonly ImportResponse[]): number[] =>
  rejectionsIn(responses).map(({ position }) => Number(position));

/** The import's document, as an instance of any release reads it. */
async function documentOf(importId: string) {
  const imports = service().app.client.db().collection("imports");
  return (await imports.find().toArray()).find(
    ({ _id }) => (_id as unknown as { import_id: string }).import_id === importId,
  );
}

test("a resumed stream begins with the rejections that were reported and not acknowledged [ING-06]", async () => {
  const { id: accountId } = await newClient(service());
  const first = await importAll(service(), { accountId, importId: "repeated", records });
  expect(positionsIn(first)).toEqual([1, 2, 3]);
  for (let time = 0; time < 2; time++) {
    const [again, ...rest] = await importAll(service(), { accountId, importId: "repeated", records: [] });
    expect(again).toMatchObject({ position: 4n, rejected: 3n, moreRejections: false });
    expect(again?.rejections).toEqual(rejectionsIn(first));
    expect(positionsIn(rest)).toEqual([]);
  }
});

test("acknowledged rejections are not repeated, neither in the first response nor to a later stream [ING-06]", async () => {
  const { id: accountId } = await newClient(service());
  await importAll(service(), { accountId, importId: "acknowledged", records });
  for (const [acknowledgedPosition, repeated] of [
    [2, [2, 3]],
    [0, [2, 3]],
    [1, [2, 3]],
    [4, []],
    [0, []],
  ] as const) {
    const responses = await importAll(service(), {
      accountId,
      importId: "acknowledged",
      records: [],
      acknowledgedPosition,
    });
    expect(positionsIn(responses)).toEqual(repeated);
  }
  expect(await documentOf("acknowledged")).not.toHaveProperty("unacknowledged");
});

test("an import whose progress the previous release stored resumes without its rejections [ING-06, OPS-30]", async () => {
  const { id: accountId } = await newClient(service());
  await importAll(service(), { accountId, importId: "older", records });
  const imports = service().app.client.db().collection("imports");
  await imports.updateOne({ "_id.import_id": "older" }, { $unset: { unacknowledged: "" } });
  const responses = await importAll(service(), { accountId, importId: "older", records: [] });
  expect(responses.at(-1)).toMatchObject({ position: 4n, rejected: 3n, rejections: [], done: true });
});

test("many rejections are sent in several responses, each short enough for a client with a limit of 4 MB [ING-06]", async () => {
  const { id: accountId } = await newClient(service());
  const total = 9_000;
  const many: RecordJson[] = Array.from({ length: total }, (_, at) => ({
    contact: { external_id: `${at}`.padEnd(200, "-"), email: "no address" },
  }));
  const all = Array.from({ length: total }, (_, at) => at);
  const first = await importAll(service(), { accountId, importId: "many", records: many, chunk: 1_000 });
  const again = await importAll(service(), { accountId, importId: "many", records: [] });
  for (const responses of [first, again]) {
    expect(positionsIn(responses)).toEqual(all);
    for (const one of responses) expect(toBinary(ImportResponseSchema, one).length).toBeLessThan(2_000_000);
  }
  const repeating = again.filter(({ rejections }) => rejections.length > 0);
  expect(repeating.map(({ moreRejections }) => moreRejections)).toEqual([...repeating.slice(1).map(() => true), false]);
  expect(repeating.length).toBeGreaterThan(1);
});

test("a rejection omits a name that is too long [ING-06]", async () => {
  const { id: accountId } = await newClient(service());
  const long: RecordJson[] = [{ contact: { id: "x".repeat(50_000), external_id: "y".repeat(50_000) } }];
  const [rejection] = rejectionsIn(await importAll(service(), { accountId, records: long }));
  expect([rejection?.id, rejection?.externalId]).toEqual([undefined, undefined]);
  expect(rejection?.error?.message).toContain("external_id");
});

test("the stored rejections stay far below the limit of a document: the newest are kept, in their order [ING-06]", async () => {
  const total = 40_000;
  const rejections = await openRejections(undefined);
  // Texts that no compression shortens by much.
  const messageOf = (at: number): string =>
    Array.from({ length: 30 }, (_, part) => Math.imul(at * 31 + part, 2_654_435_761).toString(36)).join("");
  rejections.add(
    Array.from({ length: total }, (_, at) =>
      create(RejectionSchema, { position: BigInt(total - 1 - at), error: { message: messageOf(at) } }),
    ),
  );
  expect(rejections.isLarge()).toBe(true);
  expect(rejections.take()).toHaveLength(total);
  expect([rejections.isLarge(), rejections.take()]).toEqual([false, []]);
  const stored = (await rejections.stored()) ?? new Uint8Array();
  expect(stored.length).toBeLessThan(8_000_000);
  const read = (await openRejections(stored)).repeated().flat();
  const oldest = Number(read[0]?.position);
  expect(oldest).toBeGreaterThan(0);
  expect(read.map(({ position }) => Number(position))).toEqual(
    Array.from({ length: total - oldest }, (_, at) => oldest + at),
  );
  // More than a client has on its way that sends 20,000 records ahead.
  expect(read.length).toBeGreaterThan(20_000);
});
