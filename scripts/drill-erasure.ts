// The long erasure drill: an account with a million notes is deleted while three instances run and another account
// reads.
import { parseArgs } from "node:util";
import { drillErasure } from "../test/drills/bulk/erasure.ts";
import { startOwnMongod } from "../test/fixtures/databases/own-mongod.ts";
import { startOwnRedis } from "../test/fixtures/databases/own-redis.ts";

const usage = "npm run drill:erasure -- [--notes 1000000] [--instances 3] [--kill]";
const most = { seconds: 120, p99: 250 };

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    notes: { type: "string", default: "1000000" },
    instances: { type: "string", default: "3" },
    kill: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const [notes, instances] = [Number(values.notes), Number(values.instances)];
if (![notes, instances].every((count) => Number.isInteger(count) && count > 0)) throw new Error(usage);
const mongod = await startOwnMongod();
const redis = await startOwnRedis();
try {
  const { seconds, quiet, meanwhile, ...verdict } = await drillErasure({
    mongod,
    redisUrl: redis.uri,
    instances,
    notes,
    kill: values.kill,
    say: console.log,
  });
  console.log(JSON.stringify(verdict));
  console.log(`reads of another account before: ${JSON.stringify(quiet)}`);
  console.log(`reads of another account during the erasure: ${JSON.stringify(meanwhile)}`);
  const holds = verdict.left === 0 && meanwhile.failed === 0 && seconds <= most.seconds && meanwhile.p99 <= most.p99;
  console.log(
    `${holds ? "holds" : "does not hold"}: erased in ${seconds.toFixed(0)} s (at most ${most.seconds}), p99 ${meanwhile.p99} ms (at most ${most.p99})`,
  );
  process.exitCode = holds ? 0 : 1;
} finally {
  await Promise.all([mongod.stop(), redis.stop()]);
}
