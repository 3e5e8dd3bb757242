// Restores of mutated backups: each is rejected with nothing written, or every read works and no other account notices.
import { randomUUID } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import type { Client as ConnectClient } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import type { Document } from "mongodb";
import { BSONRegExp, Binary, Code, Double, Long, MaxKey, ObjectId, UUID } from "mongodb";
import { beforeAll, expect, test, vi } from "vitest";
import { deadlineIn } from "../../src/call/deadline.ts";
import { ExportResponseSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { createEndedSessions } from "../../src/sign-in/ended-store.ts";
import type { Client } from "../support/client.ts";
import { useService } from "../support/client.ts";
import { inForm } from "../support/form.ts";
import type { Renamed, Stored } from "./backed-up.ts";
import { fillAccount, issuer, ofAccounts, renamed, restore, storedOf } from "./backed-up.ts";

vi.setConfig({ testTimeout: 600_000 });

const service = useService();
const ofService = ["ended_sessions", "switch_changes"] as const;

let client: Client;
let other: Client;
let stored: readonly Stored[];
let theirs: readonly Stored[];
let theirSession: string;

let exportClient: ConnectClient<typeof IngestService>;

beforeAll(async () => {
  const transport = createGrpcTransport({
    baseUrl: service().internal,
    interceptors: [
      (next) => (request) => (request.header.set("authorization", `Bearer ${service().serviceToken}`), next(request)),
    ],
  });
  exportClient = createClient(IngestService, transport);
  [client, other] = [await fillAccount(service()), await fillAccount(service())];
  [stored, theirs] = [await storedOf(service(), client.id), await storedOf(service(), other.id)];
  const session = theirs.find(([name, { title }]) => name === "sessions" && title === "Undated")?.[1]["_id"] as UUID;
  theirSession = new UUID(session.buffer).toHexString();
});

/** Values of every type, and operators. Values of another account come from its documents. */
const values: readonly unknown[] = [
  ...[
    null,
    undefined,
    "",
    "x",
    "\u{1d11e}",
    "0",
    "constructor",
    5,
    -1,
    true,
    [],
    {},
    ["x"],
    [1],
    { a: 1 },
    { $gt: "" },
  ],
  ...[{ a: { $ne: 1 } }, { $regex: "." }, { "a.b": 1 }, { "~proof": 1 }, [{ $set: 1 }]],
  ...[new Double(1.5), new Double(NaN), new Double(-Infinity), Long.MAX_VALUE, Long.fromNumber(2 ** 40)],
  ...[new Date(8.64e15), new Date(NaN), new Date(0), new UUID(), new ObjectId(), new Binary(Buffer.alloc(32))],
  ...[new Binary(Buffer.alloc(16), 3), new Binary(Buffer.alloc(0)), new BSONRegExp("."), new Code("1"), new MaxKey()],
];
/** Names that mean something to queries, pipelines or objects. */
const names = [
  "~proof",
  "~bsontype",
  "$set",
  "a.b",
  "__proto__",
  "ends",
  "spoken",
  "identities",
  "suspension",
  "external_id",
  "text",
];

/** How a document is mutated: numbers select the collection, the document, the field and the value. */
const mutation = fc.record({
  collection: fc.constantFrom(...ofAccounts, ...ofService),
  kind: fc.constantFrom("remove", "value", "value", "nested", "foreign", "foreign id", "name", "again", "drop"),
  at: fc.nat(1_000),
  field: fc.nat(1_000),
  inner: fc.nat(1_000),
  value: fc.nat(1_000),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function pick<T>(all: readonly T[], at: number): T | undefined {
  return all[at % all.length];
}

/** Returns the documents with a mutation. */
function mutated(documents: readonly Stored[], { collection, kind, at, field, inner, value }: Mutation): Stored[] {
  const index = pick(
    [...documents.keys()].filter((one) => documents[one]?.[0] === collection),
    at,
  );
  if (index === undefined) return [...documents];
  const before = documents[index]?.[1] ?? {};
  const name = pick(Object.keys(before), field) ?? "_id";
  const foreign =
    pick(
      theirs.filter(([one]) => one === collection),
      at,
    )?.[1] ?? {};
  const anyForeign = pick(theirs, value)?.[1] ?? {};
  const withValue = (put: unknown, into = name): Document => ({ ...before, [into]: put });
  const nested = (): Document => {
    const held: unknown = before[name];
    if (Array.isArray(held)) return withValue([pick(values, value)]);
    if (typeof held !== "object" || held === null || Object.getPrototypeOf(held) !== Object.prototype)
      return withValue({ [name]: pick(values, value) });
    return withValue({ ...held, [pick(Object.keys(held), inner) ?? "x"]: pick(values, value) });
  };
  const changes: Readonly<Record<string, () => Document | undefined>> = {
    remove: () => Object.fromEntries(Object.entries(before).filter(([one]) => one !== name)),
    value: () => withValue(pick(values, value)),
    nested,
    foreign: () => withValue(foreign[name] ?? anyForeign["_id"]),
    "foreign id": () => withValue(anyForeign["_id"], pick([name, "_id"], inner)),
    name: () => withValue(pick(values, value), pick(names, inner)),
    again: () => ({ ...before, _id: before["_id"] instanceof Binary ? new UUID() : before["_id"] }),
    drop: () => undefined,
  };
  const after = changes[kind]?.();
  const others = documents.filter((_, one) => one !== index || kind === "again");
  if (after === undefined) return others;
  const [first, last] = [others.slice(0, index), others.slice(index)];
  return [...first, [collection, after], ...last];
}

function serviceDocuments(subject: string): Stored[] {
  const at = new Date();
  return [
    ["ended_sessions", { _id: { issuer, subject }, ended_at: at, later_than: new Date(0) }],
    ["ended_sessions", { _id: { issuer, sid: subject }, ended_at: at }],
    ["ended_sessions", { _id: { issuer, subject, sid: null }, ended_at: at, later_than: new Date(0) }],
    [
      "switch_changes",
      {
        ...{ _id: new ObjectId(), switch: "writes", enabled: true, reason: "", changed_at: at },
        ...{ address: "127.0.0.1", token: "12345678", request_id: randomUUID() },
      },
    ],
  ];
}

/** Calls every read of an account, with its key and as the operator. Returns what failed in the service. */
async function failedReads({ id, key, documents }: Renamed, subject: string): Promise<string[]> {
  const failed: string[] = [];
  const note = (what: string, { status, text }: { readonly status: number; readonly text: string }): void => {
    if (status >= 500) failed.push(`${what}: ${status} ${text}`);
  };
  const idOf = (collection: string): string => {
    const found: unknown = documents.find(([name]) => name === collection)?.[1]["_id"];
    return found instanceof UUID ? found.toHexString() : randomUUID();
  };
  const [contact, session] = [idOf("contacts"), idOf("sessions")];
  for (const path of [
    ...["/v1/contacts?query=ann", "/v1/contacts?query=a-1", `/v1/contacts/${contact}`, "/v1/sessions", "/v1/notes"],
    ...["/v1/sessions?query=walk", `/v1/sessions/${session}`, `/v1/sessions/${session}/transcript`],
    ...["/v1/notes?query=tea", "/v1/notes/search?query=friday", "/v1/sessions?has_transcript=true", "/v1/api-key"],
  ])
    note(path, await service().rest(path, { key }));
  const admin = (rpc: string, message: Document) => service().internalCall(`records.admin.v1.${rpc}`, message);
  for (const [rpc, message] of [
    ["AccountService/ListAccounts", { limit: 1_000 }],
    ["AccountService/GetAccount", { account_id: id }],
    ["InterfaceService/ListChanges", {}],
  ] as const) {
    const response = await admin(rpc, message);
    note(rpc, response);
    if (response.text.includes('"unreadable":')) failed.push(`${rpc}: ${response.text.slice(-500)}`);
  }
  try {
    if ((await storedOf(service(), id)).some(([name]) => name === "accounts"))
      for await (const record of exportClient.export({ accountId: id })) toBinary(ExportResponseSchema, record);
  } catch (error) {
    failed.push(`Export: ${String(error)}`);
  }
  const ended = createEndedSessions(service().app.client.db());
  const signIn = { issuer, subject, authenticatedAt: 1, sid: subject };
  await ended.endAndAccount(signIn, deadlineIn(5_000)).catch((error: unknown) => failed.push(String(error)));
  return failed;
}

/** Returns what another account has noticed of a restore. */
async function noticedByOther(): Promise<string[]> {
  const noticed = await service().rest("/v1/contacts?query=ann", { key: other.key });
  await other.put.transcripts({ session_id: theirSession, transcript: "Ann: bye" });
  await service()
    .app.client.db()
    .collection("transcripts")
    .deleteOne({ _id: UUID.createFromHexString(theirSession) as never });
  const now = await storedOf(service(), other.id);
  return [
    ...(noticed.status === 200 && noticed.body.data.length === 1 ? [] : [noticed.text]),
    ...(unchanging(now) === unchanging(theirs) ? [] : ["its documents changed"]),
  ];
}

/** Returns the documents without what a read or a put transcript changes. */
function unchanging(documents: readonly Stored[]): string {
  return JSON.stringify(documents.map(([name, { version: _version, last_used_at: _at, ...rest }]) => [name, rest]));
}

async function countOf(id: string, backup: string): Promise<number> {
  const marked = await service().app.client.db().collection("restores").countDocuments({ backup });
  return (await storedOf(service(), id)).length + marked;
}

test("a restore of a mutated backup is rejected with nothing written, or every read works [OPS-62, ISO-04]", async () => {
  const outcomes = { rejected: 0, restored: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 2 }), async (mutations) => {
      const account = renamed(stored);
      const subject = account.documents.at(-1)?.[1]["email"] as string;
      const all = mutations.reduce(mutated, [...serviceDocuments(subject), ...account.documents]);
      const isOfService = ([name]: Stored): boolean => (ofService as readonly string[]).includes(name);
      const backup = randomUUID();
      for (const [id, documents] of [
        ["", all.filter(isOfService)],
        [account.id, all.filter((one) => !isOfService(one))],
      ] as const) {
        const checked = await restore(service(), id, documents, { backup, checkOnly: true });
        expect(id === "" ? 0 : await countOf(id, backup)).toBe(0);
        const written = await restore(service(), id, documents, { backup });
        expect([written.status, written.body.message]).toEqual([checked.status, checked.body.message]);
        expect([200, 400, 409]).toContain(written.status);
        outcomes[written.status === 200 ? "restored" : "rejected"]++;
        if (written.status !== 200 && id !== "") expect(await countOf(id, backup)).toBe(0);
      }
      expect(await failedReads({ ...account, documents: all }, subject)).toEqual([]);
      expect(await noticedByOther()).toEqual([]);
      const deleted = await service().internalCall("records.admin.v1.AccountService/DeleteAccount", {
        account_id: account.id,
      });
      expect([200, 404]).toContain(deleted.status);
    }),
    { numRuns: inForm(60, 2_000) },
  );
  // Both outcomes are tried.
  expect(Math.min(outcomes.rejected, outcomes.restored)).toBeGreaterThan(5);
});
