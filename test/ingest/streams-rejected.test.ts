// What Import and Export reject, and what ends them: as a whole, or record by record with its place.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { ImportRequestSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { newClient, useService } from "../support/client.ts";
import { inForm } from "../support/form.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { randomId, startService } from "../fixtures/service/service.ts";
import type { RecordJson } from "../support/streams.ts";
import { exportAll, importAll, ingestClient, messages } from "../support/streams.ts";

const service = useService();

async function failureOf(work: Promise<unknown>): Promise<ConnectError> {
  const outcome: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof ConnectError)) throw new Error(`no failure of a call: ${String(outcome)}`);
  return outcome;
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

test("without the service token both streams are unauthenticated, and nothing is written [ADM-01]", async () => {
  const client = await newClient(service());
  for (const token of ["", client.key, `${service().serviceToken}x`]) {
    const stranger = ingestClient(service(), token);
    expect(
      (await failureOf(drain(stranger.import(messages({ accountId: client.id, records: [{ contact: {} }] }))))).code,
    ).toBe(Code.Unauthenticated);
    expect((await failureOf(drain(stranger.export({ accountId: client.id })))).code).toBe(Code.Unauthenticated);
  }
  expect(await exportAll(service(), client.id)).toEqual([]);
});

test("an account that is missing, malformed or unknown ends both [ING-06, ING-07]", async () => {
  const send = (accountId: string) => failureOf(importAll(service(), { accountId, records: [{ contact: {} }] }));
  expect(await send("")).toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: "account_id: is required in the first message",
  });
  expect((await send("x")).code).toBe(Code.InvalidArgument);
  expect((await send(randomId())).code).toBe(Code.NotFound);
  for (const [accountId, code] of [
    ["", Code.InvalidArgument],
    ["x", Code.InvalidArgument],
    [randomId(), Code.NotFound],
  ] as const)
    expect((await failureOf(exportAll(service(), accountId))).code).toBe(code);
});

test("an invalid record is rejected with its position and the reason; the others are written [ING-06, ING-04]", async () => {
  const client = await newClient(service());
  const records: RecordJson[] = [
    { contact: { external_id: "a", email: "a@example.com" } },
    { contact: { external_id: "b", email: "A@example.com" } },
    { contact: { external_id: "c", email: "no address" } },
    {},
    { session: { external_id: "s", contact_external_id: "a" } },
    { session: { id: randomId(), contact_external_id: "nobody" } },
    { contact_note: { contact_external_id: "a", content: "one", source: "import" } },
    { contact_note: { contact_external_id: "a", content: "", source: "import" } },
    { transcript: { session_external_id: "nothing", transcript: "t" } },
  ];
  const responses = await importAll(service(), { accountId: client.id, records, chunk: 2 });
  expect(responses.at(-1)).toMatchObject({
    done: true,
    position: 9n,
    rejected: 6n,
    written: { contacts: 1n, sessions: 1n, contactNotes: 1n, transcripts: 0n },
  });
  const rejections = responses
    .flatMap(({ rejections }) => rejections)
    .map(({ position, externalId, error }) => [Number(position), externalId, error?.message]);
  expect(rejections.sort(([a], [b]) => Number(a) - Number(b))).toEqual([
    [1, "b", expect.stringContaining("The email is already used by another active contact")],
    [2, "c", expect.stringContaining("email: must be an email address")],
    [3, undefined, expect.stringContaining("must contain one record: contact, session")],
    [5, undefined, expect.stringContaining("contact: there is no such record")],
    [7, undefined, expect.stringContaining("content: must be at least 1 character")],
    [8, undefined, expect.stringContaining("session: there is no such record")],
  ]);
});

