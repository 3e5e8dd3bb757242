// A stopped instance leaves nothing in memory: what runs in one process is started and stopped hundreds of times.
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { startService } from "../fixtures/service/service.ts";
import { createMetrics } from "../../src/observability/metrics.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Starts and stops an instance. Returns a reference to its client, to which all its parts refer. */
async function startAndStop(): Promise<WeakRef<object>> {
  const service = await startService();
  await fetch(`${service.internal}/metrics`);
  await service.stop();
  return new WeakRef(service.app.client);
}

test("a stopped instance is released", async () => {
  const stopped = [await startAndStop(), await startAndStop()];
  // The last one stays until the next one has taken its place, such as the last client of a cache.
  await startAndStop();
  // A weak reference holds its target until the turn is over.
  await turn();
  collectGarbage();
  expect(stopped.filter((one) => one.deref() !== undefined)).toHaveLength(0);
});

test("the metrics of the process exist once, and every instance shows them", async () => {
  const [first, second] = [createMetrics(), createMetrics()];
  for (const metrics of [first, second]) {
    const { text } = await metrics.text();
    expect(text.match(/^# TYPE nodejs_eventloop_lag_p99_seconds gauge$/gm)).toHaveLength(1);
    expect(text.match(/^# TYPE records_redis_up gauge$/gm)).toHaveLength(1);
  }
});
