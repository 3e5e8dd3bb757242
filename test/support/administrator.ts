// An administrator of an embedded mongod: uses any database, makes users, sets parameters and moves the primary.
import { MongoClient } from "mongodb";
import { asMember } from "../../src/embedded/replica-set.ts";
import { keptSecret } from "../../src/embedded/secrets.ts";
import type { DatabaseUris } from "./database.ts";
import { serviceUri } from "./database.ts";

const user = "administrator";

/** The URI for that user of the replica set of this URI, whose key and password are in the data folder. */
export async function administratorUri(uri: string, dataDir: string): Promise<string> {
  const [key, pwd] = await Promise.all([keptSecret(dataDir, "mongodb-key"), keptSecret(dataDir, "mongodb-password")]);
  const client = new MongoClient(uri.replace(/\/\/[^@]+@/, "//").replace(/&authSource=\w+/, ""), asMember(key));
  try {
    const admin = client.db("admin");
    const { users } = await admin.command({ usersInfo: user });
    if ((users as readonly unknown[]).length === 0) await admin.command({ createUser: user, pwd, roles: ["root"] });
  } finally {
    await client.close();
  }
  return uri.replace(/\/\/[^:]+:/, `//${user}:`);
}

/** The same for the administrator and for the service's user, who is made anew. */
export async function bothUris(uri: string, dataDir: string): Promise<DatabaseUris> {
  const administrator = await administratorUri(uri, dataDir);
  return { uri: await serviceUri(administrator), administratorUri: administrator };
}
