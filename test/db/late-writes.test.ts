// Writes of one command that arrive after their deadline: they change nothing, and are no reason for a 404.
import { randomUUID } from "node:crypto";
import type { Document, MongoClient } from "mongodb";
import { Binary, UUID } from "mongodb";
import { expect, test, vi } from "vitest";
import { createErasureLeases } from "../../src/accounts/erasure-lease.ts";
import { createAccountStore } from "../../src/accounts/store.ts";
import { createUsage } from "../../src/accounts/usage.ts";
import { createLastUse } from "../../src/api-keys/last-use.ts";
import { createAuditStore } from "../../src/audit/store.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";
import { primaryOf } from "../../src/db/primary.ts";
import { commit, write } from "../../src/db/write.ts";
import type { Deadline } from "../../src/call/deadline.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createProgressStore } from "../../src/ingest/progress-store.ts";
import { createTranscriptStore } from "../../src/sessions/transcripts.ts";
import { createEndUserSessions } from "../../src/sign-in/end-user-sessions.ts";
import { createEndedSessions } from "../../src/sign-in/ended-store.ts";
import { createDashboardSessions } from "../../src/sign-in/session-store.ts";
import { useOwnDatabase } from "../support/own-database.ts";

let client: MongoClient;
useOwnDatabase((opened) => {
  client = opened;
});

/** The caller's own deadline: the failure says that it has passed. */
const soon = (): Deadline => deadlineIn(30_000, { expiresAt: performance.now() + 20_000 });
const exceeded = { reason: Reason.DEADLINE_EXCEEDED };

/** Runs the work as if the network had delayed its commands beyond their deadlines, by the database's clock. */
async function late<T>(work: () => Promise<T>): Promise<T> {
  const clock = vi.spyOn(primaryOf(client), "databaseTime").mockImplementation(() => new Date(Date.now() - 60_000));
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}

async function stored(): Promise<Record<string, Document[]>> {
  const db = client.db();
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).sort();
  const all = await Promise.all(names.map((name) => db.collection(name).find().sort({ _id: 1 }).toArray()));
  return Object.fromEntries(names.flatMap((name, at) => (all[at]?.length === 0 ? [] : [[name, all[at] ?? []]])));
}

const secrets = ["a".repeat(32)] as const;
const actor = { person: "ann", requestId: "r", address: "::1" };
const scopeOf = (id: UUID) => grantWrites(readScope(id, soon()));
const identity = () => ({ issuer: "https://id.example.com", subject: randomUUID() });
const userOf = (who: ReturnType<typeof identity>) => ({
  sid: undefined,
  email: undefined,
  name: undefined,
  idToken: "token",
  ...who,
});
const progress = (position: number) => ({
  position,
  rejected: 0,
  contactChanges: { created: 0, updated: 0, unchanged: 0 },
  finished: false,
  written: { contacts: position, sessions: 0, transcripts: 0, session_notes: 0, contact_notes: 0 },
});
const stores = () => {
  const db = client.db();
  const lost = vi.fn();
  return {
    accounts: createAccountStore(db),
    audit: createAuditStore(db, lost),
    ended: createEndedSessions(db),
    endUserSessions: createEndUserSessions(db),
    imports: createProgressStore(db),
    lastUse: createLastUse(db, lost),
    sessions: createDashboardSessions(db, secrets),
    usage: createUsage(db, lost),
    transcripts: createTranscriptStore(client, () => Promise.reject(new Error("locks nothing"))),
  };
};

/** What has to be there before, and the write. */
type Prepare = (all: ReturnType<typeof stores>) => Promise<() => Promise<unknown>>;

