// Wires the internal listener: the rpcs of operators and services, health and reflection, probes, metrics, profiles.
import { poolOf } from "../db/pool.ts";
import { interfaceVersion } from "../health/service.ts";
import type { Probes } from "./internal-listener.ts";
import { internalOptions } from "./internal-listener.ts";
import type { Listener } from "../http/listener.ts";
import { createListener } from "../http/listener.ts";
import { createProfiles } from "../instance/profiles.ts";
import type { OpenFiles } from "../process/open-files.ts";
import { isLow, openFilesLimit, raiseLimit, watchOpenFiles } from "../process/open-files.ts";
import { release } from "../observability/release.ts";
import { createRpcSurface } from "../rpc/connect.ts";
import { registerHealth } from "../rpc/health.ts";
import { registerReflection } from "../rpc/reflection.ts";
import { switchName } from "../switches/service.ts";
import type { Foundation } from "./foundation.ts";
import type { Guards } from "./guards.ts";
import type { Rpcs } from "./rpcs.ts";
import type { Storage } from "./storage.ts";

export function createInternalListener(
  foundation: Foundation,
  storage: Storage,
  guards: Guards,
  { internal }: Rpcs,
): Listener {
  const { observability, state } = foundation;
  const { onError } = observability;
  const openFiles = followOpenFiles(foundation);
  const probes = probesOf(foundation, storage, openFiles);
  showMetrics(foundation, storage, guards, { ready: probes.ready, openFilesLeft: openFiles.areLeft });
  const services = [...new Set([...internal.keys()].map(({ parent }) => parent))];
  const streaming = { rpcs: storage.services.streams.keys(), dispatch: guards.dispatch.streams };
  const rpc = createRpcSurface(
    internal.keys(),
    guards.dispatch.internal,
    onError,
    (router) => {
      const names = services.map(({ typeName }) => typeName);
      registerHealth(router, names, probes.ready, () => state.stopping);
      registerReflection(router, [...new Set(services.map(({ file }) => file))]);
    },
    streaming,
  );
  const others = [createProfiles(guards.access, onError)];
  const requests = observability.requests("internal");
  return createListener(observability.around(internalOptions({ rpc, others, probes, onError, ...requests })));
}

/** Logs a limit of open files that is low, and when it is reached. */
function followOpenFiles({ log, opened }: Foundation): OpenFiles {
  const limit = openFilesLimit();
  if (isLow(limit))
    log.warn({ limit }, `the limit of open files is low: connections are closed beyond it. ${raiseLimit}`);
  const openFiles = watchOpenFiles((areLeft, err) =>
    areLeft
      ? log.info("files and connections can be opened again")
      : log.error({ err, limit }, `the limit of open files is reached: connections are closed. ${raiseLimit}`),
  );
  opened.push(() => openFiles.stop());
  return openFiles;
}

function probesOf({ observability, state }: Foundation, { mongodb, redis }: Storage, openFiles: OpenFiles): Probes {
  return {
    ready: () => !state.stopping && openFiles.areLeft() && mongodb.isUp(),
    dependencies: () => ({ mongodb: mongodb.isUp(), redis: redis?.ready() ?? false }),
    reason() {
      if (state.stopping) return "the instance is stopping";
      return openFiles.areLeft() ? mongodb.reason() : "the limit of open files is reached";
    },
    metrics: observability.metrics.text,
  };
}

function showMetrics(
  { observability }: Foundation,
  { client, mongodb, primary, services, switches }: Storage,
  { limits }: Guards,
  own: { readonly ready: () => boolean; readonly openFilesLeft: () => boolean },
): void {
  observability.metrics.show({
    version: release,
    interfaceVersion,
    ...own,
    mongodbUp: mongodb.isUp,
    acceptsConnections: mongodb.acceptsConnections,
    lease: primary.status,
    switches: () => ({
      [switchName("publicInterface")]: switches.state().publicInterface,
      [switchName("writes")]: switches.state().writes,
    }),
    fallbackBuckets: limits.fallbackBuckets,
    erasures: services.erasures.counts,
    pool: () => poolOf(client),
    work: limits.capacity.state,
  });
}
