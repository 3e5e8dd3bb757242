// Where the import is drilled: a mongod and a Redis of its own, a large account, and a small one to compare it with.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { startMongod } from "../../src/embedded/mongod.ts";
import { startRedis } from "../../src/embedded/redis.ts";
import { connectMongo } from "../../src/db/mongo.ts";
import { createLog } from "../../src/log.ts";
import { createServices } from "../../src/services.ts";
import { childToken } from "../faults/child.ts";
import { testCacheDir } from "../support/global-setup.ts";
import { noteSecret } from "../support/secrets.ts";
import { drillImport } from "./drill.ts";
import type { Verdict } from "./drill.ts";
import type { Asked } from "./endpoints.ts";
import { askAll } from "./endpoints.ts";
import type { BulkSize } from "./generate.ts";

/** What came of it all. */
export interface BulkResult {
  readonly verdict: Verdict;
  readonly large: Readonly<Record<string, Asked>>;
  readonly small: Readonly<Record<string, Asked>>;
}

/** Imports an account of this size with kills, and a small one without, and asks both everything. */
export async function drillBulk(size: BulkSize, small: BulkSize, say: (line: string) => void): Promise<BulkResult> {
  const folder = mkdtempSync(join(tmpdir(), "records-bulk-"));
  const options = { dataDir: folder, cacheDir: testCacheDir(), env: process.env, progress: say };
  const [mongod, redis] = await Promise.all([startMongod(options), startRedis(options)]);
  if (redis === undefined) throw new Error("no redis-server for the drill");
  const client = await connectMongo(mongod.uri, 30_000);
  try {
    const { accounts, apiKeys } = createServices(client);
    const made = await Promise.all(["large@example.com", "small@example.com"].map(async (email) => {
      const { _id: accountId } = await accounts.create(email, true);
      const { secret } = await apiKeys.create(accountId, "read_write");
      noteSecret(secret);
      return { accountId, secret };
    }));
    const [ofLarge, ofSmall] = made as [(typeof made)[number], (typeof made)[number]];
    const ground = { client, mongodbUri: mongod.uri, redisUrl: redis.uri, say };
    const verdict = await drillImport({ ...ground, accountId: ofLarge.accountId }, size);
    await drillImport({ ...ground, accountId: ofSmall.accountId, say: () => undefined }, small);

    const config = readConfig({ PORT: "0", INTERNAL_PORT: "0", MONGODB_URI: mongod.uri, REDIS_URL: redis.uri, SERVICE_TOKENS: childToken, SESSION_SECRET: childToken, RATE_LIMIT: "1000", RATE_BURST: "1000" });
    const parts = { mongodbUri: mongod.uri, redisUrl: redis.uri, serviceTokens: [childToken], sessionSecrets: [childToken] as const, oidc: undefined };
    const app = await startApp(config, parts, createLog("silent"));
    try {
      const ask = ({ accountId, secret }: (typeof made)[number]) => askAll(app.client, `http://127.0.0.1:${app.port}`, secret, accountId);
      return { verdict, large: await ask(ofLarge), small: await ask(ofSmall) };
    } finally {
      await app.stop();
    }
  } finally {
    await client.close();
    await Promise.all([mongod.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}
