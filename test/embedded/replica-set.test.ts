// The start of an embedded mongod that closes connections meanwhile.
import { MongoClient } from "mongodb";
import { onTestFinished, test, vi } from "vitest";
import { findMongod } from "../../src/embedded/find-mongod.ts";
import { mongodOn } from "../../src/embedded/mongod.ts";
import { isListening } from "../../src/embedded/port.ts";
import { asMember } from "../../src/embedded/replica-set.ts";
import { loadOrCreateSecret } from "../../src/embedded/secrets.ts";
import { startServer, type EmbeddedServer } from "../../src/embedded/server.ts";
import { until } from "../../src/embedded/wait.ts";
import { optionsFor, temporaryFolder } from "./machine.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Starts a mongod on the data that closes the connection of the first command of this name. */
async function startClosing(dataDir: string, command: string): Promise<EmbeddedServer> {
  const options = optionsFor(dataDir);
  const kind = await mongodOn(dataDir, options.progress);
  const key = await loadOrCreateSecret(dataDir, "mongodb-key");
  const server = await startServer(
    {
      ...kind,
      arguments: (...place) => [...kind.arguments(...place), "--setParameter", "enableTestCommands=1"],
      async ready(port, pid, signal, logFile) {
        await until(() => isListening(port), signal);
        await closeOnce(port, key, command);
        await kind.ready(port, pid, signal, logFile);
      },
    },
    await findMongod(options),
    options,
  );
  onTestFinished(() => server.stop());
  return server;
}

async function closeOnce(port: number, key: string, command: string): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, asMember(key));
  try {
    await client.db("admin").command({
      configureFailPoint: "failCommand",
      mode: { times: 1 },
      data: { failCommands: [command], closeConnection: true, failInternalCommands: true },
    });
  } finally {
    await client.close();
  }
}

test("a start repeats a command whose connection mongod closes, of a new set and of a stored one [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  await (await startClosing(dataDir, "replSetInitiate")).stop();
  await startClosing(dataDir, "replSetReconfig");
});
