// A service reduced to its life: takes DATA_DIR, starts both servers, ends them on SIGINT; reports all by lines of
// JSON.
import { lockDataDir } from "../../src/embedded/data-dir.ts";
import { startMongod } from "../../src/embedded/mongod.ts";
import { startRedis } from "../../src/embedded/redis.ts";

const [, , dataDir = "", cacheDir = ""] = process.argv;
const report = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
// What a service listens with, and what would keep it alive.
const listening = setInterval(() => {}, 1_000);

try {
  const lock = await lockDataDir(dataDir);
  const options = { dataDir, cacheDir, env: process.env, progress: (line: string) => report({ progress: line }) };
  const [mongod, redis] = await Promise.all([startMongod(options), startRedis(options)]);
  process.once("SIGINT", () => {
    report({ interrupted: true });
    // Long enough for what runs to finish, and to see that the servers are still there for it.
    setTimeout(async () => {
      await Promise.all([mongod.stop(), redis?.stop()]);
      await lock.release();
      clearInterval(listening);
      report({ stopped: true });
    }, 300);
  });
  report({ ready: true, mongod: mongod.pid, redis: redis?.pid, uri: mongod.uri });
} catch (error) {
  report({ error: (error as Error).message });
  clearInterval(listening);
}
