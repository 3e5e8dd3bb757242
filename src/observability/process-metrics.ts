// Prometheus metrics of the process and of Node, which are the same for every instance in it.
import { Registry, collectDefaultMetrics } from "prom-client";

let registry: Registry | undefined;

/**
 * Returns the registry of the process. There is only one, because prom-client never stops the timer and the observer
 * of these metrics: one for each instance would keep stopped instances in memory.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
