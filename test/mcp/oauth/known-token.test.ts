// Tool calls with a token that the instance remembers: each verifies it before the read, and fails if it has ended.
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { listenToMongo, listenToRedis } from "../../fixtures/databases/commands.ts";
import { accessToken, offerIntrospection, send, sendBatch } from "../../fixtures/sign-in/assistants.ts";
import { advanceClock } from "../../support/advance-clock.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";

const { fake: provider, service } = useFakeProvider({
  prepare: (fake) => offerIntrospection(fake, () => ({ active: true, ...introspected })),
});

/** What introspection says of every token besides its own claims. */
let introspected: Record<string, unknown> = {};

/** A user with an account that has a contact, and a token that the instance knows. */
async function known(claims?: object): Promise<{ subject: string; accountId: UUID; token: string }> {
  const subject = randomUUID();
  const { id } = await service().account();
  const accountId = UUID.createFromHexString(id);
  await service().app.services.accounts.link(accountId, { issuer: provider().issuer, subject });
  await ingestInto(service(), id).contact({ full_name: "Ann Lee" });
  const now = Math.floor(Date.now() / 1_000);
  const signedIn = claims ?? { auth_time: now, sid: `session of ${subject}` };
  const token = await accessToken(provider(), { sub: subject, ...signedIn });
  expect(await called(token)).toEqual({ status: 200, shows: true });
  return { subject, accountId, token };
}

const search = { method: "tools/call", params: { name: "search_contacts", arguments: { query: "ann" } } };

/** Searches by the tool; whether the response shows the contact. */
async function called(token: string, message: object = search): Promise<{ status: number; shows: boolean }> {
  const { status, text } = await send(service().base, `Bearer ${token}`, message);
  return { status, shows: text.includes("Ann Lee") };
}

/** The commands of a request. */
async function commandsOf(work: () => Promise<unknown>): Promise<{ mongo: string[]; redis: string[] }> {
  const [toRedis, toMongo] = [await listenToRedis(service().redis.uri), listenToMongo(service().app.client)];
  await work();
  return { mongo: toMongo.stop().map(({ label }) => label), redis: await toRedis.stop() };
}

test("a tool call costs one command to Redis, and to MongoDB one that verifies the token and one that reads the data [SRC-08]", async () => {
  const { token } = await known();
  const mongo = ["aggregate ended_sessions", "aggregate contacts"];
  expect(await commandsOf(() => called(token))).toEqual({ mongo, redis: ["evalsha"] });
});

const database = () => service().app.client.db();

test("a batch looks up an ended token once, before any of its calls", async () => {
  const { subject, token } = await known();
  await database()
    .collection("ended_sessions")
    .insertOne({ _id: { issuer: provider().issuer, sid: `session of ${subject}` }, ended_at: new Date() } as never);
  const statuses: number[] = [];
  const sent = async (): Promise<unknown> => statuses.push((await sendBatch(service().base, token, 5)).status);
  expect(await commandsOf(sent)).toEqual({ mongo: ["aggregate ended_sessions"], redis: ["evalsha"] });
  expect(statuses).toEqual([401]);
});

test.each<[string, (whose: { subject: string; accountId: UUID }) => Promise<unknown>, number]>([
  [
    "whose user signed out",
    ({ subject }) =>
      database()
        .collection("ended_sessions")
        .insertOne({
          _id: { issuer: provider().issuer, subject },
          ended_at: new Date(),
          later_than: new Date(),
        } as never),
    401,
  ],
  [
    "whose session at the provider ended",
    ({ subject }) =>
      database()
        .collection("ended_sessions")
        .insertOne({ _id: { issuer: provider().issuer, sid: `session of ${subject}` }, ended_at: new Date() } as never),
    401,
  ],
  [
    "whose account is suspended",
    ({ accountId }) =>
      database()
        .collection("accounts")
        .updateOne({ _id: accountId } as never, { $set: { suspension: { at: new Date(), reason: "test" } } }),
    403,
  ],
  [
    "whose user no longer has an account",
    ({ accountId }) =>
      database()
        .collection("accounts")
        .updateOne({ _id: accountId } as never, { $unset: { identities: 1 } }),
    403,
  ],
  [
    "whose user has another account now",
    async ({ accountId, subject }) => {
      await database()
        .collection("accounts")
        .updateOne({ _id: accountId } as never, { $unset: { identities: 1 } });
      const { id } = await service().account();
      await service().app.services.accounts.link(UUID.createFromHexString(id), { issuer: provider().issuer, subject });
    },
    503,
  ],
])("the next call with a token %s returns nothing [OAU-12]", async (_what, end, status) => {
  const whose = await known();
  await end(whose);
  expect(await called(whose.token)).toEqual({ status, shows: false });
  const again = await called(whose.token);
  expect(again).toEqual({ status: status === 503 ? 200 : status, shows: false });
});

test("a token whose user has signed in again returns its records, although the remembered sign-in has ended", async () => {
  const now = Math.floor(Date.now() / 1_000);
  introspected = { auth_time: now - 60 };
  const { subject, token } = await known({});
  const end = { _id: { issuer: provider().issuer, subject }, ended_at: new Date(), later_than: new Date(now * 1_000) };
  await database()
    .collection("ended_sessions")
    .insertOne(end as never);
  introspected = { auth_time: now + 1 };
  // Longer than the instance remembers what introspection says.
  await advanceClock(4, service().app.client);
  expect(await called(token)).toEqual({ status: 200, shows: true });
});
