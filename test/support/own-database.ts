// Setup for a test file that needs its own database and a client like the service's.
import type { MongoClient } from "mongodb";
import { afterAll, beforeAll, inject } from "vitest";
import type { TestDatabase } from "../fixtures/databases/database.ts";
import { createDatabase } from "../fixtures/databases/database.ts";
import { connectMongo } from "../../src/db/mongo.ts";

/** Creates the database before the tests of the file and drops it afterwards. `onOpen` gets the client. */
export function useOwnDatabase(onOpen: (client: MongoClient) => void): void {
  let database: TestDatabase;
  let client: MongoClient;
  beforeAll(async () => {
    database = await createDatabase(inject("administratorUri"));
    client = await connectMongo(database.uri, 30_000);
    onOpen(client);
  });
  afterAll(async () => {
    await client.close();
    await database.drop();
  });
}
