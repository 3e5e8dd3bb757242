// records.v1.HealthService: reports whether the service works, from the results of background checks on this instance.
import type { HealthService as Descriptor } from "../gen/records/v1/health_pb.ts";
import { HealthStatus } from "../gen/records/v1/health_pb.ts";
import type { AccountService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";

/** The version of the interface description (specification, Versioning 1). */
export const interfaceVersion = "1.0.0";

/** The facts from which health is derived. */
export interface HealthFacts {
  /** Returns whether MongoDB is reachable, and Redis if there is one. */
  reachable(): boolean;
  /** Returns whether the public interface is switched on. */
  enabled(): boolean;
}

export function healthStatus({ reachable, enabled }: HealthFacts): HealthStatus {
  return !enabled() ? HealthStatus.DISABLED : reachable() ? HealthStatus.OK : HealthStatus.DEGRADED;
}

/** Creates the service. It depends on nothing else, so that it responds even if everything else fails. */
export function createHealthService(facts: HealthFacts): AccountService<typeof Descriptor> {
  return {
    checkHealth(request) {
      requireAllRead(request);
      return Promise.resolve({
        $typeName: "records.v1.CheckHealthResponse",
        health: { $typeName: "records.v1.Health", status: healthStatus(facts), version: interfaceVersion },
      });
    },
  };
}
