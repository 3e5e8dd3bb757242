// Runs `records status`: reads the probes, health, switches and accounts, and shows those that are available.
import { Code, ConnectError } from "@connectrpc/connect";
import { InterfaceService } from "../gen/records/admin/v1/interface_pb.ts";
import { HealthService, HealthStatus } from "../gen/records/v1/health_pb.ts";
import { allAccounts, partition, unreadableLine } from "./all-accounts.ts";
import { switchesDocument, switchesFacts } from "./interface-actions.ts";
import type { Link } from "./link.ts";
import { isTransient } from "./link.ts";
import type { Json, Output } from "./output.ts";
import { facts } from "./output.ts";

const healthNames: Readonly<Record<number, string>> = {
  [HealthStatus.OK]: "ok",
  [HealthStatus.DEGRADED]: "degraded",
  [HealthStatus.DISABLED]: "disabled",
};
const probeWaitMs = 5_000;

/**
 * Reports the state of the service. Returns false if it is not ready, or if its health is not `ok`. Fails if it cannot
 * be reached.
 */
export async function readStatus(output: Output, link: Link): Promise<boolean> {
  const { health } = await link.client(HealthService).checkHealth({});
  const status = healthNames[health?.status ?? 0] ?? "unknown";
  const { ready, dependencies } = await readReadiness(link.url);
  // Both need MongoDB. Without it, the rest of the status is still shown.
  const state = await undefinedIfUnavailable(async () => (await link.client(InterfaceService).getState({})).state);
  const all = await undefinedIfUnavailable(() => allAccounts(link));
  const accounts = all?.length;
  const [unreadable] = partition(all ?? []);

  const good = (right: boolean, text: string): string => output.paint(right ? "green" : "red", text);
  output.result(
    {
      url: link.url,
      version: health?.version ?? null,
      health: status,
      ready,
      dependencies,
      switches: state === undefined ? null : switchesDocument(state),
      accounts: accounts ?? null,
      unreadable_accounts: unreadable,
    },
    [
      ...facts([
        ["service", link.url],
        ["version", health?.version ?? "unknown"],
        ["health", good(status === "ok", status)],
        ["ready", good(ready, ready ? "yes" : "no")],
        ...Object.entries(dependencies).map(
          ([name, there]) =>
            [
              name,
              there === true ? "reached" : good(false, there === false ? "cannot be reached" : JSON.stringify(there)),
            ] as const,
        ),
        ...(state === undefined
          ? [["switches", "unknown: MongoDB cannot respond"] as const]
          : switchesFacts(state, output)),
        ["accounts", accounts === undefined ? "unknown: MongoDB cannot respond" : String(accounts)],
      ]),
      ...unreadable.map(unreadableLine),
    ],
  );
  return ready && status === "ok";
}

async function readReadiness(
  url: string,
): Promise<{ readonly ready: boolean; readonly dependencies: { readonly [dependency: string]: Json } }> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(probeWaitMs) }).catch(
    (error: unknown) => {
      throw ConnectError.from(error, Code.Unavailable);
    },
  );
  const { status: _status, ...dependencies } = (await response.json()) as { readonly [dependency: string]: Json };
  return { ready: response.status === 200, dependencies };
}

async function undefinedIfUnavailable<T>(request: () => Promise<T>): Promise<T | undefined> {
  return request().catch((error: unknown) => {
    if (error instanceof ConnectError && isTransient(error)) return undefined;
    throw error;
  });
}