test("ids of another account are rejected, however many, and quickly [ING-06]", async () => {
  const [client, stranger] = [await newClient(service()), await newClient(service())];
  const records: RecordJson[] = Array.from({ length: 1_200 }, (_, at) => ({
    session: { id: randomId(), title: `mine ${at}` },
  }));
  await importAll(service(), { accountId: stranger.id, records });
  const responses = await importAll(service(), {
    accountId: client.id,
    records: [...records, { session: { title: "of its own" } }],
    chunk: 500,
  });
  expect(responses.at(-1)).toMatchObject({ rejected: 1_200n, written: { sessions: 1n }, done: true });
  expect(responses.flatMap(({ rejections }) => rejections).map(({ error }) => error?.message)).toEqual(
    records.map(() => "the id or external_id already belongs to another record"),
  );
  expect((await exportAll(service(), stranger.id)).length).toBe(1_200);
});

test("a stream may not skip records: it begins at most at the position of the import [ING-06]", async () => {
  const client = await newClient(service());
  const records: RecordJson[] = [{ contact: { full_name: "Ann" } }];
  expect(
    await failureOf(importAll(service(), { accountId: client.id, importId: "gap", position: 1, records })),
  ).toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: "position: must be at most 0, the current position of the import",
  });
  async function* jumping() {
    yield* messages({ accountId: client.id, importId: "gap", records });
    yield create(ImportRequestSchema, { position: 7n, records: [] });
  }
  expect(await failureOf(drain(ingestClient(service()).import(jumping())))).toMatchObject({
    rawMessage: "position: must be 1, the position after the previous record",
  });
});

test("a later message may not have another account, import or way to import, and Import requires HTTP/2 [ING-06]", async () => {
  const [client, stranger] = [await newClient(service()), await newClient(service())];
  for (const [field, other] of [
    ["account_id", { accountId: stranger.id }],
    ["import_id", { importId: "other" }],
    ["update_by_email", { updateByEmail: true }],
    ["restart", { restart: 2 }],
  ] as const) {
    async function* turning() {
      yield* messages({ accountId: client.id, importId: "own", records: [{ contact: {} }] });
      yield create(ImportRequestSchema, other);
    }
    expect((await failureOf(drain(ingestClient(service()).import(turning())))).rawMessage).toBe(
      `${field}: must be the same as in the first message, or left out`,
    );
  }
  expect(await exportAll(service(), stranger.id)).toEqual([]);
  const response = await fetch(`${service().internal}/records.ingest.v1.IngestService/Import`, {
    method: "POST",
    headers: { "Content-Type": "application/connect+json", Authorization: `Bearer ${service().serviceToken}` },
    body: "",
  });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { message: "Import responds while the request is still being sent. Use HTTP/2." } },
  ]);
});

const setWrites = (own: TestService, enabled: boolean) =>
  own.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled, reason: "maintenance" });

test("pausing writes ends a running import, which resumes afterwards; an export continues [ING-06, ERR-16]", async () => {
  const own = await startService();
  try {
    const client = await newClient(own);
    const records: RecordJson[] = Array.from({ length: 400 }, (_, at) => ({ contact: { full_name: `Contact ${at}` } }));
    const sending = { accountId: client.id, importId: "paused", records };
    const failure = await failureOf(
      importAll(own, { ...sending, between: async (sent) => void (sent === 200 && (await setWrites(own, false))) }),
    );
    expect([failure.code, failure.rawMessage]).toEqual([
      Code.Unavailable,
      "Writes are temporarily unavailable, but reads work. Try again later.",
    ]);
    expect((await failureOf(importAll(own, sending))).code).toBe(Code.Unavailable);
    expect((await exportAll(own, client.id)).length).toBeLessThan(400);
    await setWrites(own, true);
    expect((await importAll(own, sending)).at(-1)).toMatchObject({ done: true, written: { contacts: 400n } });
    expect(new Set((await exportAll(own, client.id)).map(({ contact }) => contact?.["full_name"])).size).toBe(400);
  } finally {
    await own.stop();
  }
});

