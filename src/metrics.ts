// The numbers that this instance shows to Prometheus.
import { Counter, Gauge, Registry, collectDefaultMetrics } from "prom-client";

/** What is counted and measured. */
export interface Metrics {
  /** A request that the bucket of this instance decided, because Redis did not. */
  readonly throttleFallbacks: Counter;
  /** 1 while Redis answers. */
  readonly redisUp: Gauge;
  text(): Promise<{ readonly type: string; readonly text: string }>;
}

/** The metrics of one instance, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    throttleFallbacks: new Counter({
      name: "records_throttle_fallback_total",
      help: "Requests that were throttled by the bucket of this instance, because Redis was away or slow.",
      registers,
    }),
    redisUp: new Gauge({ name: "records_redis_up", help: "1 while Redis answers, else 0.", registers }),
    text: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
