// records.v1.HealthService: reports whether the service works, from what this instance found out in the background.
import type { HealthService as Descriptor } from "../gen/records/v1/health_pb.ts";
import { HealthStatus } from "../gen/records/v1/health_pb.ts";
import type { AccountService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";

/** The version of the interface's description (specification, Versioning 1). */
export const interfaceVersion = "1.0.0";

/** What health is made of. */
export interface HealthFacts {
  /** Whether MongoDB and Redis can be reached. */
  reachable(): boolean;
  /** Whether the public interface is switched on. */
  enabled(): boolean;
}

/** The service. It needs nothing else, so that it responds whatever else does not. */
export function createHealthService({ reachable, enabled }: HealthFacts): AccountService<typeof Descriptor> {
  return {
    checkHealth(request) {
      requireAllRead(request);
      const status = !enabled() ? HealthStatus.DISABLED : reachable() ? HealthStatus.OK : HealthStatus.DEGRADED;
      return Promise.resolve({
        $typeName: "records.v1.CheckHealthResponse",
        health: { $typeName: "records.v1.Health", status, version: interfaceVersion },
      });
    },
  };
}