const writes: readonly (readonly [what: string, prepare: Prepare])[] = [
  [
    "the creation of an account",
    async ({ accounts }) =>
      () =>
        accounts.create(`${randomUUID()}@x.org`, false, soon()),
  ],
  [
    "an entry",
    async ({ audit }) =>
      () =>
        audit.append(new UUID(), actor, { event: "signed_in" }, soon()),
  ],
  [
    "the first progress of an import",
    async ({ imports }) =>
      () =>
        imports.write(scopeOf(new UUID()), "i", progress(1)),
  ],
  [
    "progress of an import",
    async ({ imports }) => {
      const id = new UUID();
      await imports.write(scopeOf(id), "i", progress(1));
      return () => imports.write(scopeOf(id), "i", progress(2));
    },
  ],
  [
    "a new session",
    async ({ sessions }) =>
      () =>
        sessions.begin(userOf(identity()), soon()),
  ],
  [
    "the end of a session",
    async ({ sessions }) => {
      const cookie = await sessions.begin(userOf(identity()), soon());
      return () => sessions.end(cookie, soon());
    },
  ],
  [
    "a sign-out",
    async ({ ended }) =>
      () =>
        ended.signOut(identity(), [], soon()),
  ],
  [
    "a later sign-out",
    async ({ ended }) => {
      const who = identity();
      const session = { sid: "s", authenticatedAt: 1, providerAheadMs: 0 };
      await ended.signOut(who, [session], soon());
      return () => ended.signOut(who, [session], soon());
    },
  ],
  [
    "the end of all sessions of a user",
    async ({ endUserSessions, sessions }) => {
      const who = identity();
      await sessions.begin(userOf(who), soon());
      return () => endUserSessions(who, soon());
    },
  ],
  [
    "the deletion of a transcript",
    async ({ transcripts }) => {
      const [_id, account_id] = [new UUID(), new UUID()];
      await client.db().collection<{ _id: UUID; account_id: UUID }>("transcripts").insertOne({ _id, account_id });
      return () => transcripts.remove(scopeOf(account_id), _id);
    },
  ],
];

test.each(writes)("%s that arrives late is not stored, and fails as exceeded [CON-05]", async (_what, prepare) => {
  const work = await prepare(stores());
  const before = await stored();
  await expect(late(work)).rejects.toMatchObject(exceeded);
  expect(await stored()).toEqual(before);
});

test("late background writes are left out: the use of a key, the use of a session, a lease [CON-05]", async () => {
  const { lastUse, sessions } = stores();
  const key = new Binary(Buffer.from(randomUUID()));
  await client.db().collection<{ _id: Binary; active: boolean }>("api_keys").insertOne({ _id: key, active: true });
  const erasure = new UUID();
  await client.db().collection<{ _id: UUID }>("erasures").insertOne({ _id: erasure });
  const cookie = await sessions.begin(userOf(identity()), soon());
  await client
    .db()
    .collection("dashboard_sessions")
    .updateMany({}, { $set: { used_at: new Date(Date.now() - 90_000) } });
  const before = await stored();
  lastUse.note(key);
  const take = () => createErasureLeases(client)(erasure, () => false);
  await late(async () => {
    await lastUse.flush();
    expect(await sessions.find(cookie, soon())).toBeDefined();
    expect(await take()).toBeUndefined();
  });
  expect(await stored()).toEqual(before);
  expect(await take()).toBeDefined();
});

test("late background entries are not stored, and those in time are stored once [CON-05]", async () => {
  const { audit } = stores();
  const account = new UUID();
  for (const detail of ["one", "two"]) audit.appendSoon(account, actor, { event: "tool_called", detail });
  const before = await stored();
  await late(async () => {
    await expect(audit.flush()).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
    expect(await stored()).toEqual(before);
  });
  await audit.flush();
  expect(await audit.list(account, { limit: 5, offset: 0 }, soon())).toHaveLength(2);
});

test("late counts of requests are not stored, and those in time are stored once [CON-05, OPS-75]", async () => {
  const { accounts, usage } = stores();
  const { _id: account } = await accounts.create(`${randomUUID()}@x.org`, false, soon());
  const before = await stored();
  usage.count(account.toHexString(), { id: "1", at: new Date(), method: "GET", route: "/", status: 200, ms: 1 });
  await late(async () => {
    await expect(usage.flush()).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
    expect(await stored()).toEqual(before);
  });
  await usage.flush();
  expect((await usage.last(account, soon())).days.at(-1)).toMatchObject({ requests: 1, rejected: 0 });
});

test("a missing record is reported as missing, not as an exceeded deadline, late or in time [CON-05]", async () => {
  const { sessions, transcripts } = stores();
  const missing = async (): Promise<unknown[]> => [
    await sessions.end("no cookie", soon()),
    await transcripts.remove(scopeOf(new UUID()), new UUID()),
  ];
  expect(await missing()).toEqual([undefined, false]);
  expect(await late(missing)).toEqual([undefined, false]);
});

test("a write by one command that does not take its fence does not compile [CON-05]", () => {
  const things = () => client.db().collection("things");
  const loose = [
    // @ts-expect-error: it would be carried out however late.
    () => write(client, soon(), (options) => things().deleteMany({}, options)),
    // @ts-expect-error: the same.
    () => commit(client, scopeOf(new UUID()), undefined, (options) => things().deleteMany({}, options)),
  ];
  expect(loose).toHaveLength(2);
});
