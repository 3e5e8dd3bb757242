// Fixture of the bulk drills: mongod, Redis, and a large and a small account to compare.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMongod } from "../../../src/embedded/mongod.ts";
import { startRedis } from "../../../src/embedded/redis.ts";
import { connectMongo } from "../../../src/db/mongo.ts";
import { createServices } from "../../../src/app/services.ts";
import { bothUris } from "../../fixtures/databases/administrator.ts";
import { testCacheDir } from "../../fixtures/databases/cache-dir.ts";
import { noteSecret } from "../../fixtures/service/secrets.ts";
import { startInstance } from "../../fixtures/service/service.ts";
import { drillImport } from "./import.ts";
import type { Verdict } from "./import.ts";
import type { RequestCost } from "./endpoints.ts";
import { requestAll } from "./endpoints.ts";
import type { BulkSize } from "./generate.ts";

/** The outcome of the import, and the request costs on both accounts. */
export interface BulkResult {
  readonly verdict: Verdict;
  readonly large: Readonly<Record<string, RequestCost>>;
  readonly small: Readonly<Record<string, RequestCost>>;
}

/** Imports both accounts and requests every endpoint on each. */
export async function drillBulk(size: BulkSize, small: BulkSize, say: (line: string) => void): Promise<BulkResult> {
  const folder = mkdtempSync(join(tmpdir(), "records-bulk-"));
  const options = { dataDir: folder, cacheDir: testCacheDir(), env: process.env, progress: say };
  const [mongod, redis] = await Promise.all([startMongod(options), startRedis(options)]);
  if (redis === undefined) throw new Error("The drill needs redis-server.");
  const database = await bothUris(mongod.uri, folder);
  const client = await connectMongo(database.administratorUri, 30_000);
  try {
    const { accounts, apiKeys } = createServices(client);
    const made = await Promise.all(
      ["large@example.com", "small@example.com"].map(async (email) => {
        const { _id: accountId } = await accounts.create(email, true);
        const { secret } = await apiKeys.create(accountId, "read_write");
        noteSecret(secret);
        return { accountId, secret };
      }),
    );
    const [ofLarge, ofSmall] = made as [(typeof made)[number], (typeof made)[number]];
    const fixture = { client, mongodbUri: database.uri, redisUrl: redis.uri, say };
    const verdict = await drillImport({ ...fixture, accountId: ofLarge.accountId }, size);
    await drillImport({ ...fixture, accountId: ofSmall.accountId, say: () => undefined }, small);

    const service = await startInstance(database, redis, { RATE_LIMIT: "1000", RATE_BURST: "1000" });
    try {
      const costsOf = ({ accountId, secret }: (typeof made)[number]) =>
        requestAll(service.app.client, service.base, secret, accountId);
      return { verdict, large: await costsOf(ofLarge), small: await costsOf(ofSmall) };
    } finally {
      await service.stop();
    }
  } finally {
    await client.close();
    await Promise.all([mongod.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}
