// A user of an embedded mongod who may do what the service may not: use any database, drop one, set parameters.
import { MongoClient } from "mongodb";
import { asMember } from "../../src/embedded/replica-set.ts";
import { keptSecret } from "../../src/embedded/secrets.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";

const user = "administrator";
const roles = ["readWriteAnyDatabase", "dbAdminAnyDatabase", "clusterMonitor", "hostManager"];

/** Runs the work as the server's own user, who may do all. */
export async function asServer<T>({ uri }: EmbeddedServer, dataDir: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const key = await keptSecret(dataDir, "mongodb-key");
  const client = new MongoClient(`mongodb://${new URL(uri).host}/?directConnection=true`, asMember(key));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** The URI of the mongod that runs on the data folder, for that user. */
export async function administratorUri(server: EmbeddedServer, dataDir: string): Promise<string> {
  const pwd = await keptSecret(dataDir, "mongodb-password");
  await asServer(server, dataDir, async (client) => {
    const admin = client.db("admin");
    const { users } = await admin.command({ usersInfo: user });
    if ((users as readonly unknown[]).length === 0) await admin.command({ createUser: user, pwd, roles });
  });
  const uri = new URL(server.uri);
  uri.username = user;
  return uri.href;
}
