// grpc.health.v1 on the internal listener: reports whether the server, and each of its services, can be used.
import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { sanitizeForEcho } from "../text/text.ts";
import type { HealthCheckRequest, HealthCheckResponse } from "../gen/grpc/health/v1/health_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../gen/grpc/health/v1/health_pb.ts";

const watchEveryMs = 250;
/** The maximum length of a name that is repeated to its sender. */
const maxNameLength = 64;

/**
 * Registers the health service. `serving` reports whether requests are served. The empty name is the whole server. Once
 * `stopping` returns true, watchers are notified and their streams end, because the instance would wait for them.
 */
export function registerHealth(
  router: ConnectRouter,
  services: readonly string[],
  serving: () => boolean,
  stopping: () => boolean,
): void {
  const known = new Set(["", ...services]);
  const current = (): Status => (serving() ? Status.SERVING : Status.NOT_SERVING);
  router.service(Health, {
    check({ service }: HealthCheckRequest) {
      if (!known.has(service))
        fail(Reason.NOT_FOUND, {
          message: `There is no service "${sanitizeForEcho(service, maxNameLength)}". Call List to see all services.`,
        });
      return response(current());
    },
    list: () => ({ statuses: Object.fromEntries([...known].map((name) => [name, response(current())])) }),
    async *watch({ service }: HealthCheckRequest, { signal }: HandlerContext) {
      let sent: Status | undefined;
      while (!signal.aborted) {
        const status = known.has(service) ? current() : Status.SERVICE_UNKNOWN;
        if (status !== sent) yield response(status);
        sent = status;
        if (stopping()) return;
        await sleep(watchEveryMs, undefined, { signal }).catch(() => undefined);
      }
      signal.throwIfAborted();
    },
  });
}

function response(status: Status): HealthCheckResponse {
  return { $typeName: "grpc.health.v1.HealthCheckResponse", status };
}
