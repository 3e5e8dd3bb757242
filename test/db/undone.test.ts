// Data that only the primary has is neither returned nor the reason for a failure.
import { MongoClient, UUID } from "mongodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connectMongo } from "../../src/db/mongo.ts";
import { primaryOf } from "../../src/db/primary.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";
import type { Services } from "../../src/app/services.ts";
import { allCollections, createServices } from "../../src/app/services.ts";
import { ensureIndexes } from "../../src/db/indexes.ts";
import { directUri } from "../fixtures/databases/database.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startThreeMongods } from "../fixtures/databases/own-mongod.ts";

vi.setConfig({ hookTimeout: 120_000 });

let mongod: OwnMongod;
let client: MongoClient;
let services: Services;
beforeAll(async () => {
  mongod = await startThreeMongods();
  client = await connectMongo(mongod.uri, 30_000);
  await primaryOf(client).waitUntilHeld(30_000);
  await ensureIndexes(client.db(), allCollections);
  services = createServices(client);
});
afterAll(async () => {
  await client.close();
  await mongod.stop();
});

/**
 * Lets no other member follow the primary: it takes writes that no majority has. Resolves with a function that lets them
 * follow again.
 */
async function leavePrimaryAlone(): Promise<() => Promise<void>> {
  const { me } = await client.db("admin").command({ hello: 1 });
  const others = mongod.members.map(({ uri }) => new URL(uri).host).filter((host) => host !== me);
  const admins = await Promise.all(others.map((host) => MongoClient.connect(directUri(mongod.administratorUri, host))));
  const follow = (mode: string): Promise<unknown> =>
    Promise.all(admins.map((admin) => admin.db("admin").command({ configureFailPoint: "stopReplProducer", mode })));
  await follow("alwaysOn");
  // What was sent before may still arrive.
  await client
    .db()
    .collection("last")
    .insertOne({}, { writeConcern: { w: 1 } });
  return async () => {
    await follow("off");
    await Promise.all(admins.map((admin) => admin.close()));
  };
}

const scope = (accountId: UUID, ms = 3_000) => grantWrites(readScope(accountId, deadlineIn(ms)));
const createOf = (email: string) => ({ $typeName: "records.v1.CreateContactRequest" as const, fullName: "Ann", email });

describe.concurrent("while no other member follows the primary", () => {
  let letFollow: () => Promise<void>;
  beforeAll(async () => {
    await primaryOf(client).waitUntilHeld(10_000);
    letFollow = await leavePrimaryAlone();
  });
  afterAll(() => letFollow());

  test("a contact that no majority has is not returned, and its email does not cause a duplicate [CON-02]", async ({
    expect,
  }) => {
    const accountId = new UUID();
    const unseen = () => ({ kind: "records" as const, unproven: undefined, deadline: deadlineIn(2_500), accountId });
    const claim = { document: () => ({ _id: { account_id: accountId, key: "k" } }) as never };
    const first = services.contacts
      .createContact(createOf("ann@example.com"), scope(accountId))
      .catch((error: unknown) => error);
    // The primary has it at once.
    await expect
      .poll(() =>
        client
          .db()
          .collection("contacts")
          .countDocuments({ account_id: accountId }, { readConcern: { level: "local" } }),
      )
      .toBe(1);
    const [{ contacts }, second] = await Promise.all([
      services.contacts.searchContacts({ $typeName: "records.v1.SearchContactsRequest", query: "ann" }, unseen()),
      services.contacts
        .createContact(createOf("ann@example.com"), grantWrites(unseen(), claim))
        .catch((error: unknown) => error),
    ]);
    expect(contacts).toEqual([]);
    expect(second).not.toMatchObject({ reason: Reason.DUPLICATE_EMAIL });
    expect(second).toBeInstanceOf(Error);
    await first;
  });

  test("the lease is lost within 1.5 seconds, and requests that need the database fail at once [CON-04]", async ({
    expect,
  }) => {
    await expect.poll(() => primaryOf(client).status().held, { timeout: 5_000 }).toBe(false);
    expect(primaryOf(client).status().reason).toMatch(/has not confirmed for 1350 ms that it is primary/);
    const read = services.contacts.searchContacts(
      { $typeName: "records.v1.SearchContactsRequest", query: "ann" },
      readScope(new UUID(), deadlineIn(3_000)),
    );
    await expect(read).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
    await expect(services.contacts.createContact(createOf("c@example.com"), scope(new UUID()))).rejects.toMatchObject({
      reason: Reason.UNAVAILABLE,
    });
  });
});

test("the email causes a duplicate once a majority has the contact, and the lease is held again [CON-02, CON-04]", async () => {
  const accountId = new UUID();
  const claim = { document: () => ({ _id: { account_id: accountId, key: "k" } }) as never };
  await expect.poll(() => primaryOf(client).status().held, { timeout: 10_000 }).toBe(true);
  await services.contacts.createContact(createOf("bea@example.com"), scope(accountId));
  const second = services.contacts.createContact(
    createOf("bea@example.com"),
    grantWrites(readScope(accountId, deadlineIn(3_000)), claim),
  );
  await expect(second).rejects.toMatchObject({ reason: Reason.DUPLICATE_EMAIL });
});
