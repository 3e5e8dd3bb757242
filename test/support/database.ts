// Databases of tests, and their users: the service's, with exactly the role that docs/production.md names, and an
// administrator.
import { randomBytes, randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import { MongoClient } from "mongodb";

/** How a database is reached. */
export interface DatabaseUris {
  /** For the service's user. */
  readonly uri: string;
  /** For an administrator, who may also look at the server, set its parameters and make commands fail. */
  readonly administratorUri: string;
}

/** A database in a server that others use too. */
export interface TestDatabase extends DatabaseUris {
  /** Drops the database and its user. */
  drop(): Promise<void>;
}

const serviceUser = "service";

/** Creates a database in the mongod that an administrator's URI names. */
export async function createDatabase(anyUri: string): Promise<TestDatabase> {
  const administratorUri = databaseUri(anyUri, `t_${randomUUID().replaceAll("-", "")}`);
  return {
    uri: await serviceUri(administratorUri),
    administratorUri,
    drop: () =>
      asAdministrator(administratorUri, async (db) => {
        await db.dropDatabase();
        await db.command({ dropAllUsersFromDatabase: 1 });
      }),
  };
}

/** Makes the service's user of the database that an administrator's URI names, in place of an earlier one; its URI. */
export async function serviceUri(administratorUri: string): Promise<string> {
  const pwd = randomBytes(16).toString("hex");
  const name = await asAdministrator(administratorUri, async (db) => {
    await db.command({ dropAllUsersFromDatabase: 1 });
    await db.command({ createUser: serviceUser, pwd, roles: ["readWrite"], mechanisms: ["SCRAM-SHA-256"] });
    return db.databaseName;
  });
  return administratorUri
    .replace(/\/\/[^@]+@/, `//${serviceUser}:${pwd}@`)
    .replace(/authSource=\w+/, `authSource=${name}`);
}

/**
 * Throws unless the URI is one for the service's user. Whatever starts a service for a test, a drill or the bench calls
 * it: with more rights, a command that the service may not use in production would go unnoticed. A URI without a user
 * passes: nothing is allowed to it.
 */
export function requireServiceUser(uri: string): void {
  const user = /\/\/(?:([^:@/]*)[^@/]*@)?/.exec(uri)?.[1];
  if (user !== undefined && user !== serviceUser)
    throw new Error(
      `a service under test is the user ${serviceUser}, and this URI is for ${user}: use uri, not administratorUri`,
    );
}

/** The same server, another database. */
export function databaseUri(uri: string, name: string): string {
  return uri.replace(/(mongodb:\/\/[^/]+\/)[^?]*/, `$1${name}`);
}

/** The same database and user by way of other hosts. */
export function atHosts(uri: string, hosts: string): string {
  return uri.replace(/@[^/]+/, `@${hosts}`);
}

/** The same by way of one host alone: the driver would go around a proxy to where the members say that they are. */
export function directUri(uri: string, host: string): string {
  return atHosts(uri, host).replace(/replicaSet=\w+/, "directConnection=true");
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