test("pausing writes after the last message of an import rejects the unwritten rest [ING-06, ERR-16]", async () => {
  const own = await startService();
  try {
    const client = await newClient(own);
    async function* sent() {
      yield* messages({ accountId: client.id, records: [{ contact: { full_name: "Late" } }] });
      await setWrites(own, false);
    }
    const failure = await failureOf(drain(ingestClient(own).import(sent())));
    expect(failure.code).toBe(Code.Unavailable);
    expect(await exportAll(own, client.id)).toEqual([]);
  } finally {
    await own.stop();
  }
});

test("deleting an account during its import ends the import, and nothing of the account is left [ING-06, ADM-04]", async () => {
  const client = await newClient(service());
  const records: RecordJson[] = Array.from({ length: 1_000 }, (_, at) => ({ session: { title: `Session ${at}` } }));
  const erase = () =>
    service().internalCall("records.admin.v1.AccountService/DeleteAccount", { account_id: client.id });
  const failure = await failureOf(
    importAll(service(), {
      accountId: client.id,
      records,
      between: async (sent) => void (sent === 500 && (await erase())),
    }),
  );
  expect(failure.code).toBe(Code.NotFound);
  await vi.waitFor(async () => expect((await erase()).body.erased).toBe(true), { timeout: 30_000, interval: 200 });
});

test("an export returns every record that exists throughout it once, however much is written meanwhile [ING-07]", async () => {
  const client = await newClient(service());
  const count = inForm(500, 1_500);
  const records: RecordJson[] = Array.from({ length: count }, (_, at) => ({
    contact: { external_id: `e${at}`, full_name: `Contact ${at}` },
  }));
  await importAll(service(), { accountId: client.id, records });
  const seen: string[] = [];
  for await (const { records: page } of ingestClient(service()).export({ accountId: client.id })) {
    seen.push(...page.map(({ record }) => (record.case === "contact" ? (record.value.externalId ?? "") : "")));
    // Every change moves a contact in all orders but that of the ids.
    await client.put.contacts(
      ...Array.from({ length: 20 }, (_, at) => ({
        external_id: `e${(seen.length * 7 + at) % count}`,
        full_name: "Changed",
        updated_at: at % 2 === 0 ? "2020-01-01T00:00:00Z" : undefined,
      })),
    );
  }
  expect(seen.sort()).toEqual(records.map(({ contact }) => contact?.["external_id"]).sort());
});

test("an export ends when its client disconnects, and reads nothing more [ING-07]", async () => {
  const client = await newClient(service());
  await importAll(service(), {
    accountId: client.id,
    records: Array.from({ length: 3_000 }, (_, at) => ({ session: { title: `Session ${at}` } })),
  });
  const cut = new AbortController();
  await expect(async () => {
    for await (const _ of ingestClient(service()).export({ accountId: client.id }, { signal: cut.signal })) cut.abort();
  }).rejects.toThrow();
  const errors = service().logLines.filter((line) => line.includes("request failed"));
  expect(errors).toEqual([]);
});

test("a client that disconnects from its import is not logged as an error [ING-06]", async () => {
  const client = await newClient(service());
  const leave = new AbortController();
  async function* left(): AsyncGenerator<MessageInitShape<typeof ImportRequestSchema>> {
    yield { accountId: client.id };
    await new Promise((resolve) => leave.signal.addEventListener("abort", resolve));
  }
  const ended = (): Record<string, unknown>[] =>
    service()
      .logLines.map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg, rpc }) => msg === "request" && String(rpc).endsWith("/Import"));
  const before = ended().length;
  await expect(async () => {
    for await (const _ of ingestClient(service()).import(left(), { signal: leave.signal })) leave.abort();
  }).rejects.toThrow();
  await vi.waitFor(() => expect(ended().length).toBe(before + 1), { timeout: 10_000 });
  expect(ended().at(-1)).toMatchObject({ status: 499 });
  expect(service().logLines.filter((line) => line.includes('"level":50'))).toEqual([]);
});
