// A database of a test's own in the shared mongod, and a user with exactly the role that docs/production.md names.
import { randomBytes, randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import { MongoClient } from "mongodb";

/** A database and how the service reaches it. */
export interface TestDatabase {
  /** For the service's user. */
  readonly uri: string;
  /** For an administrator, who may also look at the server and set its parameters. */
  readonly administratorUri: string;
  /** Drops the database and its user. */
  drop(): Promise<void>;
}

/** Creates one in the mongod that an administrator's URI names. */
export async function createDatabase(anyUri: string): Promise<TestDatabase> {
  const name = `t_${randomUUID().replaceAll("-", "")}`;
  const administratorUri = databaseUri(anyUri, name);
  const password = randomBytes(16).toString("hex");
  await asAdministrator(administratorUri, (db) => db.command({ createUser: "records", pwd: password, roles: ["readWrite"], mechanisms: ["SCRAM-SHA-256"] }));
  const uri = new URL(administratorUri);
  [uri.username, uri.password] = ["records", password];
  uri.searchParams.set("authSource", name);
  return {
    uri: uri.href,
    administratorUri,
    drop: () =>
      asAdministrator(administratorUri, async (db) => {
        await db.dropDatabase();
        await db.command({ dropAllUsersFromDatabase: 1 });
      }),
  };
}

/** The same server, another database. */
export function databaseUri(uri: string, name: string): string {
  return uri.replace(/(mongodb:\/\/[^/]+\/)[^?]*/, `$1${name}`);
}

/** Does something that the service itself has no right to. */
export async function asAdministrator<T>(uri: string, work: (db: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri);
  try {
    return await work(client.db());
  } finally {
    await client.close();
  }
}
