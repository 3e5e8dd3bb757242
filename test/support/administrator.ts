// An administrator of an embedded mongod: uses any database, drops databases, makes users and sets parameters.
import { MongoClient } from "mongodb";
import { asMember } from "../../src/embedded/replica-set.ts";
import { keptSecret } from "../../src/embedded/secrets.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";

const user = "administrator";
const roles = ["readWriteAnyDatabase", "dbAdminAnyDatabase", "userAdminAnyDatabase", "clusterMonitor", "hostManager"];

/** The URI of the mongod that runs on the data folder, for that user. */
export async function administratorUri(server: EmbeddedServer, dataDir: string): Promise<string> {
  const [key, pwd] = await Promise.all([keptSecret(dataDir, "mongodb-key"), keptSecret(dataDir, "mongodb-password")]);
  const uri = new URL(server.uri);
  const client = new MongoClient(`mongodb://${uri.host}/?directConnection=true`, asMember(key));
  try {
    const admin = client.db("admin");
    const { users } = await admin.command({ usersInfo: user });
    if ((users as readonly unknown[]).length === 0) await admin.command({ createUser: user, pwd, roles });
  } finally {
    await client.close();
  }
  uri.username = user;
  return uri.href;
}
