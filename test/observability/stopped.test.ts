// A stopped instance leaves nothing in memory: what runs in one process is started and stopped hundreds of times.
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MongoClient } from "mongodb";
import { expect, test } from "vitest";
import { startService } from "../../fixtures/service/service.ts";
import { createMetrics } from "../../src/observability/metrics.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** The number of clients in memory. Each instance has one, which all its parts refer to. */
function clients(): number {
  collectGarbage();
  return queryObjects(MongoClient, { format: "count" });
}

test("a stopped instance is released", async () => {
  const startAndStop = async (): Promise<number> => {
    const service = await startService();
    await fetch(`${service.internal}/metrics`);
    const running = clients();
    await service.stop();
    return running;
  };
  await startAndStop();
  const running = await startAndStop();
  // The last one stays until the next one has taken its place, such as the last client of a cache.
  expect(await startAndStop()).toBeLessThanOrEqual(running);
  expect(await startAndStop()).toBeLessThanOrEqual(running);
});

test("the metrics of the process exist once, and every instance shows them", async () => {
  const [first, second] = [createMetrics(), createMetrics()];
  for (const metrics of [first, second]) {
    const { text } = await metrics.text();
    expect(text.match(/^# TYPE nodejs_eventloop_lag_p99_seconds gauge$/gm)).toHaveLength(1);
    expect(text.match(/^# TYPE records_redis_up gauge$/gm)).toHaveLength(1);
  }
});
